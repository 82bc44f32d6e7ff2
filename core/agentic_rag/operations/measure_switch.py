"""Measures the recall of two embedding spaces of a workspace over the questions of a gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentic_rag.documents.document import Chunk
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import NotFound
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.models.embedding.recall_gate import RecallComparison, RecallGate, compare_recall, recall_at_k
from agentic_rag.models.embedding.space import EmbeddingSpace, RegisteredSpace
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.retrieval.fusion import dense_trust_of
from agentic_rag.retrieval.fusion_options import FusionWeights
from agentic_rag.retrieval.query import QueryVector, RetrievalQuery
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag.tenancy.access import UNRESTRICTED_READER
from agentic_rag.tenancy.principals import WorkspaceRef

PASSAGES_PER_DOCUMENT = 4
"""Passages retrieved per wanted document: several passages of one document count once."""


@dataclass(frozen=True, slots=True)
class MeasureSwitch:
    """Retrieves as answering does (all arms, the same fusion), once per question and space."""

    database: Database
    embedders: EmbedderSource
    retrieve: Retrieve
    weights: FusionWeights

    async def run(
        self, workspace: WorkspaceRef, target: RegisteredSpace, gate: RecallGate, advance: Callable[[], None]
    ) -> RecallComparison:
        """Compare the active space with `target`. Errors: those of the embedders, `NotFound`."""
        async with self.database.snapshot(workspace, readers=UNRESTRICTED_READER) as snapshot:
            active = snapshot.space
        if active is None:
            raise NotFound("The workspace has no embedding space yet: ingest documents first.")
        before = await self._recalls(workspace, active, gate, advance)
        after = await self._recalls(workspace, target, gate, advance)
        return compare_recall(gate, before, after)

    async def _recalls(
        self, workspace: WorkspaceRef, space: RegisteredSpace, gate: RecallGate, advance: Callable[[], None]
    ) -> list[float]:
        vectors = await self._vectors(
            workspace, space.space, [space.space.as_question(one.question) for one in gate.questions], advance
        )
        recalls: list[float] = []
        async with self.database.snapshot(workspace, space_id=space.space_id, readers=UNRESTRICTED_READER) as snapshot:
            for question, vector in zip(gate.questions, vectors, strict=True):
                query = RetrievalQuery(
                    workspace_id=workspace.workspace_id,
                    text=question.question,
                    vector=QueryVector(space.space, vector),
                    scope=SearchScope(snapshot.access.access_ids),
                    top_k=gate.k * PASSAGES_PER_DOCUMENT,
                    weights=self.weights,
                    dense_trust=dense_trust_of(space.space),
                )
                found = await self.retrieve.run(snapshot, query)
                recalls.append(recall_at_k([_names(chunk) for chunk, _ in found.chunks], question.gold, gate.k))
                advance()
        return recalls

    async def _vectors(
        self, workspace: WorkspaceRef, space: EmbeddingSpace, texts: Sequence[str], advance: Callable[[], None]
    ) -> NDArray[np.float32]:
        embedder = (await self.embedders.of(workspace)).for_space(space)
        parts: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), embedder.batch_size):
            parts.append(await embedder.embed(texts[start : start + embedder.batch_size]))
            advance()
        return np.concatenate(parts)


def _names(chunk: Chunk) -> frozenset[str]:
    return frozenset({chunk.source_path, str(chunk.document_id)})
