"""What a server answered instead of a page."""

from __future__ import annotations

from agentic_rag.kernel.errors import Retryable


class StatusRefused(Retryable):
    """The server answered with a status that brings no page."""

    code = "FETCH_FAILED"

    def __init__(self, status: int, retry_after: str = "") -> None:
        seconds = float(retry_after[:6]) if retry_after.isascii() and retry_after.isdigit() else None
        super().__init__(f"The page's server answered {status}.", retry_after_seconds=seconds)
        self.status = status


class PageGone(StatusRefused):
    """The server has no such page (any more)."""
