"""Sitemaps and feeds: files that name the pages of a site, read as a stream.

Sitemaps and indexes of them (sitemaps.org) as XML, sitemaps as a text with an address a line; RSS 0.9 to 2.0, Atom 0.3
and 1.0, CDF.
"""

from __future__ import annotations

import codecs
import enum
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import urljoin
from xml.parsers import expat

from agentic_rag.web.encodings import ENCODINGS, WIDE_STARTS, encoding_by_mark
from agentic_rag.web.fetch_policy import TEXT_TYPES

MAX_LISTED = 50_000
"""Entries of one file, as the sitemap protocol allows (https://www.sitemaps.org/protocol.html)."""
MAX_LISTING_BYTES = 10_000_000
"""Of a sitemap or feed that a crawl begins at, also after decompression."""
LISTING_SECONDS = 30.0
LISTING_TYPES = frozenset(
    {
        "application/xml",
        "text/xml",
        "application/rss+xml",
        "application/atom+xml",
        "application/rdf+xml",
        "application/x-cdf",
    }
)
"""Media types that a server may give them, beside those of texts."""
PACKED_TYPES = frozenset({"application/gzip", "application/x-gzip", "application/octet-stream", "binary/octet-stream"})
"""Those of packed ones."""
_TYPES_OF_LINES = PACKED_TYPES | {"text/plain"}
_DEEPEST = 32
_LONGEST_VALUE = 4_096
_HEAD = 8_192
_PROLOGUE = re.compile(rb"\s*(?:<!--|<\?[^>]{0,500}>|<!DOCTYPE[^>\[]{0,500}>)", re.IGNORECASE)
_ROOT = re.compile(rb"\s*<(?:\w+:)?(?:urlset|sitemapindex|rss|feed|RDF|channel)\b", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
_LOOSE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-f]{1,6});)", re.IGNORECASE)
"""An ampersand that begins no reference that XML knows."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""What XML has no place for."""
_SECTION = "<![CDATA["
_BASE = "http://www.w3.org/XML/1998/namespace}base"
_ABOUT = "http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"

