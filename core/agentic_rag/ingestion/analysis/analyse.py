"""What ingestion computes from text alone: chunks, postings and entities."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.documents.chunking import chunk_document
from agentic_rag.documents.document import ChunkDraft, ParsedDocument
from agentic_rag.ingestion.analysis.index_text import IndexRequest, index_chunks, read_index, split_slices
from agentic_rag.ingestion.ports import NewChunk
from agentic_rag.kernel.compute import Compute
from agentic_rag.kernel.database import Transaction
from agentic_rag.kernel.errors import NotFound, SpaceMismatch
from agentic_rag.language.hidden_characters import count_hidden_characters
from agentic_rag.language.parted_words import join_parted_words
from agentic_rag.language.term_counts import TermCounts
from agentic_rag.models.billing.embedding_cost import EmbeddingCost, compute_embedding_cost
from agentic_rag.models.billing.prices import PriceTable
from agentic_rag.models.embedding.ports import Embedder, Embedders
from agentic_rag.models.embedding.space import EmbeddingSpace, RegisteredSpace
from agentic_rag.retrieval.candidates import ChunkEntities
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.chunk_profiles import chunk_profile

INDEX_SLICE = 128
"""Chunks per hand-over to the computing processes: about 50 ms of work."""

LONG_TEXT = 200_000
"""Characters from which on cutting a text into chunks is no short step: 0.1 s."""

T = TypeVar("T")


class TextAnalysis:
    """Pure and CPU-bound work, kept off the event loop. `count_tokens` is the chunker's measure
    (`ports.token_counter`).
    """

    def __init__(self, count_tokens: Callable[[str], int], compute: Compute, prices: PriceTable | None = None) -> None:
        self._count_tokens = count_tokens
        self._compute = compute
        self._prices = prices or PriceTable()

    async def chunk(self, document_id: UUID, parsed: ParsedDocument, profile: str) -> list[ChunkDraft]:
        """The chunks of a parsed text under a named profile. Errors: `InvalidInput` (unknown profile)."""
        cut = chunk_profile(profile)
        return await self._run_in_turn(
            lambda: chunk_document(document_id, parsed, cut, self._count_tokens), len(parsed.text)
        )

    async def count_hidden_characters(self, text: str) -> int:
        """How many characters of a text its readers do not see."""
        return await self._run_in_turn(lambda: count_hidden_characters(text), len(text))

    async def cost(
        self, paid: Sequence[ChunkDraft], reused: Sequence[ChunkDraft], space: EmbeddingSpace
    ) -> EmbeddingCost:
        """What embedding the chunks `paid` costs, and what not embedding `reused` saves."""
        price = self._prices.of_space(space)
        uncounted = sum(len(draft.text) for draft in (*paid, *reused) if draft.tokens is None)
        return await self._run_in_turn(
            lambda: compute_embedding_cost(self._tokens(paid), self._tokens(reused), space, price), uncounted
        )

    async def index(
        self, workspace: WorkspaceRef, titled: Sequence[tuple[str, ChunkDraft]]
    ) -> list[tuple[TermCounts, ChunkEntities]]:
        """Postings and entities of chunks no reader has seen. `titled` pairs each with the title of its document."""
        requests = [
            IndexRequest(
                workspace.workspace_id,
                tuple((draft.text, draft.heading_path, title) for title, draft in titled[part]),
            )
            for part in split_slices(len(titled), INDEX_SLICE)
        ]
        indexed = await asyncio.gather(
            *(self._compute.run(index_chunks, request, len(request.chunks)) for request in requests)
        )
        return [one for part in indexed for one in read_index(part)]

    def _tokens(self, drafts: Sequence[ChunkDraft]) -> list[int]:
        return [self._count_tokens(draft.text) if draft.tokens is None else draft.tokens for draft in drafts]

    async def _run_in_turn(self, function: Callable[[], T], characters: int) -> T:
        """In turn with the rest; what would keep small documents waiting goes beside it."""
        if characters < LONG_TEXT:
            return await self._compute.run_here(function)
        return await asyncio.to_thread(function)


def new_chunks(
    drafts: Iterable[ChunkDraft], vectors: Iterable[bytes], indexed: Iterable[tuple[TermCounts, ChunkEntities]]
) -> list[NewChunk]:
    """Everything publishing needs of chunks no reader has seen, put together. Errors: `ValueError` for lengths that
    differ.
    """
    return [
        NewChunk(draft, vector, terms, entities)
        for draft, vector, (terms, entities) in zip(drafts, vectors, indexed, strict=True)
    ]


async def space_for(transaction: Transaction, workspace: WorkspaceRef, embedders: Embedders) -> RegisteredSpace:
    """The space that the workspace answers in; a workspace without one takes the process's default.

    Errors: `SpaceMismatch` when this process has no embedder for it.
    """
    active = await transaction.workspaces.active_space(workspace)
    if active is None:
        stored = await transaction.workspaces.get(workspace.workspace_id)
        dimensions = stored.settings.embedding_dimensions if stored else None
        space = embedders.default.space
        await transaction.workspaces.register_space(
            workspace, space if dimensions is None else replace(space, dimensions=dimensions)
        )
        active = await transaction.workspaces.active_space(workspace)
    if active is None:
        raise NotFound(f"There is no workspace {workspace.workspace_id}.")
    embedders.for_space(active.space)
    return active


async def embed_texts(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """Each text's vector as stored, little-endian float16: of its words without the hyphens that part them at the ends
    of lines.
    """
    vectors = await embedder.embed([embedder.space.as_passage(join_parted_words(text)) for text in texts])
    if vectors.shape != (len(texts), embedder.space.dimensions):
        raise SpaceMismatch(
            f"The embedder answered with shape {vectors.shape} to {len(texts)} texts; "
            f"{embedder.space.name} was expected. Check the model's dimensions."
        )
    return encode_half(vectors)


def encode_half(vectors: NDArray[np.float32]) -> list[bytes]:
    """Each row of an (n, dimensions) array as little-endian half-precision bytes, as vectors are stored.

    Errors: `ValueError` when a component is not finite or exceeds half precision (65,504).
    """
    with np.errstate(over="ignore"):
        halves = np.asarray(vectors).astype("<f2")
    if not np.isfinite(halves).all():
        raise ValueError("a vector has a component that half precision cannot hold")
    return [row.tobytes() for row in halves]
