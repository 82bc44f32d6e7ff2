"""Which pictures of a file say something: those large enough for words or a drawing. Nobody here reads them; they are
counted and told. Smaller ones are logos, signs, icons, portraits.
"""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import unquote_to_bytes

_LONG_CM, _SHORT_CM = 8.0, 4.0
"""The least longer and shorter side, as shown: ten lines of forty small letters. Icons of real files measure under
1 cm, logos and portraits up to 5.
"""
_CM_A_PIXEL = 2.54 / 96
_BYTES = 20_000
"""Of a picture in a format that states no size here."""
_BLANK_BYTES, _BLANK_PIXELS, _SURE_BYTES = 3_000, 200, 10_000
"""A picture of fewer bytes, or of fewer than one for so many pixels unless it has the last number of them, is one
colour: it holds the place of a picture that a script loads. 24 of the 25 large ones in 488 real pages are such.
"""
_CM = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72, "pc": 2.54 / 6, "px": _CM_A_PIXEL}
_LENGTH = re.compile(r"\s*(\d{1,6}(?:\.\d{1,9})?)\s*(cm|mm|in|pt|pc|px)\s*")
_DATA = re.compile(r"\s*data:image/[\w.+-]+;base64,", re.IGNORECASE)
_SVG_DATA = re.compile(r"\s*data:image/svg\+xml(?:;(?!base64)[\w=-]+)*,", re.IGNORECASE)
_JPEG_FRAME = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""Markers of a JPEG that state its size (ITU T.81, table B.1)."""


def says_something(width: float, height: float) -> bool:
    """Whether a picture shown at this size, in centimetres, may hold words."""
    return max(width, height) >= _LONG_CM and min(width, height) >= _SHORT_CM


def centimetres(stated: str) -> float:
    """A length as style sheets state it; 0 for one without a unit, or none."""
    found = _LENGTH.fullmatch(stated)
    return float(found[1]) * _CM[found[2]] if found else 0.0


def is_large(picture: bytes) -> bool:
    """`says_something` for a picture that stands at 96 pixels an inch."""
    size = _pixels(picture)
    if size is None or len(picture) < _BLANK_BYTES:
        return len(picture) >= _BYTES
    if len(picture) < _SURE_BYTES and len(picture) * _BLANK_PIXELS < size[0] * size[1]:
        return False
    return says_something(size[0] * _CM_A_PIXEL, size[1] * _CM_A_PIXEL)


def embedded_picture(address: str) -> bytes:
    """The picture that an address of a page itself holds; empty for others."""
    written = _SVG_DATA.match(address)
    if written is not None:
        return unquote_to_bytes(address[written.end() :])
    head = _DATA.match(address)
    if head is None:
        return b""
    try:
        return base64.b64decode(address[head.end() :])
    except (binascii.Error, ValueError):
        return b""


def _pixels(picture: bytes) -> tuple[int, int] | None:
    """Width and height that a PNG, GIF, BMP or JPEG states; None for other files."""
    if picture.startswith(b"\x89PNG\r\n\x1a\n") and len(picture) >= 24:
        return int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])
    if picture.startswith((b"GIF87a", b"GIF89a")) and len(picture) >= 10:
        return int.from_bytes(picture[6:8], "little"), int.from_bytes(picture[8:10], "little")
    if picture.startswith(b"BM") and len(picture) >= 26:
        return int.from_bytes(picture[18:22], "little"), abs(int.from_bytes(picture[22:26], "little", signed=True))
    frame = jpeg_frame(picture) if picture.startswith(b"\xff\xd8") else None
    return None if frame is None else frame[:2]


def jpeg_frame(picture: bytes) -> tuple[int, int, int] | None:
    """Width, height and number of colours that a JPEG states (ITU T.81, B.2.2)."""
    at = 2
    while at + 10 <= len(picture) and picture[at] == 0xFF:
        if picture[at + 1] in _JPEG_FRAME:
            height, width = (int.from_bytes(picture[at + start : at + start + 2]) for start in (5, 7))
            return width, height, picture[at + 9]
        at += 2 + int.from_bytes(picture[at + 2 : at + 4])
    return None
