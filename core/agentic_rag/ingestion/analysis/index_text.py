"""What a chunk's text alone says for retrieval: postings and entities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.language.term_counts import TermCounts
from agentic_rag.language.tokenizer import term_counts
from agentic_rag.retrieval.candidates import ChunkEntities
from agentic_rag.retrieval.graph.entities import extract_entities


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """Chunks of one workspace: text, headings above it, and the title of its document."""

    workspace_id: UUID
    chunks: tuple[tuple[str, tuple[str, ...], str], ...]


def index_chunks(request: IndexRequest) -> list[tuple[TermCounts, ChunkEntities]]:
    """Postings and entities of each chunk, in order."""
    return [
        (term_counts(text), extract_entities(request.workspace_id, text, headings, title))
        for text, headings, title in request.chunks
    ]


def split_slices(total: int, size: int) -> Sequence[slice]:
    """Consecutive slices of at most `size` that cover `total` items."""
    return [slice(start, start + size) for start in range(0, total, size)]
