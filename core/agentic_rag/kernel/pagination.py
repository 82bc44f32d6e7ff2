"""Keyset pages: a stable order, a cursor after the last row, never an offset."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Generic, TypeVar

from agentic_rag.kernel.errors import InvalidInput

T = TypeVar("T")

MAX_PAGE = 100


@dataclass(frozen=True, slots=True)
class PageRequest:
    """At most `first` (1–100) rows after the cursor."""

    first: int = 50
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Rows with their cursors (opaque strings), and whether more follow."""

    items: tuple[T, ...]
    cursors: tuple[str, ...]
    has_next: bool


def cursor_after(place: str) -> str:
    """The cursor after the row with this place in a page's order, such as a document's path."""
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> str:
    """The sort key of a cursor. Errors: `InvalidInput` code CURSOR_INVALID."""
    try:
        key = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise cursor_error() from error
    if not key or "\0" in key:
        raise cursor_error()
    return key


def cursor_error() -> InvalidInput:
    """A cursor that no page had."""
    return InvalidInput("The cursor is not one this API returned.", code="CURSOR_INVALID", path=("after",))
