"""What ingestion computes from text alone: chunks, postings and entities."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.documents import ChunkDraft, ParsedDocument
from agentic_rag.domain.errors import SpaceMismatch
from agentic_rag.domain.retrieval import ChunkEntities
from agentic_rag.domain.tenancy import WorkspaceRef
from agentic_rag.ports.database import Transaction
from agentic_rag.ports.embedder import Embedder
from agentic_rag.ports.publication import NewChunk, TermCounts


@dataclass(frozen=True, slots=True)
class PreparedText:
    """Chunks that came ready-made, and the revision text they are spans of."""

    text: str
    drafts: tuple[ChunkDraft, ...]


class TextAnalysis(Protocol):
    """Pure and CPU-bound: callers run it in a thread."""

    def chunk(self, document_id: UUID, parsed: ParsedDocument, profile: str) -> tuple[ChunkDraft, ...]:
        """The chunks of a parsed text under a named profile. Errors: `InvalidInput` (unknown profile)."""
        ...

    def prepared(self, document_id: UUID, texts: Sequence[str]) -> PreparedText:
        """Ready-made chunks as spans of one text."""
        ...

    def terms(self, text: str) -> TermCounts:
        """The postings of a chunk."""
        ...

    def entities(self, text: str, title: str) -> ChunkEntities:
        """The entities of a chunk of a document with that title."""
        ...


async def space_for(transaction: Transaction, workspace: WorkspaceRef, embedder: Embedder) -> int:
    """The workspace's number of the embedder's space; the first to ask decides on the space.

    Errors: `SpaceMismatch` when the workspace answers from another space.
    """
    active = await transaction.workspaces.active_space(workspace)
    if active is None:
        await transaction.workspaces.register_space(workspace, embedder.space)
        active = await transaction.workspaces.active_space(workspace)
    if active is None or active.space != embedder.space:
        held = "none" if active is None else active.space.name
        raise SpaceMismatch(
            f"The workspace holds vectors of {held}, but this process embeds with {embedder.space.name}. Set "
            "RAG_EMBEDDER and its model back, or ingest into a new workspace."
        )
    return active.space_id


async def embed_texts(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """Each text's vector as stored: little-endian float16."""
    vectors = await embedder.embed(texts)
    if vectors.shape != (len(texts), embedder.space.dimensions):
        raise SpaceMismatch(
            f"The embedder answered with shape {vectors.shape} to {len(texts)} texts; "
            f"{embedder.space.name} was expected. Check the model's dimensions."
        )
    return [row.tobytes() for row in vectors.astype("<f2")]


async def new_chunks(
    analysis: TextAnalysis, title: str, drafts: Sequence[ChunkDraft], vectors: Sequence[bytes]
) -> tuple[NewChunk, ...]:
    """Everything publishing needs of chunks no reader has seen."""
    return await asyncio.to_thread(analyse, analysis, title, drafts, vectors)


def analyse(
    analysis: TextAnalysis, title: str, drafts: Sequence[ChunkDraft], vectors: Sequence[bytes]
) -> tuple[NewChunk, ...]:
    """The same for callers that are in a thread of their own."""
    return tuple(
        NewChunk(draft, vector, analysis.terms(draft.text), analysis.entities(draft.text, title))
        for draft, vector in zip(drafts, vectors, strict=True)
    )
