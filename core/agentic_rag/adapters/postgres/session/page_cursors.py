"""Opaque page cursors: URL-safe base64 of the sort key of the last row."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.pagination import MAX_PAGE, PageRequest, cursor_after, cursor_error, decode_cursor


def instant_cursor(instant: datetime, row_id: UUID) -> str:
    """The cursor after a row of a page sorted by creation time, then id."""
    return cursor_after(f"{instant.isoformat()} {row_id}")


def decode_instant_cursor(cursor: str | None) -> tuple[datetime | None, UUID | None]:
    """The time and id of such a cursor; a pair of None for no cursor. Errors: `InvalidInput` code CURSOR_INVALID."""
    if cursor is None:
        return None, None
    instant, _, row_id = decode_cursor(cursor).partition(" ")
    try:
        made = datetime.fromisoformat(instant)
        if made.tzinfo is None:
            raise ValueError("a cursor's instant carries its zone")
        return made.astimezone(UTC), UUID(row_id)
    except (ValueError, OverflowError) as error:
        raise cursor_error() from error


def page_size(request: PageRequest) -> int:
    """The requested number of rows. Errors: `InvalidInput` code PAGE_SIZE."""
    if not 1 <= request.first <= MAX_PAGE:
        raise InvalidInput(f"A page has 1 to {MAX_PAGE} rows.", code="PAGE_SIZE", path=("first",))
    return request.first
