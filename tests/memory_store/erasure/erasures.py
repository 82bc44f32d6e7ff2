"""`erasure.ports.ErasureStore` in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
from tests.memory_store.session.state import StoredJob, Tombstone, WorkspaceState
from tests.memory_store.session.store import Working

from agentic_rag.answering.runs.redaction import SOURCE_ERASED, collect_document_ids, redact_document
from agentic_rag.erasure.certificate import Certificate, ErasedStore, StoreErasure, coverage_gaps, merge_stores
from agentic_rag.erasure.ports import DropOrder, DropProgress, ErasureTrace, HeldErasure
from agentic_rag.erasure.process_memory import lines_of
from agentic_rag.jobs.job import JobKind, JobState
from agentic_rag.tenancy.principals import WorkspaceRef


class MemoryErasureStore:
    """Inside a transaction of one organisation."""

    def __init__(self, working: Working) -> None:
        self._working = working

    async def certificate(self, workspace: WorkspaceRef, document_id: UUID) -> Certificate | None:
        """The certificate of the last erasure, or None."""
        state = self._working.read(workspace)
        tombstone = None if state is None else state.tombstones.get(document_id)
        return None if tombstone is None else _certificate(document_id, tombstone)

    async def past(self, workspace: WorkspaceRef, document_id: UUID) -> list[Certificate]:
        """The certificates of erasures before the document came back."""
        state = self._working.read(workspace)
        held = () if state is None else state.past_erasures.get(document_id, ())
        return [_certificate(document_id, one) for one in reversed(held)]

    async def follow(
        self, workspace: WorkspaceRef, document_id: UUID, stores: Sequence[StoreErasure]
    ) -> Certificate | None:
        """Write down what other stores did; None where there is no certificate."""
        if await self.certificate(workspace, document_id) is not None:
            state = self._working.write(workspace)
            tombstone = state.tombstones[document_id]
            state.tombstones[document_id] = replace(tombstone, stores=merge_stores(tombstone.stores, stores))
        return await self.certificate(workspace, document_id)

    async def traces(self, workspace: WorkspaceRef, document_id: UUID) -> list[ErasureTrace]:
        """Everything that still holds something of the document."""
        state = self._working.read(workspace)
        if state is None:
            return []
        doomed = ErasureTrace("rag_doomed_blobs", list(state.doomed_blobs.values()).count(document_id), is_pending=True)
        counted = [ErasureTrace(store, rows) for store, rows in _counted(state, document_id)]
        return [trace for trace in (*counted, doomed) if trace.rows]

    async def held(self, workspace: WorkspaceRef, limit: int) -> list[HeldErasure]:
        """Erasures that no process was asked about yet."""
        state = self._working.read(workspace)
        if state is None:
            return []
        every = [*state.tombstones.items(), *((key, one) for key, more in state.past_erasures.items() for one in more)]
        return [HeldErasure(key, one.version) for key, one in every if is_held(one)][:limit]

    async def order_drop(self, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> DropOrder:
        """Nobody is told: one process holds everything."""
        return DropOrder(workspace.workspace_id, datetime.now(UTC))

    async def drop_progress(self, order: DropOrder | None) -> DropProgress:
        """Nobody was told."""
        return DropProgress()

    async def confirm(self, workspace: WorkspaceRef, erasures: Sequence[HeldErasure], progress: DropProgress) -> None:
        """Write down what processes said."""
        state = self._working.write(workspace)

        def told(document_id: UUID, one: Tombstone) -> Tombstone:
            if HeldErasure(document_id, one.version) not in erasures or not is_held(one):
                return one
            return replace(one, stores=merge_stores(one.stores, lines_of(progress)))

        state.tombstones.update({key: told(key, one) for key, one in state.tombstones.items()})
        state.past_erasures.update(
            {key: tuple(told(key, one) for one in more) for key, more in state.past_erasures.items()}
        )


def is_held(tombstone: Tombstone) -> bool:
    """Whether the certificate waits for processes."""
    return any(one.store is ErasedStore.PROCESSES and not one.done for one in tombstone.stores)


def _certificate(document_id: UUID, tombstone: Tombstone) -> Certificate:
    return Certificate(
        document_id=document_id,
        version=tombstone.version,
        erased_at=tombstone.erased_at,
        stores=tombstone.stores,
        ordinals=tombstone.ordinals,
        not_covered=coverage_gaps((), tombstone.stores),
    )


def _counted(state: WorkspaceState, document_id: UUID) -> Iterator[tuple[str, int]]:
    yield "rag_documents", int(document_id in state.documents)
    yield "rag_revisions", sum(one.revision.document_id == document_id for one in state.revisions.values())
    passages = list(state.passages_of(document_id))
    yield "rag_chunks", sum(len(passage.placements) for _, passage in passages)
    yield "rag_embeddings", len(passages)
    yield "rag_mentions", sum(len(passage.mentions) for _, passage in passages)
    yield "rag_entities", sum(entity.source_id == document_id for entity in state.entities.values())
    tombstone = state.tombstones.get(document_id)
    if tombstone is not None:
        gone = [one for first, last in tombstone.ordinals for one in range(first, last + 1)]
        yield "rag_segments", sum(int(np.isin(segment.ordinals, gone).sum()) for segment in state.segments)
    yield "rag_originals", sum(holder == document_id for holder, _ in state.originals)
    yield "rag_jobs", sum(_tells(stored, document_id) for stored in state.jobs.values())
    cited = [run.answer for run in state.runs.values() if document_id in collect_document_ids(run.answer)]
    yield "rag_runs", sum(redact_document(answer, document_id) != answer for answer in cited)


def _tells(stored: StoredJob, document_id: UUID) -> bool:
    """Whether a job still says something of the document beyond that it was."""
    job = stored.job
    if job.document_id != document_id:
        return False
    if job.arguments:
        return True
    if job.kind is JobKind.DELETE:
        return False
    unfinished = job.state in (JobState.QUEUED, JobState.RUNNING)
    return (
        unfinished
        or job.error_message not in (None, SOURCE_ERASED)
        or any(attempt.error_chain for attempt in stored.attempts)
    )
