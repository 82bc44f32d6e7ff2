"""Keyset pages over rows in memory. A cursor is the URL-safe base64 of the last row's place."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TypeVar

from agentic_rag.domain.errors import InvalidInput
from agentic_rag.domain.pages import MAX_PAGE, Page, PageRequest

T = TypeVar("T")


def page_of(rows: Iterable[T], place: Callable[[T], str], request: PageRequest, *, descending: bool = False) -> Page[T]:
    """The page of `rows`, ordered by `place` (distinct strings). Errors: `InvalidInput` codes PAGE_SIZE,
    CURSOR_INVALID.
    """
    if not 1 <= request.first <= MAX_PAGE:
        raise InvalidInput(f"A page has 1 to {MAX_PAGE} rows.", code="PAGE_SIZE", path=("first",))
    placed = sorted([(place(row), row) for row in rows], key=lambda pair: pair[0], reverse=descending)
    if request.after is not None:
        last = _decoded(request.after)
        placed = [pair for pair in placed if (pair[0] < last if descending else pair[0] > last)]
    shown = placed[: request.first]
    return Page(tuple(row for _, row in shown), tuple(_encoded(at) for at, _ in shown), len(placed) > request.first)


def moment(instant: datetime, tie: str) -> str:
    """A place that orders by time, then by `tie`."""
    return f"{instant.astimezone(UTC).isoformat(timespec='microseconds')}|{tie}"


def _encoded(place: str) -> str:
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def _decoded(cursor: str) -> str:
    try:
        return base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(
            "The cursor is not one this API returned.", code="CURSOR_INVALID", path=("after",)
        ) from error
