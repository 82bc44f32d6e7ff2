"""Sitemaps and feeds (RSS, Atom): files that name the pages of a site, read as a stream."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from xml.etree import ElementTree

MAX_LISTED = 50_000
"""Entries of one file, as the sitemap protocol allows (https://www.sitemaps.org/protocol.html)."""
MAX_LISTING_BYTES = 10_000_000
"""Of a sitemap or feed that a crawl begins at."""
LISTING_SECONDS = 30.0
LISTING_TYPES = frozenset(
    {"application/xml", "text/xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml"}
)
"""Media types that a server may give them, beside those of texts."""
_DEEPEST = 32
_LONGEST_VALUE = 4_096
_BEGINNING = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}>\s*|<!--.{0,2000}?-->\s*|<\?xml-stylesheet[^>]{0,500}>\s*)*"
    rb"<(?:\w+:)?(?:urlset|sitemapindex|rss|feed|RDF)\b",
    re.DOTALL,
)


class ListingKind(enum.Enum):
    """What a file lists."""

    SITEMAP = "sitemap"
    INDEX = "index"
    """Sitemaps."""
    FEED = "feed"


_ROOTS: Mapping[str, ListingKind] = MappingProxyType(
    {
        "urlset": ListingKind.SITEMAP,
        "sitemapindex": ListingKind.INDEX,
        "rss": ListingKind.FEED,
        "feed": ListingKind.FEED,
        "RDF": ListingKind.FEED,
    }
)
_ENTRIES = frozenset({"url", "sitemap", "item", "entry"})
_ADDRESSES = frozenset({"loc", "link"})
_TIMES = frozenset({"lastmod", "pubDate", "updated"})


@dataclass(frozen=True, slots=True)
class ListedPage:
    """An entry; `changed` is the time of its last change as the file states it."""

    address: str
    changed: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """A file that was read."""

    kind: ListingKind
    pages: tuple[ListedPage, ...]


class ListingRefused(ValueError):
    """A file that cannot be read: `code` is LISTING_INVALID or LISTING_TOO_LONG."""

    def __init__(self, reason: str, code: str = "LISTING_INVALID") -> None:
        super().__init__(reason)
        self.code = code


def looks_like_listing(media_type: str, body: bytes) -> bool:
    """Whether a response is a sitemap or a feed, whatever type its server gives it."""
    return media_type in LISTING_TYPES or _BEGINNING.match(body[:8_192]) is not None


def read_listing(body: bytes) -> Listing:
    """The pages that a file names. Entries of a feed without an address are left out. Errors: `ListingRefused`."""
    plain = body.replace(b"\0", b"")  # UTF-16 has one beside each letter.
    if b"<!DOCTYPE" in plain or b"<!ENTITY" in plain:
        raise ListingRefused("it declares entities")
    reader = _Reader()
    parser = ElementTree.XMLParser(target=reader)  # noqa: S314 - without declarations there is nothing to expand
    try:
        parser.feed(body)
        parser.close()
    except ElementTree.ParseError as error:
        raise ListingRefused(f"it is not well-formed, line {error.position[0]}") from error
    if reader.kind is None:
        raise ListingRefused("it is empty")
    return Listing(reader.kind, tuple(reader.pages))


@dataclass(slots=True)
class _Reader:
    """What the parser calls. It keeps one entry, and no tree."""

    kind: ListingKind | None = None
    pages: list[ListedPage] = field(default_factory=list[ListedPage])
    _depth: int = 0
    _entry: int = 0
    """The depth of the open entry; 0 outside of one."""
    _stated: dict[str, str] = field(default_factory=dict[str, str])
    _open: str = ""
    _text: list[str] = field(default_factory=list[str])
    _length: int = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2]
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ListingRefused("its elements are nested too deeply")
        if self._depth == 1:
            self.kind = _ROOTS.get(name)
            if self.kind is None:
                raise ListingRefused(f"its root is {name[:40]!r}")
        elif not self._entry and name in _ENTRIES:
            self._entry = self._depth
            self._stated = {}
        elif self._entry and self._depth == self._entry + 1:
            self._begin(name, attributes)

    def _begin(self, name: str, attributes: Mapping[str, str]) -> None:
        self._open = "address" if name in _ADDRESSES else "changed" if name in _TIMES else ""
        self._text, self._length = [], 0
        address = attributes.get("href")
        if name == "link" and address and attributes.get("rel", "alternate") == "alternate":
            self._stated.setdefault("address", address.strip())

    def data(self, text: str) -> None:
        if self._open and self._length < _LONGEST_VALUE:
            self._text.append(text)
            self._length += len(text)

    def end(self, tag: str) -> None:
        if self._entry and self._depth == self._entry + 1 and self._open:
            if value := "".join(self._text).strip():
                self._stated.setdefault(self._open, value)
            self._open = ""
        elif self._depth == self._entry:
            self._close_entry()
        self._depth -= 1

    def _close_entry(self) -> None:
        self._entry = 0
        address = self._stated.get("address", "")
        if not address:
            if self.kind is not ListingKind.FEED:
                raise ListingRefused("an entry has no address")
            return
        if len(self.pages) == MAX_LISTED:
            raise ListingRefused(f"it has more than {MAX_LISTED:,} entries", "LISTING_TOO_LONG")
        self.pages.append(ListedPage(address, self._stated.get("changed", "")))

    def close(self) -> None:
        """Nothing is left."""
