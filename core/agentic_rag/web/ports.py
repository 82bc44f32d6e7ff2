"""Fetches one page that a user named."""

from __future__ import annotations

from typing import Protocol

from agentic_rag.web.fetch_policy import FetchedPage


class Fetcher(Protocol):
    """Errors: `PolicyRefused` code ADDRESS_REFUSED (address, name, redirect or host that may not be asked),
    `ContentUnsupported` codes FETCH_TYPE and FETCH_ENCODING, `ContentRefused` code FETCH_TOO_LARGE, `Retryable` codes
    FETCH_TIMEOUT and FETCH_FAILED. A page that breaks off is an error, never part of a page.
    """

    async def fetch(self, url: str) -> FetchedPage:
        """The page at an address, redirects followed as far as they are allowed."""
        ...
