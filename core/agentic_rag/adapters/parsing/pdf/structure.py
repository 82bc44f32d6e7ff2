"""The text of a PDF's pages, and its blocks: headings, paragraphs, and the running lines, which stand at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from agentic_rag.adapters.parsing.pdf.outline import OutlineEntry, heading_levels, larger_sizes
from agentic_rag.adapters.parsing.pdf.page_words import PageLine, PdfPage
from agentic_rag.adapters.parsing.pdf.running_lines import running_lines
from agentic_rag.documents.document import Block, BlockKind, PageSpan

PAGE_JOIN = "\n\n"
_SENTENCE_END = re.compile(r"""[.!?:]["'”’)\]]{0,2}$""")
_SHORT_OF_LONGEST = 0.8
"""A line that ends a sentence before this share of its page's longer lines ends a paragraph too."""


@dataclass(frozen=True, slots=True)
class StructuredText:
    """The text of all pages with its pages and blocks."""

    text: str
    pages: tuple[PageSpan, ...]
    blocks: tuple[Block, ...]


def structure(pages: Sequence[PdfPage], outline: Sequence[OutlineEntry]) -> StructuredText:
    """Pages stand one after the other, a blank line between them. Running lines stand behind the last page, so that
    sentences go on from page to page; what one says stays where it is said for the first time. Notes stand behind their
    page.
    """
    running = running_lines(pages)
    moved = sorted(running.all - running.first)
    large = larger_sizes(pages)
    found = heading_levels(pages, outline, large)
    levels = {place: level for place, level in found.items() if place not in running.all}
    texts: list[str] = []
    spans: list[PageSpan] = []
    blocks: list[Block] = []
    start = 0
    for index, page in enumerate(pages):
        kept = [at for at in range(len(page.lines)) if (index, at) not in running.all or (index, at) in running.first]
        lines = [page.lines[at] for at in kept]
        text = "\n".join(line.text for line in lines)
        blocks += _page_blocks(lines, [levels.get((index, at), 0) for at in kept], start, large)
        for note in page.notes:
            text += PAGE_JOIN if text.strip() else ""
            blocks.append(Block(BlockKind.PARAGRAPH, start + len(text), start + len(text) + len(note)))
            text += note
        texts.append(text)
        spans.append(PageSpan(index + 1, start, start + len(text)))
        start += len(texts[-1]) + len(PAGE_JOIN)
    if moved:
        texts.append("\n".join(pages[page].lines[at].text for page, at in moved))
        blocks.append(Block(BlockKind.RUNNING, start, start + len(texts[-1])))
    return StructuredText(PAGE_JOIN.join(texts), tuple(spans), tuple(blocks))


def _page_blocks(lines: Sequence[PageLine], levels: Sequence[int], start: int, large: Set[float]) -> Iterator[Block]:
    lengths = sorted(len(line.text) for line in lines if line.text)
    long_line = lengths[len(lengths) * 3 // 4] * _SHORT_OF_LONGEST if lengths else 0
    open_block: Block | None = None
    size = 0.0
    at = start
    for line, level in zip(lines, levels, strict=True):
        plain = line.text.strip()
        end = at + len(line.text)
        # Only a heading in large letters goes on in the next line.
        is_row = open_block is not None and open_block.kind is BlockKind.TABLE
        goes_on = plain and open_block is not None and open_block.level == level and is_row == line.is_row
        if open_block is not None and (not goes_on or (level and (line.size != size or size not in large))):
            yield open_block
            open_block = None
        if plain:
            kind = BlockKind.TABLE if line.is_row else BlockKind.HEADING if level else BlockKind.PARAGRAPH
            open_block = Block(kind, at if open_block is None else open_block.start, end, level)
            if kind is BlockKind.PARAGRAPH and len(plain) < long_line and _SENTENCE_END.search(plain):
                yield open_block
                open_block = None
        at, size = end + 1, line.size
    if open_block is not None:
        yield open_block
