"""Whether an element's own `style` takes its text from the screen, and neither what lies within nor a script brings it
back. Style sheets are not heard, and what is uncertain shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from selectolax.lexbor import LexborNode

Declarations = Mapping[str, str]
Colour = tuple[int, int, int]

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_LENGTH = re.compile(r"([+-]?\d{1,9}(?:\.\d{0,9})?)(px|r?em|pt)", re.ASCII)
_PIXELS = {"px": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0}
_ZERO = frozenset({"0", "0px", "0em", "0rem", "0pt", "0%", "0.0", ".0"})
_NEARLY_ZERO = _ZERO | {"1px", "+1px", "1"}
_BESIDE_ITS_BOX = _ZERO | {"-1px"}
_PARTS = re.compile(r"[\s,]+")
_LONGEST = 60
"""Characters of a value that is looked at."""
_OFF_SCREEN = 900.0
"""Pixels from which a placed element stands beside every screen."""
_OFF_ANY_STRIP = 5_000.0
"""Those from which none is a slide or a drawer that a script moves in."""
_SIDES = ("left", "right", "top")
_PLACING = frozenset({
    *_SIDES, "position", "overflow", "overflow-x", "overflow-y", "z-index", "width", "height", "display", "opacity",
    "visibility", "color", "background-color", "font-size", "line-height", "white-space", "clip", "clip-path", "border",
    "margin", "padding",
})  # fmt: skip
"""Properties beside which a placed element stays where its sides say."""
_BOXES = frozenset({"block", "inline", "inline-block", "none"})
_COLOURING = frozenset({
    "color", "background", "background-color", "font-size", "font-family", "font-weight", "font-style", "text-align",
    "margin", "padding",
})  # fmt: skip
"""Properties beside which letters stand on the background of their element, and are drawn in their colour alone."""
_NAMED: Mapping[str, Colour] = {
    "white": (255, 255, 255), "black": (0, 0, 0), "red": (255, 0, 0), "lime": (0, 255, 0), "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
}  # fmt: skip
_HEX = re.compile(r"#([0-9a-f]{3}|[0-9a-f]{6})")
_RGB = re.compile(r"rgb\( ?(\d{1,3}) ?, ?(\d{1,3}) ?, ?(\d{1,3}) ?\)", re.ASCII)
_MAY_CHANGE = re.compile(r"""<script|<style|stylesheet|javascript:|[\s/"']on[a-z]{1,30}\s?=""", re.IGNORECASE)
_RESTYLED = "[style], [color], [bgcolor], [background], [size], a, mark, table, font"
_PLACED = '[style*="position" i]'
_NEIGHBOURS = 4
"""Nodes that are looked at before and after an element."""


def is_still(source: str) -> bool:
    """Whether a page has nothing that could give an element another look: neither scripts nor sheets."""
    return _MAY_CHANGE.search(source) is None


def takes_text_away(node: LexborNode, *, still: bool) -> bool:
    """Whether nobody sees the text of an element. `still` is what `is_still` says of its page. A text beside one that
    is kept from listeners stays: it is that text for listeners.
    """
    said = _declarations(node.attributes.get("style") or "")
    if not said:
        return False
    away = (
        (_is_off_screen(said, _OFF_SCREEN if still else _OFF_ANY_STRIP) and not _has_within(node, _PLACED))
        or _is_cut(said)
        or (still and said.get("opacity") in _ZERO)
        or ((_has_no_size(said) or _is_as_behind(said)) and not _may_show_within(node, still=still))
    )
    return away and not _is_for_listeners(node)


def _declarations(style: str) -> Declarations:
    """In lower case. A property that is said in two ways has an empty value; a style with an address or an escape is
    not read.
    """
    if "\\" in style or "url(" in style.lower():
        return {}
    found = dict[str, str]()
    for one in _COMMENT.sub("", style).lower().split(";"):
        name, colon, value = (part.strip() for part in one.partition(":"))
        if colon:
            value = value.replace("!important", "").strip()
            found[name] = value if found.get(name, value) == value else ""
    return found


def _is_off_screen(said: Declarations, least: float) -> bool:
    if said.get("position") not in ("absolute", "fixed") or not said.keys() <= _PLACING:
        return False
    if said.get("display", "block") not in _BOXES or ("left" in said and "right" in said):
        return False
    if any(said.get(name, "0") not in _BESIDE_ITS_BOX for name in ("margin", "padding")):
        return False
    if any(_pixels(said.get(name, "0px"), unknown=least) >= least for name in ("width", "height")):
        return False
    return any(_pixels(said.get(name, "0px"), unknown=0) <= -least for name in _SIDES)


def _is_cut(said: Declarations) -> bool:
    clip = said.get("clip", "")
    if said.get("position") not in ("absolute", "fixed") or len(clip) > _LONGEST or said.get("display") == "contents":
        return False
    if not clip.startswith("rect(") or not clip.endswith(")"):
        return False
    sides = _PARTS.split(clip.removeprefix("rect(").removesuffix(")").strip())
    return len(sides) == 4 and all(one in _NEARLY_ZERO for one in sides)


def _has_no_size(said: Declarations) -> bool:
    return said.get("font-size") in _ZERO and "font" not in said


def _is_as_behind(said: Declarations) -> bool:
    if not said.keys() <= _COLOURING or ("background" in said) == ("background-color" in said):
        return False
    behind = _colour(said.get("background-color") or said.get("background") or "")
    return behind is not None and _colour(said.get("color", "")) == behind


def _may_show_within(node: LexborNode, *, still: bool) -> bool:
    """Whether an element within may have a size or a colour of its own."""
    return _has_within(node, _RESTYLED) if still else any(not _is_text(one) for one in _children(node))


def _has_within(node: LexborNode, selector: str) -> bool:
    return any(
        one.css_matches(selector) or one.css_first(selector) is not None for one in _children(node) if not _is_text(one)
    )


def _is_for_listeners(node: LexborNode) -> bool:
    beside = (*_row(node, forward=False), *_row(node, forward=True))
    return any((one.attributes.get("aria-hidden") or "").lower() == "true" for one in beside if not _is_text(one))


def _row(node: LexborNode, *, forward: bool) -> Iterator[LexborNode]:
    at = node
    for _ in range(_NEIGHBOURS):
        following = at.next if forward else at.prev
        if following is None:
            return
        yield (at := following)


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next


def _is_text(node: LexborNode) -> bool:
    return (node.tag or "-").startswith(("-", "!"))


def _pixels(value: str, *, unknown: float) -> float:
    found = _LENGTH.fullmatch(value)
    if found is None:
        return 0.0 if value in ("0", "auto") else unknown
    return float(found[1]) * _PIXELS[found[2]]


def _colour(text: str) -> Colour | None:
    """The opaque colour that a value names; None for any other value."""
    if len(text) > _LONGEST or text in _NAMED:
        return _NAMED.get(text)
    if found := _HEX.fullmatch(text):
        digits = found[1] if len(found[1]) == 6 else "".join(one * 2 for one in found[1])
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    if found := _RGB.fullmatch(text):
        return int(found[1]), int(found[2]), int(found[3])
    return None
