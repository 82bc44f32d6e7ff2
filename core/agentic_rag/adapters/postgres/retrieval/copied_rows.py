"""Rows of COPY's binary form as arrays and mappings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# PostgreSQL, "COPY", binary format: a signature, flags and an empty extension; rows of a field count and, for each
# field, its length and value; a field count of −1.
_COPY_HEAD = 19
_COPY_END = 2
_NUMBER = 4
_FIELDS = 2
_ID = 16
_ID_AND_TEXT = bytes([0, 2, 0, 0, 0, _ID])
"""What a row of a UUID and a text starts with: two fields, of which the first is a UUID."""


def parse_rows(
    data: bytearray, numbers: Sequence[str], dimensions: int | None = None, *, ids: bool = False
) -> NDArray[Any]:
    """Rows of COPY's binary form: 4-byte numbers and behind them, with `dimensions`, a halfvec `v` or, with `ids`, a
    UUID `id`. Errors: `ValueError` for anything else.
    """
    layout: list[tuple[Any, ...]] = [("fields", ">i2")]
    for name in numbers:
        layout += [(f"{name} length", ">i4"), (name, ">i4")]
    if dimensions is not None:
        layout += [("v length", ">i4"), ("v dimensions", ">u2"), ("v unused", ">u2"), ("v", ">f2", (dimensions,))]
    if ids:
        layout += [("id length", ">i4"), ("id", [("high", ">u8"), ("low", ">u8")])]
    kind = np.dtype(layout)
    rows = np.frombuffer(data, kind, (len(data) - _COPY_HEAD - _COPY_END) // kind.itemsize, _COPY_HEAD)
    fits = _COPY_HEAD + rows.nbytes + _COPY_END == len(data)
    fits &= bool((rows["fields"] == len(numbers) + (dimensions is not None) + ids).all())
    fits &= dimensions is None or bool((rows["v dimensions"] == dimensions).all())
    if not fits:
        raise ValueError("the rows do not have the form that was asked for")
    return rows


def parse_titles(data: bytearray) -> dict[bytes, bytes]:
    """Rows of a UUID and a text: the text in UTF-8 by the bytes of the id. Errors: `ValueError` for anything else."""
    found: dict[bytes, bytes] = {}
    place, end = _COPY_HEAD, len(data) - _COPY_END
    while place < end:
        first = place + _FIELDS + _NUMBER
        start = first + _ID + _NUMBER
        length = int.from_bytes(data[start - _NUMBER : start], "big", signed=True)
        if length < 0 or bytes(data[place:first]) != _ID_AND_TEXT:
            raise ValueError("the rows do not have the form that was asked for")
        place = start + length
        found[bytes(data[first : first + _ID])] = bytes(data[start:place])
    if place != end:
        raise ValueError("the rows do not have the form that was asked for")
    return found
