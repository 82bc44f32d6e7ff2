"""What a chunk's text alone says for retrieval: postings and entities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import msgspec

from agentic_rag.language.term_counts import TermCounts
from agentic_rag.language.tokenizer import term_counts
from agentic_rag.retrieval.candidates import ChunkEntities
from agentic_rag.retrieval.graph.entities import extract_entities


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """Chunks of one workspace: text, headings above it, and the title of its document."""

    workspace_id: UUID
    chunks: tuple[tuple[str, tuple[str, ...], str], ...]


IndexedChunk = tuple[TermCounts, ChunkEntities]
"""A chunk's postings and entities."""

_ENCODER = msgspec.msgpack.Encoder(uuid_format="bytes")
_DECODER = msgspec.msgpack.Decoder(list[IndexedChunk])


def index_chunks(request: IndexRequest) -> bytes:
    """Postings and entities of each chunk, in order, for `read_index`. Between processes pickle takes four times as
    long: it asks a dataclass for its fields, and a UUID for its state.
    """
    return _ENCODER.encode(
        [
            (term_counts(text), extract_entities(request.workspace_id, text, headings, title))
            for text, headings, title in request.chunks
        ]
    )


def read_index(encoded: bytes) -> list[IndexedChunk]:
    """What `index_chunks` returned."""
    return _DECODER.decode(encoded)


def split_slices(total: int, size: int) -> Sequence[slice]:
    """Consecutive slices of at most `size` that cover `total` items."""
    return [slice(start, start + size) for start in range(0, total, size)]
