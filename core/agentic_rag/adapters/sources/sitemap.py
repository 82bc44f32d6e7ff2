"""The pages that a site's sitemap lists, as a source of documents. Every byte comes through the guarded client."""

from __future__ import annotations

import posixpath
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from xml.etree import ElementTree

from agentic_rag.adapters.web.fetcher import GuardedFetcher
from agentic_rag.ingestion.ports import UNKNOWN_SIZE, Changes, SourceConnector, SourceContent, SourceItem
from agentic_rag.ingestion.sources.listing import MAX_ITEMS, changes_of, require_few
from agentic_rag.ingestion.sources.source import NewSource
from agentic_rag.kernel.errors import InvalidInput, NotFound, PolicyRefused
from agentic_rag.kernel.secret import Secret
from agentic_rag.web.fetch_errors import PageGone
from agentic_rag.web.fetch_policy import TEXT_TYPES, FetchPolicy
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
        make_fetcher(FetchPolicy(hosts, SITEMAP_BYTES, SITEMAP_SECONDS, media_types=XML_TYPES)),
        make_fetcher(FetchPolicy(hosts, PAGE_BYTES, PAGE_SECONDS, media_types=TEXT_TYPES)),
    )


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """An entry of a sitemap, or of an index of sitemaps."""

    address: str
    changed: str


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

    async def _entries(self) -> list[SitemapEntry]:
        """The pages of a sitemap, or of all the sitemaps that an index names. Errors: `InvalidInput` codes
        SOURCE_SITEMAP_INVALID, SOURCE_TOO_MANY_ITEMS.
        """
        kind, entries = await self._load(self._sitemap.url)
        if kind == "urlset":
            return entries
        if len(entries) > MAX_FILES:
            require_few(MAX_ITEMS + 1)
        found: list[SitemapEntry] = []
        for entry in entries:
            inner, listed = await self._load(self._page_target(entry.address).url)
            if inner != "urlset":
                raise _invalid("an index of sitemaps names another index")
            found += listed
            require_few(len(found))
        return found

    async def _load(self, url: str) -> tuple[str, list[SitemapEntry]]:
        try:
            page = await self._sitemaps.fetch(url)
        except PageGone as error:
            raise InvalidInput(f"There is no sitemap at {url}.", code="SOURCE_NOT_FOUND", path=("source",)) from error
        return parse_sitemap(page.body)

    def _page_target(self, address: str) -> Target:
        """Errors: `PolicyRefused` code ADDRESS_REFUSED for an address of another site, or one that is not public."""
        try:
            target = parse_target(address)
        except AddressRefused as refused:
            raise _address_error(refused) from refused
        if target.host != self._sitemap.host:
            raise _address_error("it names a page of another host")
        return target


def parse_sitemap(body: bytes) -> tuple[str, list[SitemapEntry]]:
    """The name of the root (`urlset` or `sitemapindex`) and the entries. Errors: `InvalidInput` codes
    SOURCE_SITEMAP_INVALID, SOURCE_TOO_MANY_ITEMS.
    """
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise _invalid("it declares entities")
    try:
        root = ElementTree.fromstring(body)  # noqa: S314 - without declarations there is nothing to expand
    except ElementTree.ParseError as error:
        raise _invalid(f"it is not well-formed, line {error.position[0]}") from error
    kind = _bare(root.tag)
    if kind not in ("urlset", "sitemapindex"):
        raise _invalid(f"its root is {kind[:40]!r}")
    require_few(len(root))
    entries: list[SitemapEntry] = []
    for node in root:
        stated = {_bare(child.tag): (child.text or "").strip() for child in node}
        if not stated.get("loc"):
            raise _invalid("an entry has no address")
        entries.append(SitemapEntry(stated["loc"], stated.get("lastmod", "")))
    return kind, entries


def _bare(tag: str) -> str:
    return tag.rpartition("}")[2]


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
