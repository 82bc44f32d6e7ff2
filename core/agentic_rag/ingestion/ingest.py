"""Ingests one document: read → parse → chunk → diff → embed → publish."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from time import perf_counter
from uuid import UUID

from agentic_rag.documents.document import (
    ChunkDraft,
    DocumentFault,
    DocumentStatus,
    ParsedDocument,
    Revision,
    revision_id_for,
)
from agentic_rag.documents.originals import delete_marked_blobs
from agentic_rag.documents.ports import BlobStore, Original, Parser
from agentic_rag.documents.revision_diff import PublicationPlan, plan_publication
from agentic_rag.documents.unread_pages import left_out_provenance, recognised_provenance, unread_provenance
from agentic_rag.ingestion.analysis.analyse import TextAnalysis, new_chunks, space_for
from agentic_rag.ingestion.analysis.extract_entities import ExtractEntities
from agentic_rag.ingestion.analysis.found_metadata import find_metadata
from agentic_rag.ingestion.group_commit import GroupCommitPublisher
from agentic_rag.ingestion.ingest_run import (
    FORCE_ARGUMENT,
    IngestOutcome,
    IngestReport,
    IngestRun,
    IngestStage,
    content_hash_of,
    document_id_of,
    log_report,
    original_missing,
)
from agentic_rag.ingestion.ports import DocumentPublication, NewChunk
from agentic_rag.ingestion.staging import StagedEmbedding
from agentic_rag.jobs.job import GiveUp, Lease, Retry
from agentic_rag.jobs.leases import lease_loss, require_lease
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.jobs.scan_turns import ScanTurns
from agentic_rag.kernel.concurrency import WeightedSemaphore
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.error_redaction import redact
from agentic_rag.kernel.errors import (
    AgenticRagError,
    DependencyUnavailable,
    JobPostponed,
    MissingProviderKey,
    NotFound,
    ParseFailed,
    Retryable,
    SpaceSwitched,
)
from agentic_rag.kernel.stages import StageEnding, run_stage
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.language.term_counts import TermCounts
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.retrieval.candidates import ChunkEntities
from agentic_rag.workspaces.workspace import Workspace, effective_settings

HIDDEN_CHARACTERS = "hidden_characters"
"""The provenance entry with the number of characters that readers of the document do not see."""
PUBLISHED = "published"
"""The provenance entry with the day on which the document says that it was published; empty where it does not say."""

LARGE = 200_000
"""Bytes of an original, or characters of a text, from which a document waits for its turn; smaller ones never do."""
ORIGINALS_AT_ONCE = 8_000_000
"""Bytes of large originals that this process reads, parses and publishes at once. A larger one goes alone."""

WORTH_TELLING_SECONDS = 0.1
"""The shortest wait of a large document that is logged."""

MAX_LOOKS = 3
"""Tries to publish a document that changes meanwhile, before its job is tried again later."""


class IngestDocument:
    """The use case of INGEST jobs. Safe to run any number of times, and by two workers at once: the fence decides."""

    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        parser: Parser,
        embedders: EmbedderSource,
        analysis: TextAnalysis,
        publisher: GroupCommitPublisher,
        telemetry: Telemetry,
        chunk_profile: str,
        model_entities: ExtractEntities | None = None,
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._parser = parser
        self._embedders = embedders
        self._analysis = analysis
        self._publisher = publisher
        self._telemetry = telemetry
        self._chunk_profile = chunk_profile
        self._model_entities = model_entities
        self._embedding = StagedEmbedding(database)
        self._originals = WeightedSemaphore(ORIGINALS_AT_ONCE)
        # Each holds its chunks, vectors and postings until it is published; several at once took 160 MB.
        self._texts = WeightedSemaphore(1)
        self._scans = ScanTurns()

    async def run(self, lease: Lease, progress: JobProgress) -> IngestReport:
        """Ingest the document of a leased job.

        Errors: `ParseFailed`, `SpaceMismatch` and other `Permanent` ones; `Retryable`; `JobPostponed`; `LeaseLost`.
        """
        self._scans.require_turn(document_id_of(lease))
        run = await self._begin(lease, progress)
        if run is None:
            return IngestReport(document_id_of(lease), IngestOutcome.GONE)
        revision_id = self._revision_id(lease, run.profile)
        if run.document.revision_id == revision_id and not run.forced:
            return await self._finish_without_change(run)
        original = run.original()
        async with self._originals.acquire(_large(original.size), progress.advance) as waited:
            self._log_wait(run, waited)
            parsed = await self._parse(run, original)
            async with self._texts.acquire(min(_large(len(parsed.text)), 1), progress.advance) as waited:
                self._log_wait(run, waited)
                drafts = await self._chunk(run, parsed)
                report = await self._publish(run, parsed, run.revision(revision_id, parsed), drafts)
        log_report(self._telemetry, report)
        await self._remove_old_originals(run)
        return report

    async def is_published(self, transaction: Transaction, lease: Lease) -> bool:
        """Whether readers see what the job is for. One that makes every chunk anew cannot tell."""
        workspace = lease.job.workspace
        document = await transaction.documents.get(workspace, document_id_of(lease))
        stored = await transaction.workspaces.get(workspace.workspace_id)
        if document is None or stored is None or FORCE_ARGUMENT in lease.job.arguments:
            return False
        return document.revision_id == self._revision_id(lease, self._profile(stored))

    @staticmethod
    def is_rejection(error: AgenticRagError) -> bool:
        """Whether the document's owner has to act: the file cannot be read, or the organisation's key is missing. The
        limits that a file crosses are the operator's.
        """
        is_limit = error.code in ("PARSE_TOO_LARGE", "PARSE_TIMEOUT")
        return isinstance(error, MissingProviderKey) or (isinstance(error, ParseFailed) and not is_limit)

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """Show the job's failure on the document, in the transaction that records it.

        Chunks published before stay visible whatever happens to the new revision. A document whose content is published
        already is READY, however its job ended.
        """
        workspace, document_id = lease.job.workspace, lease.job.document_id
        if document_id is None:
            return
        retryable = isinstance(decision, Retry)
        if not retryable and await self.is_published(transaction, lease):
            await transaction.documents.set_status(workspace, document_id, DocumentStatus.READY)
            return
        fault = DocumentFault(error.code, redact(error.message), lease.job.attempts, retryable)
        status = DocumentStatus.PENDING if retryable else DocumentStatus.FAILED
        await transaction.documents.set_status(workspace, document_id, status, fault)
        if not retryable:
            await transaction.documents.discard_staging(workspace, document_id)

    def _profile(self, workspace: Workspace) -> str:
        return effective_settings(workspace).chunk_profile or self._chunk_profile

    def _revision_id(self, lease: Lease, profile: str) -> UUID:
        return revision_id_for(document_id_of(lease), content_hash_of(lease), self._parser.version, profile)

    async def _begin(self, lease: Lease, progress: JobProgress) -> IngestRun | None:
        """Load the document and what readers see of it; None when it was deleted."""
        workspace = lease.job.workspace
        document_id = document_id_of(lease)
        embedders = await self._embedders.of(workspace)
        async with self._database.transaction(workspace.org_id) as transaction:
            await transaction.documents.set_status(workspace, document_id, DocumentStatus.PROCESSING)
            await require_lease(transaction.jobs, lease)
            document = await transaction.documents.get(workspace, document_id)
            stored = await transaction.workspaces.get(workspace.workspace_id)
            if document is None or stored is None:
                return None
            originals = await transaction.originals.of(workspace, document_id)
            space = await space_for(transaction, workspace, embedders)
            return IngestRun(
                lease=lease,
                progress=progress,
                document=document,
                space=space,
                embedder=embedders.for_space(space.space),
                profile=self._profile(stored),
                visible=await transaction.documents.visible_chunks(workspace, document_id),
                content_hash=content_hash_of(lease),
                forced=FORCE_ARGUMENT in lease.job.arguments,
                originals={original.content_hash: original for original in originals},
            )

    async def _finish_without_change(self, run: IngestRun) -> IngestReport:
        workspace = run.document.workspace
        async with self._database.transaction(workspace.org_id) as transaction:
            await transaction.documents.set_status(workspace, run.document.document_id, DocumentStatus.READY)
            await require_lease(transaction.jobs, run.lease)
            await transaction.originals.supersede(workspace, [run.document.document_id])
        await self._remove_old_originals(run)
        return run.report(IngestOutcome.UNCHANGED)

    async def _parse(self, run: IngestRun, original: Original) -> ParsedDocument:
        with self._stage(IngestStage.READ):
            try:
                content = await self._blobs.read(original.key)
            except NotFound as error:
                raise original_missing(run.document) from error
        with self._stage(IngestStage.PARSE, bytes=original.size):
            try:
                parsed = await self._parser.parse(
                    content,
                    run.document.file_name,
                    None,  # The registered media type is a guess from the name; the parser looks at the bytes as well.
                    is_web_page=run.is_web_page,
                    charset=run.charset,
                    recognising=lambda: self._recognise(run, original),
                )
            except ParseFailed:
                run.refuse_shell(content, "")
                raise
            run.refuse_shell(content, parsed.main_text)
        run.progress.advance()
        return parsed

    @asynccontextmanager
    async def _recognise(self, run: IngestRun, original: Original) -> AsyncGenerator[Callable[[], None]]:
        """Have the turn of scans, without a part in the originals: others need not wait until it is read.

        Errors: `JobPostponed`, after the document is PENDING again.
        """
        workspace, document_id, advance = run.document.workspace, run.document.document_id, run.progress.advance
        async with self._originals.lend(_large(original.size), advance):
            try:
                with self._scans.take(document_id):
                    yield advance
            except JobPostponed:
                async with self._database.transaction(workspace.org_id) as transaction:
                    await transaction.documents.set_status(workspace, document_id, DocumentStatus.PENDING)
                    await require_lease(transaction.jobs, run.lease)
                raise

    async def _chunk(self, run: IngestRun, parsed: ParsedDocument) -> list[ChunkDraft]:
        with self._stage(IngestStage.CHUNK):
            drafts = await self._analysis.chunk(run.document.document_id, parsed, run.profile)
            if not drafts:
                raise ParseFailed(f"{run.document.source_path} holds no text.", code="PARSE_NO_TEXT")
        run.progress.advance()
        return drafts

    async def _publish(
        self, run: IngestRun, parsed: ParsedDocument, revision: Revision, drafts: list[ChunkDraft]
    ) -> IngestReport:
        """Diff, embed and publish; again from a fresh look when another publish of the document, or a switch of the
        workspace's embedding space, came between.
        """
        for _ in range(MAX_LOOKS):
            with self._stage(IngestStage.DIFF):
                plan = plan_publication(run.visible, drafts, run.vectors.keys(), keep_none=run.forced)
            added = await self._embed(run, revision, plan)
            publication = await self._publication(run, parsed, revision, plan, added)
            with self._stage(IngestStage.PUBLISH):
                report = await self._commit(run, publication, plan)
            if report is not None:
                return report
            if not await self._look_again(run):
                return run.report(IngestOutcome.GONE)
        raise Retryable("The document changed while it was being published.", code="PUBLISH_STALE")

    async def _embed(self, run: IngestRun, revision: Revision, plan: PublicationPlan) -> list[NewChunk]:
        """The added chunks with vectors, postings and entities. A single batch is indexed while its vectors come."""
        added = plan.diff.added
        workspace, titled = run.document.workspace, [(revision.title or run.document.title, draft) for draft in added]

        async def embed() -> None:
            with self._stage(IngestStage.EMBED, chunks=len(plan.unpaid)):
                await self._embedding.embed(run, revision, plan)

        async def index() -> list[tuple[TermCounts, ChunkEntities]]:
            with self._stage(IngestStage.INDEX, chunks=len(added)):
                return await self._analysis.index(workspace, titled)

        if len(plan.unpaid) <= run.embedder.batch_size:
            _, indexed = await asyncio.gather(embed(), index())
        else:
            await embed()
            indexed = await index()
        return new_chunks(added, [run.vectors[draft.chunk_id] for draft in added], indexed)

    async def _commit(
        self, run: IngestRun, publication: DocumentPublication, plan: PublicationPlan
    ) -> IngestReport | None:
        """Publish; None when the publication rests on an earlier revision or embedding space. Errors: `LeaseLost`."""
        try:
            published = await self._publisher.publish(run.document.workspace, run.space.space_id, publication)
        except SpaceSwitched:
            return None
        run.progress.advance()
        if published.refusal == "LEASE_LOST":
            raise lease_loss()
        if published.refusal == "STALE":
            return None
        if published.refusal is not None:
            return run.report(IngestOutcome.GONE)
        return run.report(IngestOutcome.PUBLISHED, published.version, plan.diff)

    async def _look_again(self, run: IngestRun) -> bool:
        """Load what readers see now; False when the document was deleted."""
        workspace, document_id = run.document.workspace, run.document.document_id
        embedders = await self._embedders.of(workspace)
        async with self._database.transaction(workspace.org_id) as transaction:
            document = await transaction.documents.get(workspace, document_id)
            if document is None:
                return False
            run.document = document
            run.visible = await transaction.documents.visible_chunks(workspace, document_id)
            space = await space_for(transaction, workspace, embedders)
        if space != run.space:
            run.space, run.embedder = space, embedders.for_space(space.space)
            run.vectors.clear()
        return True

    async def _publication(
        self,
        run: IngestRun,
        parsed: ParsedDocument,
        revision: Revision,
        plan: PublicationPlan,
        added: Sequence[NewChunk],
    ) -> DocumentPublication:
        document, diff = run.document, plan.diff
        provenance = {
            HIDDEN_CHARACTERS: str(await self._analysis.count_hidden_characters(parsed.text)),
            **unread_provenance(parsed),
            **left_out_provenance(parsed),
            **recognised_provenance(parsed),
            PUBLISHED: "" if parsed.published is None else parsed.published.isoformat(),
        }
        with self._stage(IngestStage.EXTRACT) as ending:
            extracted = None
            if self._model_entities is not None:
                title = revision.title or document.title
                extracted = await self._model_entities.read(document.workspace, title, added, run.progress)
            if extracted is None:
                ending.outcome = "skipped: off"
            else:
                ending.outcome = "ok: model" if extracted.fault is None else f"degraded: {extracted.fault}"
                added = extracted.chunks
                provenance.update(extracted.provenance())
        cost = await self._analysis.cost(diff.added, [kept.draft for kept in diff.kept], run.embedder.space)
        return DocumentPublication(
            document_id=document.document_id,
            revision=revision,
            content_hash=run.content_hash,
            added=tuple(added),
            kept=diff.kept,
            removed=diff.removed,
            expected=document.revision_id,
            job_id=run.lease.job.job_id,
            fence=run.lease.fence,
            title=parsed.title,
            metadata=find_metadata(parsed),
            media_type=parsed.media_type,
            provenance={**provenance, **cost.provenance()},
        )

    async def _remove_old_originals(self, run: IngestRun) -> None:
        """Remove older originals now; maintenance removes those whose blob store does not answer."""
        if len(run.originals) < 2:
            return
        try:
            await delete_marked_blobs(self._database, self._blobs, run.document.workspace, run.document.document_id)
        except DependencyUnavailable as error:
            self._telemetry.event("rag_original_left", level="warning", code=error.code, message=error.message)

    def _stage(self, stage: IngestStage, **sizes: int) -> AbstractContextManager[StageEnding]:
        attributes = {f"rag.{name}": size for name, size in sizes.items()}
        return run_stage(self._telemetry, stage.value, perf_counter, attributes)

    def _log_wait(self, run: IngestRun, seconds: float) -> None:
        if seconds >= WORTH_TELLING_SECONDS:
            document_id = str(run.document.document_id)
            self._telemetry.event("rag_document_waited", document_id=document_id, seconds=round(seconds, 3))


def _large(size: int) -> int:
    """The weight of a size: small ones do not count."""
    return size if size >= LARGE else 0
