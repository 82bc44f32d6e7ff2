"""Fetches single pages of the web: policy, robots.txt, budget, the guarded client, then what the page itself asks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentic_rag.documents.ports import Parser
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.errors import (
    AgenticRagError,
    ContentRefused,
    ContentUnsupported,
    ParseFailed,
    PolicyRefused,
    Retryable,
)
from agentic_rag.kernel.ttl_cache import TtlCache
from agentic_rag.models.billing.usage import UsageKind
from agentic_rag.models.billing.web_envelope import WebEnvelope
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.web.fetch_errors import StatusRefused, note_size
from agentic_rag.web.fetch_policy import ANY_TYPE, MAX_PAGE_BYTES, TEXT_TYPES, FetchedPage, FetchPolicy, needs_script
from agentic_rag.web.listings import LISTING_SECONDS, LISTING_TYPES, MAX_LISTING_BYTES, PACKED_TYPES, looks_like_listing
from agentic_rag.web.page_paths import WebOrigin
from agentic_rag.web.ports import FetchIfNew, FetchPage
from agentic_rag.web.robots import (
    ALLOW_ALL,
    CLOSED,
    MAX_ROBOTS_FILE,
    PageDirectives,
    RobotsRules,
    parse_robots,
    read_directives,
)
from agentic_rag.web.search import SearchFilters
from agentic_rag.web.url_policy import AddressRefused, HostList, Target, parse_target

ROBOTS_SECONDS = 3_600.0
"""How long a robots.txt is known; RFC 9309 allows a day."""
ROBOTS_POLICY = FetchPolicy(HostList(("*",)), MAX_ROBOTS_FILE, seconds=4.0, media_types=ANY_TYPE)
"""Of a site's own file, whatever type it is served as; a page in its place holds no rule."""
MAX_SITES = 4_096
_WORD = re.compile(r"[^\W_]")
PROVIDER = "web"
"""How pages are called in the table of usage."""


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page that may be read, and how it was found."""

    url: str
    origin: WebOrigin
    query: str = ""
    """The search that named it."""
    depth: int = 0
    """Links between it and a page that somebody named."""
    published: str = ""
    """When it was published, as the search engine tells it."""
    is_known: bool = False
    """It has a document; where that is gone by now, no other is made."""


LISTING_POLICY = FetchPolicy(
    HostList(("*",)),
    MAX_LISTING_BYTES,
    LISTING_SECONDS,
    media_types=TEXT_TYPES | LISTING_TYPES | PACKED_TYPES,
    unpacks=True,
)
"""Of an address that may be a sitemap or a feed."""


class ReadPages:
    """Keeps what it knows of each site's robots.txt."""

    def __init__(
        self,
        fetch: FetchIfNew,
        fetch_listing: FetchIfNew,
        fetch_robots: FetchPage,
        envelope: WebEnvelope,
        clock: Clock,
        filters: SearchFilters,
    ) -> None:
        self._fetch = fetch
        self._fetch_listing = fetch_listing
        self._fetch_robots = fetch_robots
        self._envelope = envelope
        self._filters = filters
        self._rules = TtlCache(self._load_rules, clock, seconds=ROBOTS_SECONDS, most=MAX_SITES)

    async def fetch(
        self, workspace: WorkspaceRef, page: FoundPage, validator: str = "", *, takes_listing: bool = False
    ) -> FetchedPage | None:
        """`admit`, then `ask`."""
        return await self.ask(await self.admit(workspace, page.url), validator, takes_listing=takes_listing)

    async def admit(self, workspace: WorkspaceRef, url: str) -> Target:
        """The target of a page that may be asked for, which counts against the budget from here on. Nothing but the
        site's robots.txt was dialled. Errors: `PolicyRefused` codes ADDRESS_REFUSED, ROBOTS_REFUSED; `BudgetExceeded`.
        """
        target = self.check(url)
        await self._obey_robots(target)
        await self._envelope.reserve(workspace, UsageKind.PAGE, PROVIDER)
        return target

    async def ask(self, target: Target, validator: str = "", *, takes_listing: bool = False) -> FetchedPage | None:
        """The page, which may be kept; None while it has the validator. With `takes_listing` it may be a sitemap or a
        feed, which asks in vain not to be kept, since it is not. Errors: those of the guarded client; `PolicyRefused`
        codes ADDRESS_REFUSED and ROBOTS_REFUSED (of a redirect, which is not followed then), PAGE_NOINDEX;
        `ContentRefused`.
        """
        fetch = self._fetch_listing if takes_listing and not validator else self._fetch
        fetched = await fetch(target.url, validator, self._admit_redirect)
        if fetched is None:
            return None
        try:
            return self._weigh(fetched, takes_listing=takes_listing)
        except AgenticRagError as error:
            note_size(error, len(fetched.body))
            raise

    def _weigh(self, fetched: FetchedPage, *, takes_listing: bool) -> FetchedPage:
        if takes_listing and looks_like_listing(fetched.media_type, fetched.body):
            return fetched
        if fetched.media_type not in TEXT_TYPES:
            raise ContentUnsupported("Pages of this content type cannot be read.", code="FETCH_TYPE")
        if len(fetched.body) > MAX_PAGE_BYTES:
            raise ContentRefused("The page is too large.", code="FETCH_TOO_LARGE")
        if directives_of(fetched).noindex:
            raise PolicyRefused("The page asks not to be kept (noindex).", code="PAGE_NOINDEX")
        return fetched

    def check(self, url: str) -> Target:
        """The target of an address that may be asked. Errors: `PolicyRefused` code ADDRESS_REFUSED."""
        try:
            target = parse_target(url)
        except AddressRefused as refused:
            raise PolicyRefused(f"The address is not allowed: {refused}.", code="ADDRESS_REFUSED") from refused
        self._check_host(target)
        return target

    def _check_host(self, target: Target) -> None:
        if not self._filters.allows(target.host):
            raise PolicyRefused("The address is of a host that is not to be read.", code="ADDRESS_REFUSED")

    async def _admit_redirect(self, target: Target) -> None:
        self._check_host(target)
        await self._obey_robots(target)

    async def _obey_robots(self, target: Target) -> None:
        if not (await self.rules(target)).allows(target.url):
            raise PolicyRefused("The site's robots.txt does not let this page be fetched.", code="ROBOTS_REFUSED")

    async def rules(self, target: Target) -> RobotsRules:
        """The rules of a page's site."""
        return await self._rules.get(f"{target.scheme.value}://{target.authority}")

    async def _load_rules(self, site: str, before: RobotsRules | None) -> RobotsRules:
        """RFC 9309 §2.3.1: without a file all is allowed; a site that cannot tell allows nothing."""
        try:
            return parse_robots((await self._fetch_robots(f"{site}/robots.txt")).body)
        except StatusRefused as error:
            return ALLOW_ALL if 400 <= error.status < 500 and error.status != 429 else CLOSED
        except ContentRefused as error:
            # Something else in the place of the file is no file; one that cannot be read may forbid anything.
            return ALLOW_ALL if error.code == "FETCH_TYPE" else CLOSED
        except (Retryable, PolicyRefused):
            return CLOSED


def directives_of(page: FetchedPage) -> PageDirectives:
    """What a page asks of robots."""
    return read_directives(page.headers.get("x-robots-tag", ""), page.body)


async def read_main_text(parser: Parser, page: FetchedPage) -> str | None:
    """The main text of a page; None of one whose text is made by scripts. Errors: `ParseFailed`, also for a page of
    signs without a word, which would be cut into thousands of chunks.
    """
    name = {"text/plain": "page.txt", "text/markdown": "page.md"}.get(page.media_type, "page.html")
    try:
        text = (await parser.parse(page.body, name, None, is_web_page=True, charset=page.charset)).main_text
    except ParseFailed:
        # A shell has no text at all.
        if not needs_script(page.body, ""):
            raise
        return None
    if needs_script(page.body, text):
        return None
    if _WORD.search(text) is None:
        raise ParseFailed("The page has no words.", code="PARSE_NO_TEXT")
    return text
