"""What a server answered instead of a page."""

from __future__ import annotations

from agentic_rag.kernel.errors import AgenticRagError, Retryable
from agentic_rag.web.retry_after import stated_wait

BUSY = "SITE_BUSY"
"""The site asks to be left alone for a while."""


class StatusRefused(Retryable):
    """The server answered with a status that brings no page."""

    code = "FETCH_FAILED"

    def __init__(self, status: int, retry_after: str = "", answered_at: str = "") -> None:
        seconds = stated_wait(retry_after, answered_at)
        # Many sites have single pages that answer 503; one that names a time means all of it.
        is_busy = status == 429 or (status == 503 and bool(retry_after))
        code = BUSY if is_busy else None
        super().__init__(f"The page's server answered {status}.", code=code, retry_after_seconds=seconds)
        self.status = status


class PageGone(StatusRefused):
    """The server has no such page (any more)."""


_TAKEN = "taken_bytes"


def note_size(error: AgenticRagError, size: int) -> None:
    """Note how many bytes came before a page was refused, so that they count against a budget."""
    setattr(error, _TAKEN, size)


def size_before(error: AgenticRagError) -> int:
    """The bytes that came before a page was refused."""
    return getattr(error, _TAKEN, 0)
