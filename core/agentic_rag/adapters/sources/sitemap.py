"""The pages that a site's sitemap lists, as a source of documents. Every byte comes through the guarded client."""

from __future__ import annotations

import posixpath
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from agentic_rag.adapters.web.fetcher import GuardedFetcher
from agentic_rag.ingestion.ports import UNKNOWN_SIZE, Changes, SourceConnector, SourceContent, SourceItem
from agentic_rag.ingestion.sources.listing import MAX_ITEMS, changes_of, require_few
from agentic_rag.ingestion.sources.source import NewSource
from agentic_rag.kernel.errors import InvalidInput, NotFound, PolicyRefused
from agentic_rag.kernel.secret import Secret
from agentic_rag.web.fetch_errors import PageGone
from agentic_rag.web.fetch_policy import TEXT_TYPES, FetchPolicy
from agentic_rag.web.listings import PACKED_TYPES, ListedPage, Listing, ListingKind, ListingRefused, read_listing
from agentic_rag.web.url_policy import AddressRefused, HostList, Target, parse_target

SITEMAP_BYTES = 52_428_800
"""The sitemap protocol's limit of one file (https://www.sitemaps.org/protocol.html)."""
PAGE_BYTES = 10_000_000
SITEMAP_SECONDS = 120.0
PAGE_SECONDS = 30.0
MAX_FILES = 1_000
"""Sitemaps that one index may name."""

XML_TYPES = frozenset({"application/xml", "text/xml", "text/plain", "application/rss+xml"})
_PAGE_SUFFIXES = frozenset({".html", ".htm", ".xhtml", ".md", ".txt"})

MakeFetcher = Callable[[FetchPolicy], GuardedFetcher]


@asynccontextmanager
async def open_sitemap(
    stated: NewSource, secret: Secret | None, make_fetcher: MakeFetcher = GuardedFetcher
) -> AsyncGenerator[SourceConnector]:
    """A sitemap; `make_fetcher` makes the guarded client. Errors: `PolicyRefused` code ADDRESS_REFUSED."""
    try:
        target = parse_target(stated.location)
    except AddressRefused as refused:
        raise _address_error(refused) from refused
    hosts = HostList((target.host,))
    yield SitemapSource(
        target,
        make_fetcher(
            FetchPolicy(hosts, SITEMAP_BYTES, SITEMAP_SECONDS, media_types=XML_TYPES | PACKED_TYPES, unpacks=True)
        ),
        make_fetcher(FetchPolicy(hosts, PAGE_BYTES, PAGE_SECONDS, media_types=TEXT_TYPES)),
    )


class SitemapSource:
    """Implements `ingestion.ports.SourceConnector`. A page's fingerprint is the time of change that the sitemap states,
    else what the page's own server says of it; such a page is asked for each time, with its last validator.
    """

    def __init__(self, sitemap: Target, sitemaps: GuardedFetcher, pages: GuardedFetcher) -> None:
        self._sitemap = sitemap
        self._sitemaps = sitemaps
        self._pages = pages

    @property
    def source_id(self) -> str:
        """`sitemap:` and the address."""
        return f"sitemap:{self._sitemap.url}"

    async def changes(self, known: frozenset[str], cursor: str | None) -> Changes:
        """Every page of the sitemap's host. One entry that may not be asked refuses all."""
        items: dict[str, SourceItem] = {}
        for entry in await self._entries():
            target = self._page_target(entry.address)
            path = _path_of(target)
            items.setdefault(path, SourceItem(path, UNKNOWN_SIZE, entry.changed, target.url))
        return changes_of(known, list(items.values()), (), "")

    async def read(self, item: SourceItem, known: str | None = None) -> SourceContent | None:
        """A page."""
        if item.url is None:
            raise NotFound(f"{item.path} is no page of the sitemap.")
        try:
            page = await self._pages.fetch_if_new(item.url, "" if item.fingerprint else known or "")
        except PageGone as error:
            raise NotFound(f"{item.url} is gone.") from error
        return None if page is None else SourceContent(page.body, item.fingerprint or page.validator)

    async def _entries(self) -> list[ListedPage]:
        """The pages of a sitemap, or of all the sitemaps that an index names. Errors: `InvalidInput` codes
        SOURCE_SITEMAP_INVALID, SOURCE_TOO_MANY_ITEMS.
        """
        listing = await self._load(self._sitemap.url)
        if listing.kind is ListingKind.SITEMAP:
            return list(listing.pages)
        if len(listing.pages) > MAX_FILES:
            require_few(MAX_ITEMS + 1)
        found: list[ListedPage] = []
        for entry in listing.pages:
            inner = await self._load(self._page_target(entry.address).url)
            if inner.kind is not ListingKind.SITEMAP:
                raise _invalid("an index of sitemaps names another index")
            found += inner.pages
            require_few(len(found))
        return found

    async def _load(self, url: str) -> Listing:
        try:
            page = await self._sitemaps.fetch(url)
        except PageGone as error:
            raise InvalidInput(f"There is no sitemap at {url}.", code="SOURCE_NOT_FOUND", path=("source",)) from error
        return parse_sitemap(page.body, page.charset)

    def _page_target(self, address: str) -> Target:
        """Errors: `PolicyRefused` code ADDRESS_REFUSED for an address of another site, or one that is not public."""
        try:
            target = parse_target(address)
        except AddressRefused as refused:
            raise _address_error(refused) from refused
        if target.host != self._sitemap.host:
            raise _address_error("it names a page of another host")
        return target


def parse_sitemap(body: bytes, charset: str = "") -> Listing:
    """A sitemap or an index of sitemaps. Errors: `InvalidInput` codes SOURCE_SITEMAP_INVALID, SOURCE_TOO_MANY_ITEMS."""
    try:
        listing = read_listing(body, charset)
    except ListingRefused as refused:
        if refused.code == "LISTING_TOO_LONG":
            require_few(MAX_ITEMS + 1)
        raise _invalid(str(refused)) from refused
    if listing.kind is ListingKind.FEED:
        raise _invalid("it is a feed, which names only what is new on a site")
    if listing.left_out:
        # Its page would be taken for one that is gone.
        raise _invalid("an entry has no address")
    return listing


def _path_of(target: Target) -> str:
    """The path of a page's document: host and path, with a name that a loader knows."""
    path = f"{target.host}{target.request}"
    if path.endswith("/"):
        return f"{path}index.html"
    return path if posixpath.splitext(path)[1].lower() in _PAGE_SUFFIXES else f"{path}.html"


def _invalid(reason: str) -> InvalidInput:
    return InvalidInput(
        f"The sitemap cannot be read: {reason}. Nothing was changed.", code="SOURCE_SITEMAP_INVALID", path=("source",)
    )


def _address_error(reason: object) -> PolicyRefused:
    return PolicyRefused(
        f"The sitemap names an address that may not be asked: {reason}. Nothing was changed.", code="ADDRESS_REFUSED"
    )
