"""Pictures on a page that show words which its text lacks: scanned tables, screenshots, charts."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pypdfium2.raw  # pyright: ignore[reportMissingTypeStubs] - it ships none

from agentic_rag.adapters.parsing.lettering import DOTS_AN_INCH, Grey, shows_words
from agentic_rag.adapters.parsing.pdf.pictures import Box, picture_places
from agentic_rag.adapters.parsing.pictures import says_something

pdfium = cast(Any, pypdfium2.raw)

_MOST_PIXELS = 3_000_000
_CM_A_POINT = 2.54 / 72
_AROUND = 2
"""Pixels around a word that are its soft edges."""


def count_lettered_pictures(page: Any, textpage: object) -> int:
    """How many large pictures of a page show words, but for those that stand in its text: words that recognition put
    behind a scan, or that are written over a picture.
    """
    places = [*dict.fromkeys(place for place in picture_places(page.raw) if _is_large(place))]
    if not places:
        return 0
    seen = _render(page)
    if seen is None:
        return 0
    height, width = seen.shape
    for word in _words(textpage):
        left, top, right, bottom = _pixels(page.raw, word, width, height)
        area = seen[max(0, top - _AROUND) : bottom + _AROUND + 1, max(0, left - _AROUND) : right + _AROUND + 1]
        if area.size:
            area[:] = np.median(area)
    found = 0
    for place in places:
        left, top, right, bottom = _pixels(page.raw, place, width, height)
        area = seen[max(0, top) : bottom + 1, max(0, left) : right + 1]
        found += area.size > 0 and shows_words(area)
        # A picture over another one counts once.
        area[:] = 0
    return found


def _is_large(place: Box) -> bool:
    return says_something((place[2] - place[0]) * _CM_A_POINT, (place[3] - place[1]) * _CM_A_POINT)


def _render(page: Any) -> Grey | None:
    """What a page shows, without its remarks and forms, whose words are read elsewhere."""
    width, height = page.get_size()
    scale = DOTS_AN_INCH / 72
    if width * height * scale * scale > _MOST_PIXELS:
        scale = (_MOST_PIXELS / (width * height)) ** 0.5
    bitmap = page.render(scale=scale, grayscale=True, may_draw_forms=False, draw_annots=False)
    pixels = cast(Grey, bitmap.to_numpy())
    return pixels.reshape(pixels.shape[0], -1).copy() if pixels.size == bitmap.width * bitmap.height else None


def _words(textpage: object) -> Iterator[Box]:
    left, top, right, bottom = (ctypes.c_double() for _ in range(4))
    for number in range(pdfium.FPDFText_CountRects(textpage, 0, -1)):
        if pdfium.FPDFText_GetRect(textpage, number, left, top, right, bottom):
            yield left.value, bottom.value, right.value, top.value


def _pixels(page: object, place: Box, width: int, height: int) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a place on the drawn page."""
    x, y = ctypes.c_int(), ctypes.c_int()
    corners: list[tuple[int, int]] = []
    for across, up in ((place[0], place[1]), (place[2], place[3])):
        pdfium.FPDF_PageToDevice(page, 0, 0, width, height, 0, across, up, x, y)
        corners.append((x.value, y.value))
    (left, right), (top, bottom) = sorted(at for at, _ in corners), sorted(at for _, at in corners)
    return left, top, right, bottom
