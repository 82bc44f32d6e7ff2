"""Keyset pages over rows in memory. A cursor is the URL-safe base64 of the last row's place."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TypeVar

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.pagination import MAX_PAGE, Page, PageRequest

T = TypeVar("T")


def page_by_name(rows: Iterable[T], name: Callable[[T], str], request: PageRequest) -> Page[T]:
    """The page of `rows` in code point order of their distinct names. Errors: `InvalidInput` codes PAGE_SIZE,
    CURSOR_INVALID.
    """
    placed = sorted([(name(row), row) for row in rows], key=lambda pair: pair[0])
    if request.after is not None:
        last = _decoded(request.after)
        placed = [pair for pair in placed if pair[0] > last]
    return _first(placed, request)


def page_newest_first(rows: Iterable[T], created: Callable[[T], tuple[datetime, str]], request: PageRequest) -> Page[T]:
    """The page of `rows` by the instant they were made at, the newest first; the text beside it settles ties and is
    distinct. Errors: as of `page_by_name`.
    """
    placed = sorted([(_instant_place(*created(row)), row) for row in rows], key=lambda pair: pair[0], reverse=True)
    if request.after is not None:
        last = _decoded(request.after)
        if _INSTANT_PLACE.fullmatch(last) is None:
            raise _refused()
        placed = [pair for pair in placed if pair[0] < last]
    return _first(placed, request)


_INSTANT_PLACE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00\|\S+")


def _instant_place(instant: datetime, tie: str) -> str:
    return f"{instant.astimezone(UTC).isoformat(timespec='microseconds')}|{tie}"


def _first(placed: list[tuple[str, T]], request: PageRequest) -> Page[T]:
    if not 1 <= request.first <= MAX_PAGE:
        raise InvalidInput(f"A page has 1 to {MAX_PAGE} rows.", code="PAGE_SIZE", path=("first",))
    shown = placed[: request.first]
    return Page(tuple(row for _, row in shown), tuple(_encoded(at) for at, _ in shown), len(placed) > request.first)


def _encoded(place: str) -> str:
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def _decoded(cursor: str) -> str:
    try:
        place = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise _refused() from error
    if not place or "\0" in place:
        raise _refused()
    return place


def _refused() -> InvalidInput:
    return InvalidInput("The cursor is not one this API returned.", code="CURSOR_INVALID", path=("after",))
