"""A guarded fetcher that is made when the first page is fetched."""

from __future__ import annotations

import asyncio
import ssl
from functools import cache
from typing import TYPE_CHECKING

from agentic_rag.web.fetch_policy import FetchedPage, FetchPolicy
from agentic_rag.web.ports import AdmitRedirect

if TYPE_CHECKING:
    from agentic_rag.adapters.web.fetcher import GuardedFetcher


class FetcherAtFirstUse:
    """Fetches like the `GuardedFetcher` of its policy. Most processes fetch no page: the client is imported, and the
    system's certificates are read, in a thread with the first one.
    """

    def __init__(self, policy: FetchPolicy) -> None:
        self._policy = policy
        self._fetcher: GuardedFetcher | None = None

    async def fetch(self, url: str) -> FetchedPage:
        """The page at an address; see the port."""
        return await (await self._make_once()).fetch(url)

    async def fetch_if_new(
        self, url: str, validator: str, admit_redirect: AdmitRedirect | None = None
    ) -> FetchedPage | None:
        """The page at an address; None when it is still the one that had this validator; see the port."""
        return await (await self._make_once()).fetch_if_new(url, validator, admit_redirect)

    async def _make_once(self) -> GuardedFetcher:
        if self._fetcher is None:
            self._fetcher = await asyncio.to_thread(_make, self._policy)
        return self._fetcher


def _make(policy: FetchPolicy) -> GuardedFetcher:
    from agentic_rag.adapters.web.fetcher import GuardedFetcher

    return GuardedFetcher(policy, tls=_system_trust())


@cache
def _system_trust() -> ssl.SSLContext:
    """What the system trusts, read once for all fetchers."""
    return ssl.create_default_context()
