"""Measures the scale of similarity thresholds on questions with known answers, for a workspace's embedding space."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.documents.document import DocumentFilter
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import CorpusSnapshot, Database
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.models.embedding.recall_gate import RecallQuestion
from agentic_rag.models.embedding.similarity import MOST, AskedSimilarity, SimilarityCalibration, calibrate_similarity
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.tenancy.access import UNRESTRICTED_READER
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit


@dataclass(frozen=True, slots=True)
class CalibrateSimilarity:
    """A question's gold are source paths or ids of the documents that answer it."""

    database: Database
    embedders: EmbedderSource
    clock: Clock
    telemetry: Telemetry

    async def run(
        self, workspace: WorkspaceRef, questions: Sequence[RecallQuestion], actor: str, *, is_trial: bool = False
    ) -> SimilarityCalibration:
        """From the next question on, thresholds are on the measured scale; a trial only measures. Errors:
        `InvalidInput` code DATASET_INVALID, `NotFound` (nothing is embedded), those of the embedder.
        """
        if len(questions) > MOST:
            raise InvalidInput(
                f"A calibration takes at most {MOST} questions, not {len(questions)}.",
                code="DATASET_INVALID",
                path=("input", "questions"),
            )
        asked = await self._asked(workspace, [one for one in questions if one.gold])
        found = calibrate_similarity(asked, self.clock.now())
        if not is_trial:
            await self._keep(workspace, found, actor)
        return found

    async def reset(self, workspace: WorkspaceRef, actor: str) -> None:
        """Go back to the scale of the model. Errors: `NotFound` (nothing is embedded)."""
        await self._keep(workspace, None, actor)

    async def _asked(self, workspace: WorkspaceRef, questions: Sequence[RecallQuestion]) -> list[AskedSimilarity]:
        paths = sorted({name for one in questions for name in one.gold})
        async with self.database.transaction(workspace.org_id) as transaction:
            active = await transaction.workspaces.active_space(workspace)
            by_path = await resolve_ids(transaction.documents, workspace, paths)
        if active is None:
            raise _nothing_embedded()
        if not questions:
            return []
        embedder = (await self.embedders.of(workspace)).for_space(active.space)
        texts = [active.space.as_question(one.question) for one in questions]
        parts: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), embedder.batch_size):
            parts.append(await embedder.embed(texts[start : start + embedder.batch_size]))
        vectors: NDArray[np.float32] = np.concatenate(parts)
        asked: list[AskedSimilarity] = []
        async with self.database.snapshot(workspace, readers=UNRESTRICTED_READER) as snapshot:
            owned = await _ordinals(snapshot, sorted({_id(name, by_path) for name in paths}))
            for question, vector in zip(questions, vectors, strict=True):
                gold = [owned[key] for name in question.gold if owned.get(key := _id(name, by_path))]
                measured = await _measure(snapshot, vector, active.space_id, gold) if gold else None
                if measured is not None:
                    asked.append(measured)
        return asked

    async def _keep(self, workspace: WorkspaceRef, found: SimilarityCalibration | None, actor: str) -> None:
        async with self.database.transaction(workspace.org_id) as transaction:
            active = await transaction.workspaces.active_space(workspace)
            if active is None:
                raise _nothing_embedded()
            record = await transaction.spaces.calibration(workspace, active.space_id)
            await transaction.spaces.set_calibration(workspace, active.space_id, replace(record, similarity=found))
            exponent = None if found is None else f"{found.exponent:g}"
            action, name = AuditAction.CALIBRATE_SIMILARITY, active.space.name
            await audit(transaction, self.telemetry, action, workspace, name, actor, exponent=exponent)


async def _ordinals(snapshot: CorpusSnapshot, document_ids: Sequence[UUID]) -> Mapping[UUID, list[int]]:
    """The visible passages of each document."""
    access = snapshot.access.access_ids
    ordinals = await snapshot.documents.ordinals_matching(DocumentFilter(document_ids=tuple(document_ids)), access)
    owned: dict[UUID, list[int]] = defaultdict(list)
    chunks = await snapshot.documents.chunks(sorted(ordinals), access)
    for ordinal, chunk in zip(sorted(ordinals), chunks, strict=True):
        owned[chunk.document_id].append(ordinal)
    return owned


async def _measure(
    snapshot: CorpusSnapshot, vector: NDArray[np.float32], space_id: int, gold: Sequence[Sequence[int]]
) -> AskedSimilarity | None:
    """None for a question that is near to nothing: one without words may have a vector of zeros."""
    nearest = await snapshot.vectors.nearest(vector, space_id, 1, SearchScope(snapshot.access.access_ids))
    if not nearest:
        return None
    cosines = await snapshot.vectors.cosines(vector, space_id, [one for owned in gold for one in owned])
    best = [max((cosines.get(one, 0.0) for one in owned), default=0.0) for owned in gold]
    return AskedSimilarity(tuple(best), nearest[0].raw, any(nearest[0].ordinal in owned for owned in gold))


def _id(name: str, by_path: Mapping[str, UUID]) -> UUID:
    try:
        return UUID(name)
    except ValueError:
        return by_path[name]


def _nothing_embedded() -> NotFound:
    return NotFound("The workspace has no documents to calibrate on.")
