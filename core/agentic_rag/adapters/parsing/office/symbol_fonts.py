"""Letters of fonts that hold symbols: Symbol, Wingdings, Webdings. Office programs store them by their place in the
font, within the private use area or as a byte.
"""

from __future__ import annotations

import re

from mammoth.docx.dingbats import dingbats  # pyright: ignore[reportMissingTypeStubs] - it ships none

SYMBOL = "Symbol"
_FONTS = frozenset(font for font, _ in dingbats)
_STORED = re.compile("[\uf020-\uf0ff]")


def is_symbol_font(name: str) -> bool:
    return name in _FONTS


def symbol_at(font: str, place: int) -> str:
    """The letter at a place of a font, the private use area counted from its start; empty where none is known."""
    letter = dingbats.get((font, place & 0xFF if place & 0xFF00 == 0xF000 else place))
    return "" if letter is None else chr(letter)


def symbols_written(text: str, font: str) -> str:
    """A text with the letters that stand in it by their places; those of a font that holds no symbols are Symbol's."""
    font = font if is_symbol_font(font) else SYMBOL
    return _STORED.sub(lambda one: symbol_at(font, ord(one[0])) or one[0], text)
