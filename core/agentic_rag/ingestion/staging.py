"""Embeds the new chunks of a document; what was paid for survives the attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentic_rag.documents.document import ChunkDraft, Revision
from agentic_rag.documents.revision_diff import PublicationPlan
from agentic_rag.ingestion.analysis.analyse import embed_texts
from agentic_rag.ingestion.ingest_run import IngestRun
from agentic_rag.jobs.leases import require_lease
from agentic_rag.kernel.database import Database, Transaction


class StagedEmbedding:
    """Embeds in batches of the embedder's size. A single batch goes straight on to the publish; of several, each is
    staged in the database as soon as it is paid for.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def embed(self, run: IngestRun, revision: Revision, plan: PublicationPlan) -> None:
        """Fill `run.vectors` for every unpaid chunk. Errors: those of the embedder, `LeaseLost`."""
        size = run.embedder.batch_size
        if len(plan.unpaid) <= size:
            await self._embed(run, plan.unpaid)
            return
        staged = await self._stage(run, revision, plan)
        unpaid = [draft for draft in plan.unpaid if draft.chunk_id not in run.vectors]
        for start in range(0, len(unpaid), size):
            batch = unpaid[start : start + size]
            await self._embed(run, batch)
            vectors = {draft.index: run.vectors[draft.chunk_id] for draft in batch if draft.index in staged}
            await self._keep(run, revision, plan, vectors)

    async def _embed(self, run: IngestRun, drafts: Sequence[ChunkDraft]) -> None:
        if not drafts:
            return
        vectors = await embed_texts(run.embedder, [draft.text for draft in drafts])
        run.vectors.update(zip((draft.chunk_id for draft in drafts), vectors, strict=True))
        run.embedded += len(drafts)
        run.progress.advance()

    async def _stage(self, run: IngestRun, revision: Revision, plan: PublicationPlan) -> frozenset[int]:
        """Write the unpaid chunks, or take over the vectors that an earlier attempt staged. The staged indexes."""
        workspace, document_id = run.document.workspace, run.document.document_id
        async with self._database.transaction(workspace.org_id) as transaction:
            await _begin(transaction, run, plan)
            await transaction.documents.discard_staging(workspace, document_id, keep=revision.revision_id)
            await transaction.documents.stage(workspace, document_id, revision, plan.unpaid)
            staged = await transaction.documents.load_staging(workspace, revision.revision_id) or []
        # An earlier attempt may have staged vectors of another space, before a switch.
        known = {chunk.chunk_id: chunk.vector for chunk in staged if chunk.space_id == run.space.space_id}
        for draft in plan.unpaid:
            vector = known.get(draft.chunk_id)
            if vector is not None:
                run.vectors[draft.chunk_id] = vector
                run.recovered += 1
        return frozenset(chunk.index for chunk in staged)

    async def _keep(
        self, run: IngestRun, revision: Revision, plan: PublicationPlan, vectors: Mapping[int, bytes]
    ) -> None:
        workspace = run.document.workspace
        async with self._database.transaction(workspace.org_id) as transaction:
            await _begin(transaction, run, plan)
            await transaction.documents.stage_vectors(workspace, revision.revision_id, run.space.space_id, vectors)


async def _begin(transaction: Transaction, run: IngestRun, plan: PublicationPlan) -> None:
    """Show the progress, then check the lease: the document is locked before the job, as everywhere."""
    done = len(plan.diff.kept) + len(run.vectors)
    await transaction.documents.set_progress(run.document.workspace, run.document.document_id, done, plan.total)
    await require_lease(transaction.jobs, run.lease)
