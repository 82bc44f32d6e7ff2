"""Whether letters can be read where they stand: their size, and their colour on that of the page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from selectolax.lexbor import LexborNode

from agentic_rag.adapters.parsing.pages.style_rules import Declarations, PageSheets, font_is_nothing

Colour = tuple[int, int, int]

_HEX = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_FUNCTION = re.compile(r"rgba?\(\s*(\d{1,3})\s*[, ]\s*(\d{1,3})\s*[, ]\s*(\d{1,3})\s*(?:[,/]\s*(\d*\.?\d+)%?\s*)?\)")
_NAMED: dict[str, Colour] = {
    "white": (255, 255, 255), "black": (0, 0, 0), "red": (255, 0, 0), "lime": (0, 255, 0), "blue": (0, 0, 255),
    "yellow": (255, 255, 0), "silver": (192, 192, 192), "gray": (128, 128, 128), "grey": (128, 128, 128),
    "green": (0, 128, 0), "navy": (0, 0, 128), "snow": (255, 250, 250), "ivory": (255, 255, 240),
    "whitesmoke": (245, 245, 245), "ghostwhite": (248, 248, 255),
}  # fmt: skip
_CLOSE = 8
"""Of 255, in each of red, green and blue: letters this near to the colour behind them are not seen."""
_LONGEST = 60
"""Characters of a colour."""
_TRANSPARENT = (-1, -1, -1)
_DRAWN = ("background-clip", "-webkit-background-clip", "text-shadow", "-webkit-text-stroke", "-webkit-text-fill-color")
"""Ways to draw letters that have no colour."""
_INLINE = frozenset({
    "a", "abbr", "b", "big", "cite", "code", "em", "font", "i", "mark", "q", "small", "span", "strong", "sub", "sup",
    "u",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Letters:
    """How the letters of an element look; None for a colour that is not known."""

    colour: Colour | None
    behind: Colour | None
    is_nothing: bool = False
    """Whether they have no size."""

    @property
    def can_be_read(self) -> bool:
        """False only where it is certain."""
        if self.is_nothing or self.colour == _TRANSPARENT:
            return False
        if self.colour is None or self.behind is None:
            return True
        return any(abs(one - other) > _CLOSE for one, other in zip(self.colour, self.behind, strict=True))


_UNKNOWN = Letters(None, None)


def letters_at_first(sheets: PageSheets) -> Letters:
    """Of a page before its elements say anything: black on white unless a sheet may say otherwise."""
    return _UNKNOWN if sheets.restyles else Letters((0, 0, 0), (255, 255, 255))


def letters_within(node: LexborNode, said: Declarations, around: Letters, sheets: PageSheets) -> Letters:
    """The letters of an element, by what it and those around it say; what a sheet may change is not known."""
    attributes, tag = node.attributes, node.tag
    found = around
    if sheets.restyles and ("class" in attributes or "id" in attributes):
        found = _UNKNOWN
    elif sheets.restyles and found.is_nothing and tag not in _INLINE:
        found = replace(found, is_nothing=False)
    if node in sheets.sizeless:
        found = replace(found, is_nothing=True)
    if tag == "a" and found.colour is not None:
        found = replace(found, colour=None)  # Links have a colour of their own.
    if said or "bgcolor" in attributes or "color" in attributes:
        return _own_letters(found, said, attributes)
    return found


def _own_letters(around: Letters, said: Declarations, attributes: Mapping[str, str | None]) -> Letters:
    """The letters of an element that says itself how they look."""
    found = around
    stated = attributes.get("bgcolor")
    if stated or any(one.startswith("background") for one in said) or said.get("position") in ("absolute", "fixed"):
        text = said.get("background-color") or said.get("background") or (stated or "").lower()
        found = replace(found, behind=None if "background-image" in said else _solid(text))
    if any(one in said for one in _DRAWN):
        found = replace(found, colour=None)
    elif colour := said.get("color") or (attributes.get("color") or "").lower():
        found = replace(found, colour=_colour(colour))
    size = font_is_nothing(said)
    return found if size is None else replace(found, is_nothing=size)


def _solid(text: str) -> Colour | None:
    colour = _colour(text)
    return None if colour == _TRANSPARENT else colour


def _colour(text: str) -> Colour | None:
    """The colour that a value names; None for one that is not known, or that is more than a colour."""
    if len(text) > _LONGEST:
        return None
    if text == "transparent":
        return _TRANSPARENT
    if text in _NAMED:
        return _NAMED[text]
    if found := _HEX.fullmatch(text):
        digits = found[1] if len(found[1]) > 4 else "".join(one * 2 for one in found[1])
        red, green, blue, *alpha = (int(digits[at : at + 2], 16) for at in range(0, len(digits), 2))
        return _TRANSPARENT if alpha == [0] else (red, green, blue)
    if found := _FUNCTION.fullmatch(text):
        if found[4] is not None and float(found[4]) == 0:
            return _TRANSPARENT
        return int(found[1]), int(found[2]), int(found[3])
    return None
