"""Plain text: paragraphs between blank lines."""

from __future__ import annotations

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.text_builder import LoadedText, paragraphs_of
from agentic_rag.documents.document import Block, BlockKind

SAMPLE = b"warm"


def load(source: SourceFile) -> LoadedText:
    """Blocks of plain text. It has no title: its file name is one."""
    text = source.text
    return LoadedText(text, tuple(Block(BlockKind.PARAGRAPH, start, end) for start, end in paragraphs_of(text)))
