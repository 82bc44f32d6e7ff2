"""What is asked of a search engine, and what it answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agentic_rag.web.url_policy import AddressRefused, HostList, parse_target

MAX_QUERY_CHARACTERS = 400
"""Of a query; engines refuse longer ones."""
MAX_RESULTS = 20


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """Which results are wanted."""

    hosts: HostList = HostList(("*",))
    """Results of other hosts are dropped."""
    without: HostList = HostList(())
    """Results of these hosts are dropped, whatever `hosts` says."""
    days: int | None = None
    """Only pages that the engine knows to be this young; engines round it up to a day, a week, a month or a year."""

    def allows(self, host: str) -> bool:
        """Whether a page of this host is wanted."""
        return self.hosts.allows(host) and not self.without.allows(host)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search."""

    query: str
    locale: str = ""
    """A language tag such as `de-AT`; empty: whatever the engine does by itself."""
    filters: SearchFilters = SearchFilters()
    top_k: int = 5


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One page that an engine names. Title and snippet are words of strangers."""

    url: str
    title: str = ""
    snippet: str = ""
    published: str = ""
    """When the page was published, as the engine tells it; empty where it does not."""


@dataclass(frozen=True, slots=True)
class CallsLeft:
    """What is left of the day's envelope after a search: of the narrowest ceiling."""

    searches: int
    pages: int
    usd: float = 0.0
    """What the search cost by the operator's price."""


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """The wanted results, best first, and what is left of the budget."""

    results: tuple[SearchResult, ...]
    budget: CallsLeft


AskEngine = Callable[[SearchRequest], Awaitable[tuple[SearchResult, ...]]]
"""A search engine. Errors: `Retryable` codes SEARCH_TIMEOUT, SEARCH_FAILED and SEARCH_BUSY (with `Retry-After`),
`Misconfigured` code SEARCH_REFUSED (the engine does not take its key), `PolicyRefused` code ADDRESS_REFUSED.
"""


def wanted_results(found: tuple[SearchResult, ...], request: SearchRequest) -> tuple[SearchResult, ...]:
    """The results that may be read: addresses that the guarded client takes, of hosts that the filters let through,
    each once, in the engine's order.
    """
    kept: dict[str, SearchResult] = {}
    for result in found:
        try:
            target = parse_target(result.url.partition("#")[0])
        except AddressRefused:
            continue
        if request.filters.allows(target.host):
            kept.setdefault(target.url, SearchResult(target.url, result.title, result.snippet, result.published))
    return tuple(kept.values())[: request.top_k]
