"""Sitemaps and feeds (RSS, Atom): files that name the pages of a site, read as a stream."""

from __future__ import annotations

import codecs
import enum
import re
from collections.abc import Mapping, Sequence
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

_DECLARED = re.compile(rb"""\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_MARKS = (
    # UTF-32 first: its little-endian mark begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDE_STARTS = (
    (b"<\0\0\0", "utf-32-le"), (b"\0\0\0<", "utf-32-be"), (b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"),
)  # fmt: skip
_ENCODINGS = frozenset(
    codecs.lookup(name).name
    for name in (
        "ascii utf-8 utf-8-sig utf-16 utf-16-le utf-16-be utf-32 utf-32-le utf-32-be shift_jis cp932 euc-jp iso2022-jp "
        "gb2312 gbk gb18030 big5 big5hkscs euc-kr cp949 koi8-r koi8-u cp866 cp437 cp850 cp874 mac-roman mac-cyrillic "
        + " ".join(f"cp{1250 + number}" for number in range(9))
        + " "
        + " ".join(f"iso8859-{number}" for number in (*range(1, 12), *range(13, 17)))
    ).split()
)
"""Those of texts: Python has others, some of which take long to read."""


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


def read_listing(body: bytes, charset: str = "") -> Listing:
    """The pages that a file names. Entries of a feed without an address are left out. `charset` is what its server
    states. Errors: `ListingRefused`.
    """
    text = _decode(body, charset)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ListingRefused("it declares entities")
    reader = _Reader()
    parser = ElementTree.XMLParser(  # noqa: S314 - without declarations there is nothing to expand
        target=reader, encoding="utf-8"
    )
    try:
        parser.feed(text.encode("utf-8", "replace"))
        parser.close()
    except ElementTree.ParseError as error:
        raise ListingRefused(f"it is not well-formed, line {error.position[0]}") from error
    if reader.kind is None:
        raise ListingRefused("it is empty")
    return Listing(reader.kind, tuple(reader.pages))


def _decode(body: bytes, charset: str) -> str:
    """The text by its byte order mark, else what the server states (RFC 7303), else what the file states, else UTF-8:
    the first that fits. The XML parser by itself knows no encoding of several bytes but Unicode's.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return _fitting(body, (encoding,))
    declared = _DECLARED.match(body[:200].replace(b"\0", b""))
    stated = "" if declared is None else declared[1].decode("ascii")
    wide = [encoding for start, encoding in _WIDE_STARTS if body.startswith(start)]
    return _fitting(body, wide or (charset, stated, "utf-8"))


def _fitting(body: bytes, encodings: Sequence[str]) -> str:
    for name in encodings:
        try:
            if codecs.lookup(name).name in _ENCODINGS:
                return body.decode(name)
        except (LookupError, UnicodeDecodeError, ValueError):
            continue
    raise ListingRefused(f"its bytes are not {' or '.join(repr(one[:40]) for one in encodings if one)}")


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