_DECLARED = re.compile(rb"""\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")


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
        "rdf": ListingKind.FEED,
        "channel": ListingKind.FEED,
    }
)
_ENTRIES: Mapping[ListingKind, frozenset[str]] = MappingProxyType(
    {
        ListingKind.SITEMAP: frozenset({"url"}),
        ListingKind.INDEX: frozenset({"sitemap"}),
        ListingKind.FEED: frozenset({"item", "entry"}),
    }
)
_TIMES = frozenset({"lastmod", "pubdate", "updated"})


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
    left_out: int = 0
    """Entries without an address."""


class ListingRefused(ValueError):
    """A file that cannot be read: `code` is LISTING_INVALID or LISTING_TOO_LONG."""

    def __init__(self, reason: str, code: str = "LISTING_INVALID") -> None:
        super().__init__(reason)
        self.code = code


def looks_like_listing(media_type: str, body: bytes) -> bool:
    """Whether a response is a sitemap or a feed, whatever type its server gives it."""
    if media_type in LISTING_TYPES:
        return True
    # Roots and addresses are letters of one byte, in whatever encoding.
    head = body[:_HEAD].lstrip(b"\xef\xbb\xbf\xff\xfe").replace(b"\0", b"")
    return _has_root(head) or (media_type in _TYPES_OF_LINES and _names_addresses(head, is_whole=len(body) <= _HEAD))


def _has_root(head: bytes) -> bool:
    """In one pass: a pattern tries to end each comment at the end of each further one."""
    at = 0
    while (found := _PROLOGUE.match(head, at)) is not None:
        at = found.end()
        if found[0].endswith(b"<!--"):
            at = head.find(b"-->", at) + 3
            if at < 3:
                return False
    return _ROOT.match(head, at) is not None


def _names_addresses(head: bytes, *, is_whole: bool) -> bool:
    """Whether each line is an address; the last one may be cut off."""
    lines = [line.strip() for line in head.decode("utf-8", "replace").splitlines()]
    said = [line for line in (lines if is_whole else lines[:-1]) if line]
    return bool(said) and all(_ADDRESS.fullmatch(line) is not None for line in said)


def read_listing(body: bytes, charset: str = "") -> Listing:
    """The pages that a file names. Entries without an address are left out, but a sitemap of nothing else is refused.
    `charset` is what its server states. Errors: `ListingRefused`.
    """
    # XML allows no room before its declaration, and no control characters; listings have both all the same.
    text = _CONTROLS.sub(" ", _decode(body, charset)).lstrip()
    if not text.startswith("<") and _ADDRESS.match(text) is not None:
        return _read_lines(text)
    try:
        reader = _parse(text)
    except expat.ExpatError as error:
        try:
            reader = _parse(_escape_ampersands(text))
        except expat.ExpatError:
            raise ListingRefused(f"it is not well-formed, line {error.lineno}") from error
    if reader.kind is None:
        raise ListingRefused("it is empty")
    if reader.left_out and not reader.pages and reader.kind is not ListingKind.FEED:
        raise ListingRefused("its entries have no address")
    return Listing(reader.kind, tuple(reader.pages), reader.left_out)


def _read_lines(text: str) -> Listing:
    """A sitemap that is a text; lines that are no address are passed over."""
    named = [line.strip() for line in text.splitlines()]
    pages = [ListedPage(line) for line in named if _ADDRESS.fullmatch(line) is not None]
    if len(pages) > MAX_LISTED:
        raise _too_long()
    return Listing(ListingKind.SITEMAP, tuple(pages))


def _parse(text: str) -> _Reader:
    """Errors: `ExpatError`, `ListingRefused`."""
    reader = _Reader()
    parser = expat.ParserCreate("utf-8", "}")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    parser.StartDoctypeDeclHandler = _refuse_declarations
    parser.Parse(text.encode("utf-8", "replace"), True)
    return reader


def _escape_ampersands(text: str) -> str:
    """Those of HTML's names and of addresses that were written as they are; sections are as they should be."""
    first, *others = text.split(_SECTION)
    pieces = [_LOOSE.sub("&amp;", first)]
    for piece in others:
        inside, end, after = piece.partition("]]>")
        pieces.append(f"{_SECTION}{inside}{end}{_LOOSE.sub('&amp;', after)}")
    return "".join(pieces)


def _refuse_declarations(_name: str, _system: str | None, _public: str | None, has_internal_subset: bool) -> None:
    """RSS 0.91 names a file of declarations, which nobody reads; one with its own may declare entities."""
    if has_internal_subset:
        raise ListingRefused("it declares entities")


def _too_long() -> ListingRefused:
    return ListingRefused(f"it has more than {MAX_LISTED:,} entries", "LISTING_TOO_LONG")


def _decode(body: bytes, charset: str) -> str:
    """The text by its byte order mark, else what the server states (RFC 7303), else what the file states, else UTF-8:
    the first that fits. The XML parser by itself knows no encoding of several bytes but Unicode's.
    """
    marked = encoding_by_mark(body)
    if marked is not None:
        return _fitting(body, (marked,))
    declared = _DECLARED.match(body[:200].replace(b"\0", b""))
    stated = "" if declared is None else declared[1].decode("ascii")
    wide = [encoding for start, encoding in WIDE_STARTS if body.startswith(start)]
    return _fitting(body, wide or (charset, stated, "utf-8"))


def _fitting(body: bytes, encodings: Sequence[str]) -> str:
    for name in encodings:
        try:
            if codecs.lookup(name).name in ENCODINGS:
                return body.decode(name)
        except (LookupError, UnicodeDecodeError, ValueError):
            continue
    raise ListingRefused(f"its bytes are not {' or '.join(repr(one[:40]) for one in encodings if one)}")


@dataclass(slots=True)
class _Reader:
    """What the parser calls. It keeps one entry, and no tree."""

    kind: ListingKind | None = None
    pages: list[ListedPage] = field(default_factory=list[ListedPage])
    left_out: int = 0
    """Entries without an address."""
    _depth: int = 0
    _entry: int = 0
    """The depth of the open entry; 0 outside of one."""
    _stated: dict[str, str] = field(default_factory=dict[str, str])
    _open: str = ""
    _text: list[str] = field(default_factory=list[str])
    _length: int = 0
    _bases: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """What relative addresses begin with (`xml:base`), each with the depth of its element."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2].lower()
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ListingRefused("its elements are nested too deeply")
        if _BASE in attributes:
            self._bases.append((self._depth, self._resolve(attributes[_BASE])))
        if self._depth == 1:
            self.kind = _ROOTS.get(name)
            if self.kind is None:
                raise ListingRefused(f"its root is {name[:40]!r}")
        elif not self._entry and self.kind is not None and name in _ENTRIES[self.kind]:
            self._entry = self._depth
            self._stated = {}
            self._note("fallback", attributes.get(_ABOUT, ""))
            self._note("address", _attribute(attributes, "href"))
        elif self._entry and self._depth == self._entry + 1:
            self._begin(name, attributes)

    def _begin(self, name: str, attributes: Mapping[str, str]) -> None:
        self._open = self._role(name, attributes)
        self._text, self._length = [], 0
        if self.kind is ListingKind.FEED and name == "link" and attributes.get("rel", "alternate") == "alternate":
            media_type = attributes.get("type", "").partition(";")[0].strip().lower()
            role = "address" if not media_type or media_type in TEXT_TYPES else "other"
            self._note(role, attributes.get("href", ""))

    def _role(self, name: str, attributes: Mapping[str, str]) -> str:
        """What an element of an entry says."""
        if name in _TIMES:
            return "changed"
        if self.kind is not ListingKind.FEED:
            return "address" if name == "loc" else ""
        if name == "guid":
            return "fallback" if attributes.get("isPermaLink", "true").lower() == "true" else ""
        return "address" if name == "link" else ""

    def _note(self, role: str, value: str) -> None:
        """The first that is no empty one."""
        if value := value.strip():
            self._stated.setdefault(role, value if role == "changed" else self._resolve(value))

    def _resolve(self, address: str) -> str:
        try:
            return urljoin(self._bases[-1][1], address.strip()) if self._bases else address.strip()
        except ValueError:
            return address.strip()

    def data(self, text: str) -> None:
        if self._open and self._length < _LONGEST_VALUE:
            self._text.append(text)
            self._length += len(text)

    def end(self, _: str) -> None:
        if self._entry and self._depth == self._entry + 1 and self._open:
            self._note(self._open, "".join(self._text))
            self._open = ""
        elif self._depth == self._entry:
            self._close_entry()
        if self._bases and self._bases[-1][0] == self._depth:
            self._bases.pop()
        self._depth -= 1

    def _close_entry(self) -> None:
        self._entry = 0
        fallback = self._stated.get("fallback", "")
        permalink = fallback if _ADDRESS.fullmatch(fallback) is not None else ""
        address = self._stated.get("address") or self._stated.get("other") or permalink
        if not address:
            self.left_out += 1
            return
        if len(self.pages) == MAX_LISTED:
            raise _too_long()
        self.pages.append(ListedPage(address, self._stated.get("changed", "")))


def _attribute(attributes: Mapping[str, str], name: str) -> str:
    """In whatever case: CDF is written in capitals."""
    return next((value for key, value in attributes.items() if key.lower() == name), "")
