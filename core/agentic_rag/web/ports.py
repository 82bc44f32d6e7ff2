"""The port that fetches one web page by its address."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agentic_rag.web.fetch_policy import FetchedPage

FetchPage = Callable[[str], Awaitable[FetchedPage]]
"""The page at an address, after following permitted redirects.

Errors: `PolicyRefused` code ADDRESS_REFUSED (address, name, redirect or host not allowed), `ContentUnsupported` codes
FETCH_TYPE and FETCH_ENCODING, `ContentRefused` code FETCH_TOO_LARGE, `Retryable` codes FETCH_TIMEOUT and FETCH_FAILED.
A truncated page is an error and is never returned in part.
"""

FetchIfNew = Callable[[str, str], Awaitable[FetchedPage | None]]
"""The same; None where the page is still the one that had the validator."""
