"""Opaque page cursors: URL-safe base64 of the sort key of the last row."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from uuid import UUID

from agentic_rag.domain.errors import InvalidInput
from agentic_rag.domain.pages import MAX_PAGE, PageRequest


def encode_cursor(key: str) -> str:
    """The cursor after a row with this sort key."""
    return base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> str:
    """The sort key of a cursor. Errors: `InvalidInput` code CURSOR_INVALID."""
    try:
        key = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise refused_cursor() from error
    if not key or "\0" in key:
        raise refused_cursor()
    return key


def encode_instant(created: datetime, row_id: UUID) -> str:
    """The cursor after a row of a list that goes by the instant its rows were made at."""
    return encode_cursor(f"{created.astimezone(UTC).isoformat()}|{row_id}")


def decode_instant(cursor: str) -> tuple[datetime, UUID]:
    """The inverse of `encode_instant`. Errors: `InvalidInput` code CURSOR_INVALID."""
    instant, _, row_id = decode_cursor(cursor).partition("|")
    try:
        created = datetime.fromisoformat(instant)
        if created.tzinfo is None:
            raise refused_cursor()
        return created.astimezone(UTC), UUID(row_id)
    except (ValueError, OverflowError) as error:
        raise refused_cursor() from error


def refused_cursor() -> InvalidInput:
    """What a cursor that was not made here deserves."""
    return InvalidInput("The cursor is not one this API returned.", code="CURSOR_INVALID", path=("after",))


def page_size(request: PageRequest) -> int:
    """The wanted number of rows. Errors: `InvalidInput` code PAGE_SIZE."""
    if not 1 <= request.first <= MAX_PAGE:
        raise InvalidInput(f"A page has 1 to {MAX_PAGE} rows.", code="PAGE_SIZE", path=("first",))
    return request.first
