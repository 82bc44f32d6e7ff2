"""EPUB: the chapters in reading order, each read as HTML."""

from __future__ import annotations

import html
import re
from posixpath import dirname, normpath
from urllib.parse import unquote

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders.html import read_page_bytes
from agentic_rag.adapters.parsing.office.package import Package, open_package, zip_parts
from agentic_rag.adapters.parsing.pictures import is_large
from agentic_rag.adapters.parsing.text.svg import is_svg, read_svg
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder, first_heading
from agentic_rag.adapters.parsing.unread import PICTURE, none_of, with_unread
from agentic_rag.kernel.errors import ParseFailed

_CONTAINER = "META-INF/container.xml"
_BOOK = "{http://www.idpf.org/2007/opf}"
_SHOWN = re.compile(rb"""<(?:img|(?:\w+:)?image)\b[^>]*?\b(?:src|href)\s*=\s*["']([^"']+)""", re.IGNORECASE)
_PAGES = frozenset({"application/xhtml+xml", "text/html", "image/svg+xml"})
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


def load(source: SourceFile) -> LoadedText:
    """The text of a book. Errors: `ParseFailed` codes PARSE_TOO_LARGE, PARSE_CORRUPT, PARSE_ENCRYPTED."""
    built = TextBuilder()
    with open_package(source.content, source.limits, "EPUB", doctype=True) as package:
        book = _book(package)
        locked = _locked(package)
        shown: set[str] = set()
        read: dict[str, tuple[str, bool]] = {}
        for part in _chapters(package, book):
            if part in locked:
                raise ParseFailed("the book is protected against copying; it cannot be read", code="PARSE_ENCRYPTED")
            built.append(read_page_bytes(package.read(part), describes_pictures=True))
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
    return with_unread(loaded, none_of(pictures, PICTURE))


def _book(package: Package) -> str:
    for one in package.tree(_CONTAINER).iter():
        if one.tag.endswith("}rootfile") and (path := one.get("full-path")):
            return path
    raise ParseFailed("the EPUB is damaged: it names no book", code="PARSE_CORRUPT")


def _chapters(package: Package, book: str) -> list[str]:
    tree = package.tree(book)
    items = {item.get("id"): item for item in tree.iter(f"{_BOOK}item")}
    found: list[str] = []
    for reference in tree.iter(f"{_BOOK}itemref"):
        item = items.get(reference.get("idref"))
        if item is not None and item.get("media-type") in _PAGES:
            part = normpath(f"{dirname(book)}/{unquote(item.get('href', ''))}".lstrip("/"))
            if part in package.names:
                found.append(part)
    return found


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


def _locked(package: Package) -> frozenset[str]:
    """The parts that are encrypted; fonts often are."""
    if "META-INF/encryption.xml" not in package.names:
        return frozenset()
    tree = package.tree("META-INF/encryption.xml")
    return frozenset(unquote(one.get("URI", "")) for one in tree.iter() if one.tag.endswith("}CipherReference"))
