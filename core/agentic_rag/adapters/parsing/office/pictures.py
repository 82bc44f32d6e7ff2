"""Pictures in drawings of Office Open XML and OpenDocument that are large enough to say something, each
picture once however often it is shown (ECMA-376 Part 1, 20; ISO/IEC 26300-1, 10.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from xml.etree.ElementTree import Element

from agentic_rag.adapters.parsing.lettering import DOTS_AN_INCH, shows_words
from agentic_rag.adapters.parsing.office.drawing_text import shown_elements
from agentic_rag.adapters.parsing.office.package import Package
from agentic_rag.adapters.parsing.office.picture_pixels import grey_pixels
from agentic_rag.adapters.parsing.pictures import centimetres, is_large, says_something
from agentic_rag.adapters.parsing.text.formulas import local_name
from agentic_rag.adapters.parsing.text.svg import read_svg

_EMU_A_CM = 360_000
_COLUMN_CM, _ROW_CM = 1.7, 0.5
"""Of a sheet, as long as nobody changes them."""
_NO_SIZE = 0.0, 0.0
_SLIDE_CM = 25.4
"""Width of a slide, for a picture without a size of its own."""
_ANCHORS = frozenset({"inline", "anchor", "oneCellAnchor", "twoCellAnchor", "absoluteAnchor"})
_SIDE = re.compile(r"(?:^|;)\s*(width|height)\s*:\s*([^;]+)")
_LINK = "{http://www.w3.org/1999/xlink}href"
_IN_CELLS = "xl/richData/richValueRel.xml"


def drawn_pictures(tree: Element) -> set[str]:
    """The relations of the large pictures that a part shows."""
    found: set[str] = set()
    for node in shown_elements(tree):
        name = local_name(node)
        if name in _ANCHORS and says_something(*_anchor_size(node)):
            found.update(_relations(node, "blip", ("embed", "link")))
        elif name == "shape" and says_something(*_style_size(node)):
            found.update(_relations(node, "imagedata", ("id",)))
    return found


def shows_large_picture(slide: Element) -> bool:
    """Whether a slide shows a large picture; one without a size of its own fills its place in the layout."""
    pictures = [one for one in shown_elements(slide) if local_name(one) == "pic"]
    sizes = [_largest(picture) for picture in pictures]
    return any(size == _NO_SIZE or says_something(*size) for size in sizes)


def slide_pictures(slide: Element) -> Mapping[str, float]:
    """The large pictures of a slide by their relation, with the width in centimetres that each is shown at."""
    found: dict[str, float] = {}
    for picture in shown_elements(slide):
        size = _largest(picture) if local_name(picture) == "pic" else (0.0, 0.0)
        if local_name(picture) == "pic" and (size == _NO_SIZE or says_something(*size)):
            found |= dict.fromkeys(_relations(picture, "blip", ("embed",)), size[0] or _SLIDE_CM)
    return found


def lacks_words(picture: bytes, width_cm: float) -> bool:
    """Whether a large picture that stands beside words may say more than they do: it shows words, or is of a kind that
    cannot be looked at.
    """
    pixels = grey_pixels(picture, width_cm, DOTS_AN_INCH)
    return pixels is None or shows_words(pixels)


def drawing_lines(package: Package, part: str) -> list[str]:
    """What the SVG drawings of a part say."""
    held = {other for kind, other in package.relations(part).values() if kind == "image"}
    return [read_svg(package.read(one))[0] for one in sorted(held & package.names) if one.endswith(".svg")]


def pictures_in_cells(package: Package) -> int:
    """How many large pictures stand in the cells of a workbook."""
    held = {part for kind, part in package.relations(_IN_CELLS).values() if kind == "image" and part in package.names}
    return sum(is_large(package.read(part)) for part in held)


def framed_pictures(content: Element, left_out: Set[str]) -> Mapping[str, float]:
    """The large pictures in frames of an OpenDocument file by their address, with the width in centimetres that each is
    shown at; but for those in elements `left_out`, and for frames that hold an object: its picture only stands for it.
    """
    found: dict[str, float] = {}
    stack = [content]
    while stack:
        node = stack.pop()
        stack += [child for child in node if child.tag not in left_out]
        held = {local_name(child) for child in node}
        if local_name(node) != "frame" or "image" not in held or held & {"object", "object-ole"}:
            continue
        sides = {_local(name): centimetres(stated) for name, stated in node.attrib.items()}
        if says_something(sides.get("width", 0.0), sides.get("height", 0.0)):
            images = [child.get(_LINK) or f"#{id(child)}" for child in node if local_name(child) == "image"]
            found |= dict.fromkeys(images, sides["width"])
    return found


def _anchor_size(anchor: Element) -> tuple[float, float]:
    return max(_largest(anchor), _cells_size(anchor), key=lambda size: size[0] * size[1])


def _largest(drawing: Element) -> tuple[float, float]:
    """The largest size that a drawing states, in centimetres."""
    sizes = [
        (_number(one.get("cx", "")) / _EMU_A_CM, _number(one.get("cy", "")) / _EMU_A_CM)
        for one in drawing.iter()
        if local_name(one) in ("ext", "extent")
    ]
    return max([*sizes, _NO_SIZE], key=lambda size: size[0] * size[1])


def _cells_size(anchor: Element) -> tuple[float, float]:
    """The size of an anchor between two cells."""
    places = [
        {local_name(one): _number(one.text or "") for one in corner}
        for corner in anchor
        if local_name(corner) in ("from", "to")
    ]
    if len(places) != 2:
        return _NO_SIZE
    first, last = places
    across, down = (last.get(name, 0) - first.get(name, 0) for name in ("col", "row"))
    return across * _COLUMN_CM, down * _ROW_CM


def _style_size(shape: Element) -> tuple[float, float]:
    """The size of a shape as older programs write it: `width:415pt;height:300pt`."""
    sides = dict(_SIDE.findall(shape.get("style", "")))
    return centimetres(sides.get("width", "")), centimetres(sides.get("height", ""))


def _relations(node: Element, name: str, attributes: tuple[str, ...]) -> Iterator[str]:
    for one in shown_elements(node):
        if local_name(one) == name:
            yield from (held for key, held in one.attrib.items() if _local(key) in attributes and held)


def _local(attribute: str) -> str:
    return attribute.rpartition("}")[2]


def _number(stated: str) -> int:
    return int(stated) if stated.isascii() and stated.isdigit() and len(stated) < 12 else 0
