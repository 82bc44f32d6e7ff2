"""HTML: the main content of a page, or all its readable text where it is part of another file."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.pages.choose_content import choose_content
from agentic_rag.adapters.parsing.pages.trace_page import trace_page
from agentic_rag.adapters.parsing.text.encoding import decode_page
from agentic_rag.adapters.parsing.text.page_content import read_page
from agentic_rag.adapters.parsing.text.page_walker import PageWalker, read_content
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder
from agentic_rag.kernel.text import strip_unstorable

SAMPLE = b"<p>warm</p>"


def load(source: SourceFile) -> LoadedText:
    """Read the main content of a page."""
    return read_main_content(decoded(source.content))


def read_page_bytes(content: bytes, *, describes_pictures: bool = False) -> LoadedText:
    """All of a page in the code page that it states; `describes_pictures` is that of `read_html`.

    Errors: `ParseFailed` code PARSE_ENCODING.
    """
    return read_html(decoded(content), describes_pictures=describes_pictures)


def read_html(source: str, *, describes_pictures: bool = False) -> LoadedText:
    """Readable text and blocks of a page; the title is its <title>, else its first heading. `describes_pictures` reads
    their alternative texts: those of web pages repeat what stands beside them.
    """
    return read_content(read_page(source), PageWalker(describes_pictures=describes_pictures))


def read_main_content(source: str) -> LoadedText:
    """As `read_html`, without the blocks that are furniture."""
    traced = trace_page(source)
    page = traced.loaded
    kept = choose_content(page.blocks, traced.signs, traced.words(), traced.links())
    built = TextBuilder()
    for block, keeps in zip(page.blocks, kept, strict=True):
        if keeps:
            built.add(block.kind, page.text[block.start : block.end], block.level)
    return replace(page, text=built.text(), blocks=tuple(built.blocks), published=traced.facts.published)


def decoded(content: bytes) -> str:
    """A page as text with line feeds as line breaks. Errors: `ParseFailed` code PARSE_ENCODING."""
    return strip_unstorable(decode_page(content)).replace("\r\n", "\n").replace("\r", "\n")
