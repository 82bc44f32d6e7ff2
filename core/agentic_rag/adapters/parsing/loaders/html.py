"""HTML: a file as a whole, and of a page of the web the main content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.pages.choose_content import choose_content
from agentic_rag.adapters.parsing.pages.trace_page import trace_page
from agentic_rag.adapters.parsing.text.encoding import decode_page
from agentic_rag.adapters.parsing.text.misreading import decode_once
from agentic_rag.adapters.parsing.text.page_content import read_page
from agentic_rag.adapters.parsing.text.page_walker import PageWalker, read_asides, read_content
from agentic_rag.adapters.parsing.text.xhtml import as_html
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.text import strip_unstorable

SAMPLE = b"<p>warm</p>"
_XML = "<?xml"


def load(source: SourceFile) -> LoadedText:
    """Read a page. What is left out of it stands at the end of its text."""
    page = decoded(source.content, source.charset)
    if page.lstrip("\ufeff \n\t").startswith(_XML):
        page = as_html(page)
    return read_main_content(page) if source.is_web_page else read_whole(page)


def read_html(source: str, *, describes_pictures: bool = False) -> LoadedText:
    """Readable text and blocks of a page; the title is its <title>, else its first heading. `describes_pictures` reads
    their alternative texts: those of web pages repeat what stands beside them.
    """
    return read_content(read_page(source), PageWalker(describes_pictures=describes_pictures))


def read_whole(source: str) -> LoadedText:
    """As `read_html`, with what the page hides, and what it has beside its one main part, as asides."""
    page = read_page(source, is_saved=True)
    whole = replace(read_content(page, PageWalker(describes_pictures=False)), published=page.facts.published)
    return _set_aside(whole, [True] * len(whole.blocks), read_asides(page))


def read_main_content(source: str) -> LoadedText:
    """As `read_whole`, with the blocks that are furniture as asides too."""
    traced = trace_page(source)
    page = traced.loaded
    kept = choose_content(page.blocks, traced.signs, traced.words(), traced.links(), traced.parents())
    return _set_aside(replace(page, published=traced.facts.published), kept, traced.asides)


def _set_aside(page: LoadedText, kept: Sequence[bool], asides: Sequence[str]) -> LoadedText:
    """The blocks that are kept, then the others and `asides`."""
    if all(kept) and not asides:
        return page
    built, others = TextBuilder(), list[str]()
    for block, keeps in zip(page.blocks, kept, strict=True):
        text = page.text[block.start : block.end]
        if keeps:
            built.add(block.kind, text, block.level)
        else:
            others.append(text)
    for one in (*others, *asides):
        built.add(BlockKind.ASIDE, one)
    return replace(page, text=built.text(), blocks=tuple(built.blocks))


def decoded(content: bytes, charset: str = "") -> str:
    """A page as text with line feeds as line breaks; `charset` is that of `SourceFile`. Errors: `ParseFailed` code
    PARSE_ENCODING.
    """
    return strip_unstorable(decode_once(decode_page(content, charset))).replace("\r\n", "\n").replace("\r", "\n")
