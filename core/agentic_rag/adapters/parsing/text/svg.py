"""The words of an SVG drawing: its labels, in the order of the file. What is drawn as curves is not read."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agentic_rag.adapters.parsing.pictures import centimetres, says_something
from agentic_rag.kernel.text import strip_unstorable

_LABELS = "text, foreignobject"
_UNSEEN = frozenset({"defs", "symbol", "clippath", "mask", "pattern", "marker"})
"""What they hold is shown only where it is used."""
_MOST_LABELS = 2_000
_MOST_CURVES = 150
"""Shapes of a drawing without labels that may be its lines; a line of twenty letters drawn as curves takes twenty."""
_CM_A_PIXEL = 2.54 / 96
_NUMBER = re.compile(r"-?\d{1,7}(?:\.\d{1,9})?")


def is_svg(content: bytes) -> bool:
    """Whether a file is an SVG drawing."""
    return b"<svg" in content[:4_096]


def read_svg(content: bytes) -> tuple[str, bool]:
    """`Drawing: ` and the labels of a file, or nothing where it has none; and whether it may draw its words."""
    drawing = LexborHTMLParser(strip_unstorable(content.decode("utf-8", "replace"))).css_first("svg")
    if drawing is None:
        return "", False
    found = labels(drawing)
    return (f"Drawing: {'; '.join(found)}", False) if found else ("", draws_words(drawing))


def labels(drawing: LexborNode) -> list[str]:
    """The labels of a drawing, each once where it follows itself."""
    found: list[str] = []
    for label in drawing.css(_LABELS):
        text = " ".join(_pieces(label))
        if text and text != (found[-1] if found else "") and any(map(str.isalnum, text)) and _is_shown(label):
            found.append(text)
        if len(found) >= _MOST_LABELS:
            break
    return found


def draws_words(drawing: LexborNode) -> bool:
    """Whether a drawing without labels is large and of so many curves that they may be letters."""
    return len(drawing.css("path, use")) > _MOST_CURVES and says_something(*_size(drawing))


def as_picture(drawing: LexborNode) -> LexborNode | None:
    """A drawing in a page as a picture that the page holds itself; None for one that says nothing."""
    if not labels(drawing) and not draws_words(drawing):
        return None
    held = base64.b64encode((drawing.html or "").encode()).decode()
    return LexborHTMLParser(f'<img src="data:image/svg+xml;base64,{html.escape(held)}">').css_first("img")


def _pieces(label: LexborNode) -> Iterator[str]:
    """The words of a label; parts that stand on lines of their own are apart."""
    yield from label.text(separator=" " if label.css_first("div, p, tspan[y], tspan[dy]") else "").split()


def _is_shown(label: LexborNode) -> bool:
    node = label.parent
    while node is not None and node.tag != "svg":
        if (node.tag or "").lower() in _UNSEEN:
            return False
        node = node.parent
    return True


def _size(drawing: LexborNode) -> tuple[float, float]:
    """Width and height in centimetres, as stated, or else those of what is seen, in pixels."""
    stated = drawing.attributes
    seen = [float(one) * _CM_A_PIXEL for one in _NUMBER.findall(stated.get("viewBox") or stated.get("viewbox") or "")]
    width, height = (_length(stated.get(side) or "") for side in ("width", "height"))
    return (width or seen[2], height or seen[3]) if len(seen) == 4 else (width, height)


def _length(stated: str) -> float:
    return centimetres(stated) or (float(stated) * _CM_A_PIXEL if _NUMBER.fullmatch(stated) else 0.0)
