"""EPUB: the chapters in reading order, each read as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from posixpath import dirname, normpath
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders.html import decoded, read_html
from agentic_rag.adapters.parsing.office.package import Package, open_package, zip_parts
from agentic_rag.adapters.parsing.pictures import is_large
from agentic_rag.adapters.parsing.text.svg import is_svg, read_svg
from agentic_rag.adapters.parsing.text.xhtml import as_html
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder, first_heading
from agentic_rag.adapters.parsing.unread import FILE, PICTURE, UnreadParts, none_of, with_unread
from agentic_rag.kernel.errors import ParseFailed

_CONTAINER = "META-INF/container.xml"
_BOOK = "{http://www.idpf.org/2007/opf}"
_SHOWN = re.compile(rb"""<(?:img|(?:\w+:)?image)\b[^>]*?\b(?:src|href)\s*=\s*["']([^"']+)""", re.IGNORECASE)
_PAGES = frozenset({
    "application/xhtml+xml", "text/html", "image/svg+xml", "application/x-dtbook+xml", "text/x-oeb1-document",
})  # fmt: skip
SAMPLE = zip_parts(
    {
        "mimetype": "application/epub+zip",
        _CONTAINER: (
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'
        ),
        "b.opf": (
            '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" '
            'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'
        ),
        "a.xhtml": "<html><body><p>warm</p></body></html>",
    }
)


@dataclass(frozen=True, slots=True)
class _Chapters:
    """The parts of a book that are read, in order. Of the `places` that its reading order names those with these
    numbers, from 1, hold nothing that can be read.
    """

    parts: Sequence[str]
    places: int
    empty: Sequence[int]


def load(source: SourceFile) -> LoadedText:
    """The text of a book; chapters that are missing or no pages are told as unread.

    Errors: `ParseFailed` codes PARSE_TOO_LARGE, PARSE_CORRUPT, PARSE_ENCRYPTED.
    """
    built = TextBuilder()
    with open_package(source.content, source.limits, "EPUB", doctype=True) as package:
        book = _book(package)
        locked = _cipher_parts(package)
        shown: set[str] = set()
        read: dict[str, tuple[str, bool]] = {}
        chapters = _chapters(package, book)
        for part in chapters.parts:
            if part in locked:
                raise ParseFailed("the book is protected against copying; it cannot be read", code="PARSE_ENCRYPTED")
            built.append(read_html(as_html(decoded(package.read(part))), describes_pictures=True))
            shown |= (own := _pictures(package, part))
            drawings = {one: read_svg(held) for one in sorted(own) if is_svg(held := package.read(one))}
            built.add_section("", [line for line, _ in drawings.values()])
            read.update(drawings)
            source.limits.require_characters(built.length)
        title = package.title(book)
        shown -= _covers(package, book)
        pictures = sum(read[part][1] if part in read else is_large(package.read(part)) for part in shown)
    text = built.text()
    loaded = LoadedText(text, tuple(built.blocks), title=title or first_heading(text, built.blocks))
    return with_unread(loaded, UnreadParts(chapters.empty, chapters.places, FILE), none_of(pictures, PICTURE))


def _book(package: Package) -> str:
    for one in package.tree(_CONTAINER).iter():
        if one.tag.endswith("}rootfile") and (path := one.get("full-path")):
            return path
    raise ParseFailed("the EPUB is damaged: it names no book", code="PARSE_CORRUPT")


def _chapters(package: Package, book: str) -> _Chapters:
    """The chapters in reading order, behind them pages that the book holds beside it (notes that chapters link to)."""
    tree = package.tree(book)
    items = {item.get("id"): item for item in tree.iter(f"{_BOOK}item")}
    names = {name.casefold(): name for name in package.names}

    def part_of(item: Element) -> str | None:
        part = normpath(f"{dirname(book)}/{unquote(item.get('href', ''))}".lstrip("/"))
        return part if part in package.names else names.get(part.casefold())

    found: dict[str, None] = {}
    empty: list[int] = []
    passed: set[str | None] = set()
    number = 0
    for number, reference in enumerate(tree.iter(f"{_BOOK}itemref"), 1):
        wanted = reference.get("idref")
        while (item := items.get(wanted)) is not None and item.get("media-type") not in _PAGES:
            passed.add(wanted)
            wanted = item.get("fallback")
            if wanted in passed:
                item = None
                break
        passed.add(wanted)
        part = None if item is None else part_of(item)
        if part is None:
            empty.append(number)
        else:
            found[part] = None
    for name, item in items.items():
        is_page = item.get("media-type") in _PAGES - {"image/svg+xml"}
        if is_page and name not in passed and "nav" not in (item.get("properties") or "").split():
            found.update({part: None for part in filter(None, [part_of(item)])})
    return _Chapters(tuple(found), number, empty)


def _pictures(package: Package, chapter: str) -> set[str]:
    """The pictures that a chapter shows."""
    found: set[str] = set()
    for shown in _SHOWN.finditer(package.read(chapter)):
        address = html.unescape(shown[1].decode("utf-8", "replace"))
        found.add(normpath(f"{dirname(chapter)}/{unquote(address)}".lstrip("/")))
    return found & package.names


def _covers(package: Package, book: str) -> set[str]:
    """The pictures that the book names as its cover (EPUB 3.3, D.3; EPUB 2 by a `meta`)."""
    tree = package.tree(book)
    named = {one.get("content", "") for one in tree.iter(f"{_BOOK}meta") if one.get("name") == "cover"}
    return {
        normpath(f"{dirname(book)}/{unquote(item.get('href', ''))}".lstrip("/"))
        for item in tree.iter(f"{_BOOK}item")
        if "cover-image" in (item.get("properties") or "").split() or item.get("id") in named
    }


def _cipher_parts(package: Package) -> frozenset[str]:
    """The parts that are encrypted; fonts often are."""
    if "META-INF/encryption.xml" not in package.names:
        return frozenset()
    tree = package.tree("META-INF/encryption.xml")
    return frozenset(unquote(one.get("URI", "")) for one in tree.iter() if one.tag.endswith("}CipherReference"))
