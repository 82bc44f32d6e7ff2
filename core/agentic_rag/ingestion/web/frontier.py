"""What a crawl is asked for, and how far it is."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from agentic_rag.ingestion.web.near_pages import Signature
from agentic_rag.jobs.job import JobRef
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.web.links import canonical_url
from agentic_rag.web.url_policy import AddressRefused, HostList, Target, parse_host_list, parse_target

MAX_SEEDS = 50
LISTED = "LISTED"
"""The code of a sitemap that waits because an index names it."""
MAX_DEPTH = 3
MAX_PAGES = 1_000


class PageState(enum.Enum):
    """How a page of a crawl ended."""

    PENDING = "pending"
    KEPT = "kept"
    UNCHANGED = "unchanged"
    EXPANDED = "expanded"
    """A sitemap or feed, or a page that sends its readers on at once: what it names waits now."""
    DUPLICATE = "duplicate"
    NEEDS_SCRIPT = "needs_script"
    """Its text is made by scripts, which nobody runs."""
    REFUSED = "refused"
    """By policy, robots.txt, the page itself or a budget."""
    FAILED = "failed"

    @property
    def is_fetched(self) -> bool:
        """Whether the server was asked for the page."""
        return self not in (PageState.PENDING, PageState.REFUSED)


@dataclass(frozen=True, slots=True)
class FrontierPage:
    """A page of a crawl."""

    url: str
    depth: int
    state: PageState = PageState.PENDING
    code: str = ""
    size: int = 0
    text_hash: bytes = b""
    signature: Signature = ()
    document_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class CrawlRequest:
    """Where a crawl begins and where it ends. Raises `InvalidInput`."""

    seeds: tuple[str, ...]
    depth: int = 1
    """Links between a page and a seed."""
    max_pages: int = 50
    """Pages that are fetched at most."""
    max_bytes: int = 50_000_000
    max_seconds: int = 600
    hosts: tuple[str, ...] = ()
    """Patterns of hosts that may be followed to; none: those of the seeds, each with `www.` and without."""
    allowed: HostList = field(default=HostList(()), init=False)

    def __post_init__(self) -> None:
        if not 1 <= len(self.seeds) <= MAX_SEEDS:
            raise InvalidInput(f"A crawl begins at 1 to {MAX_SEEDS} addresses.", path=("urls",))
        try:
            seeds = tuple(dict.fromkeys(canonical_url(one) for one in self.seeds))
        except AddressRefused as refused:
            raise InvalidInput(f"An address cannot be crawled: {refused}.", path=("urls",)) from refused
        for name, value, most in (
            ("depth", self.depth, MAX_DEPTH),
            ("maxPages", self.max_pages, MAX_PAGES),
            ("maxBytes", self.max_bytes, 1_000_000_000),
            ("maxSeconds", self.max_seconds, 6 * 3_600),
        ):
            least = 0 if name == "depth" else 1
            if not least <= value <= most:
                raise InvalidInput(f"`{name}` takes {least} to {most:,}.", code="OPTION_OUT_OF_RANGE", path=(name,))
        try:
            named = parse_host_list(" ".join(self.hosts)).patterns
        except ValueError as wrong:
            raise InvalidInput(str(wrong), path=("hosts",)) from wrong
        object.__setattr__(self, "seeds", seeds)
        own = dict.fromkeys(form for one in seeds for form in _forms(parse_target(one)))
        object.__setattr__(self, "allowed", HostList((*own, *named)))

    def arguments(self) -> Mapping[str, str]:
        """As a job carries it."""
        return {
            "seeds": json.dumps(self.seeds),
            "hosts": json.dumps(self.hosts),
            "depth": str(self.depth),
            "max_pages": str(self.max_pages),
            "max_bytes": str(self.max_bytes),
            "max_seconds": str(self.max_seconds),
        }


def _forms(target: Target) -> tuple[str, ...]:
    """A host, with `www.` and without."""
    bare = target.host.removeprefix("www.")
    return (target.host,) if target.literal is not None else (bare, f"www.{bare}")


def request_of(arguments: Mapping[str, str]) -> CrawlRequest:
    """The request that a job carries."""
    numbers = {name: int(arguments[name]) for name in ("depth", "max_pages", "max_bytes", "max_seconds")}
    return CrawlRequest(tuple(json.loads(arguments["seeds"])), hosts=tuple(json.loads(arguments["hosts"])), **numbers)


class CrawlStore(Protocol):
    """The frontiers of crawls, inside a transaction of one organisation."""

    async def add(self, crawl: JobRef, pages: Sequence[FrontierPage]) -> None:
        """Add pages; those that the frontier has are left alone."""
        ...

    async def pages(self, crawl: JobRef) -> list[FrontierPage]:
        """All pages, by depth, then in the order in which they were added."""
        ...

    async def record(self, crawl: JobRef, page: FrontierPage) -> None:
        """Store how a page ended."""
        ...
