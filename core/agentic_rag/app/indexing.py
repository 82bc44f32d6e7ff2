"""What ingestion computes from text alone: chunks, postings and entities."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from uuid import UUID

from agentic_rag.domain.chunk_profiles import chunk_profile
from agentic_rag.domain.chunking import chunk_document
from agentic_rag.domain.documents import ChunkDraft, ParsedDocument
from agentic_rag.domain.entities import extract_entities
from agentic_rag.domain.errors import SpaceMismatch
from agentic_rag.domain.lexical import term_counts
from agentic_rag.domain.spaces import encode_half
from agentic_rag.domain.tenancy import WorkspaceRef
from agentic_rag.ports.database import Transaction
from agentic_rag.ports.embedder import Embedder
from agentic_rag.ports.publication import NewChunk


class TextAnalysis:
    """Pure and CPU-bound: callers run it in a thread. `count_tokens` is the chunker's measure
    (`ports.token_counter`).
    """

    def __init__(self, count_tokens: Callable[[str], int]) -> None:
        self._count_tokens = count_tokens

    def chunk(self, document_id: UUID, parsed: ParsedDocument, profile: str) -> list[ChunkDraft]:
        """The chunks of a parsed text under a named profile. Errors: `InvalidInput` (unknown profile)."""
        return chunk_document(document_id, parsed, chunk_profile(profile), self._count_tokens)

    def index(
        self, workspace: WorkspaceRef, title: str, drafts: Sequence[ChunkDraft], vectors: Sequence[bytes]
    ) -> tuple[NewChunk, ...]:
        """Everything publishing needs of chunks no reader has seen: vectors, postings, entities."""
        return tuple(
            NewChunk(
                draft,
                vector,
                term_counts(draft.text),
                extract_entities(workspace.workspace_id, draft.text, draft.heading_path, title),
            )
            for draft, vector in zip(drafts, vectors, strict=True)
        )


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
    return await asyncio.to_thread(encode_half, vectors)
