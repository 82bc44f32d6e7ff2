"""The port that fetches one web page by its address."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agentic_rag.web.fetch_policy import FetchedPage
from agentic_rag.web.url_policy import Target

FetchPage = Callable[[str], Awaitable[FetchedPage]]
"""The page at an address, after following permitted redirects.

Errors: `PolicyRefused` code ADDRESS_REFUSED (address, name, redirect or host not allowed), `ContentUnsupported` codes
FETCH_TYPE and FETCH_ENCODING, `ContentRefused` code FETCH_TOO_LARGE, `Retryable` codes FETCH_TIMEOUT and FETCH_FAILED.
A truncated page is an error and is never returned in part.
"""

AdmitRedirect = Callable[[Target], Awaitable[None]]
"""Raises where the target of a redirect may not be asked: before anything is sent there."""

FetchIfNew = Callable[[str, str, AdmitRedirect], Awaitable[FetchedPage | None]]
"""The same; None where the page is still the one that had the validator. Errors: those of the last argument too."""
