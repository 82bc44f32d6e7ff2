"""Keyset pages: a stable order, a cursor after the last row, never an offset."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Generic, TypeVar

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
