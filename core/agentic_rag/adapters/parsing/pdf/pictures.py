"""Tells pages whose words are drawn: scans, and letters that became curves; and where pictures stand on a page."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, cast

import pypdfium2.raw  # pyright: ignore[reportMissingTypeStubs] - it ships none

pdfium = cast(Any, pypdfium2.raw)
_MOST_OBJECTS = 2_000
"""Objects of a page that are looked at."""
_DEEPEST = 4
"""Forms in forms that are looked into."""
_COVERED = 0.5
"""The share of its page that a scan covers at least; screenshots and photos on slides were seen to cover 0.2 to 0.4."""
_MOST_CURVES = 150
"""Paths of a page without words that may be its decoration; a line of twenty letters takes twenty."""


Box = tuple[float, float, float, float]
"""Left, bottom, right, top of what a page shows, in points."""


def draws_words(page: object, box: Box) -> bool:
    """Whether a page on which no words were found draws what it says."""
    covered, curves = 0.0, 0
    for kind, drawn, outer in islice(_objects(page), _MOST_OBJECTS):
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            # What a form draws is placed by the form.
            covered += _share(outer or drawn, box)
        curves += kind == pdfium.FPDF_PAGEOBJ_PATH
    return covered >= _COVERED or curves > _MOST_CURVES


def picture_places(page: object) -> Iterator[Box]:
    """Where the pictures of a page stand: of one that a form draws the place of the form."""
    for kind, drawn, outer in islice(_objects(page), _MOST_OBJECTS):
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE and (place := _bounds(outer or drawn)) is not None:
            yield place


def _objects(page: object) -> Iterator[tuple[int, object, object | None]]:
    """The kind of each object of a page, the object, and the outermost form that holds it."""
    yield from _page_objects(page, None, pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject, 0)


def _page_objects(
    holder: object, outer: object | None, count: Callable[..., int], get: Callable[..., object], depth: int
) -> Iterator[tuple[int, object, object | None]]:
    for number in range(count(holder)):
        drawn = get(holder, number)
        kind = pdfium.FPDFPageObj_GetType(drawn)
        yield kind, drawn, outer
        if kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
            inner = pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject
            yield from _page_objects(drawn, outer or drawn, *inner, depth + 1)


def _share(drawn: object, box: Box) -> float:
    """The share of the page that an object covers."""
    across, up = box[2] - box[0], box[3] - box[1]
    place = _bounds(drawn)
    if across <= 0 or up <= 0 or place is None:
        return 0.0
    wide = min(place[2], box[2]) - max(place[0], box[0])
    high = min(place[3], box[3]) - max(place[1], box[1])
    return max(0.0, wide) * max(0.0, high) / (across * up)


def _bounds(drawn: object) -> Box | None:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(drawn, left, bottom, right, top):
        return None
    return left.value, bottom.value, right.value, top.value
