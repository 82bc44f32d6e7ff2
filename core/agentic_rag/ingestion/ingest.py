"""Ingest one document: read, parse, chunk, embed what is new, publish."""

from __future__ import annotations

import asyncio
import enum
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from agentic_rag.documents.document import (
    ChunkDraft,
    Document,
    DocumentFault,
    DocumentStatus,
    ParsedDocument,
    Revision,
    revision_id_for,
)
from agentic_rag.documents.originals import delete_marked_blobs
from agentic_rag.documents.ports import BlobStore, Original, Parser
from agentic_rag.documents.revision_diff import RevisionDiff, VisibleChunk, diff_revision, replace_all
from agentic_rag.ingestion.analyse import TextAnalysis, embed_texts, new_chunks, space_for
from agentic_rag.ingestion.extract_entities import ExtractEntities
from agentic_rag.ingestion.group_commit import GroupCommitPublisher
from agentic_rag.ingestion.ports import DocumentPublication, KeptChunk, NewChunk, Published
from agentic_rag.jobs.job import GiveUp, Lease, Retry
from agentic_rag.jobs.leases import lease_lost, require_lease
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.concurrency import WeightedSemaphore
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.error_redaction import redact
from agentic_rag.kernel.errors import (
    AgenticRagError,
    DependencyUnavailable,
    NotFound,
    ParseFailed,
    Permanent,
    Retryable,
    SpaceSwitched,
)
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.embedding.ports import Embedder, EmbedderSource
from agentic_rag.models.embedding.space import RegisteredSpace
from agentic_rag.workspaces.effective_settings import effective_settings

CONTENT_ARGUMENT = "content"
"""The job argument that holds the SHA-256 of the original, in hex."""

HIDDEN_CHARACTERS = "hidden_characters"
"""The provenance that says how many characters of a document its readers do not see."""

FORCE_ARGUMENT = "force"
"""The job argument that says: keep nothing that is published, make every chunk anew."""


LARGE = 200_000
"""Bytes of an original, or characters of a text, from which on a document waits its turn; smaller ones never do."""

ORIGINALS_AT_ONCE = 8_000_000
"""Bytes of large originals that this process reads, parses and publishes at once. One that is larger goes alone."""

WORTH_TELLING_SECONDS = 0.1
"""What a document waited for its turn among large ones, from which on the log says so."""

MAX_LOOKS = 3
"""How often an ingestion looks afresh at a document that changes under it, before its job is tried again later."""


class IngestOutcome(enum.Enum):
    """How an ingestion ended."""

    PUBLISHED = "published"
    UNCHANGED = "unchanged"
    GONE = "gone"
    """The document was deleted meanwhile: nothing is left to do."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What one ingestion did and what it paid for."""

    document_id: UUID
    outcome: IngestOutcome
    version: int | None = None
    """The corpus version that shows the revision."""
    embedded: int = 0
    """Chunks sent to the embedder by this attempt."""
    recovered: int = 0
    """Chunks an earlier attempt had paid for."""
    kept: int = 0
    removed: int = 0


@dataclass(slots=True)
class _IngestRun:
    """A leased ingestion under way."""

    lease: Lease
    progress: JobProgress
    document: Document
    space: RegisteredSpace
    embedder: Embedder
    profile: str
    visible: list[VisibleChunk]
    content_hash: bytes
    forced: bool
    originals: Mapping[bytes, Original]
    """The document's originals by content."""
    vectors: dict[UUID, bytes] = field(default_factory=dict[UUID, bytes])
    embedded: int = 0
    recovered: int = 0

    def original(self) -> Original:
        """What the job is to ingest. Errors: `Permanent` when it is not kept any more."""
        original = self.originals.get(self.content_hash)
        if original is None:
            raise _original_missing(self.document)
        return original

    def report(self, outcome: IngestOutcome, version: int | None, diff: RevisionDiff | None) -> IngestReport:
        return IngestReport(
            document_id=self.document.document_id,
            outcome=outcome,
            version=version,
            embedded=self.embedded,
            recovered=self.recovered,
            kept=len(diff.kept) if diff else 0,
            removed=len(diff.removed) if diff else 0,
        )


class IngestDocument:
    """The body of INGEST jobs. Safe to run any number of times, and by two workers at once: the fence decides."""

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
        self._originals = WeightedSemaphore(ORIGINALS_AT_ONCE)
        # Each holds its chunks, vectors and postings until it is published; several at once took 160 MB.
        self._texts = WeightedSemaphore(1)

    async def run(self, lease: Lease, progress: JobProgress) -> IngestReport:
        """Ingest the document of a leased job.

        Errors: `ParseFailed`, `SpaceMismatch` and other `Permanent` ones; `Retryable`; `LeaseLost`.
        """
        work = await self._begin(lease, progress)
        if work is None:
            return IngestReport(_document_id(lease), IngestOutcome.GONE)
        revision_id = revision_id_for(work.document.document_id, work.content_hash, self._parser.version, work.profile)
        if work.document.revision_id == revision_id and not work.forced:
            return await self._finish_without_change(work)
        original = work.original()
        async with self._originals.acquire(_large(original.size), progress.advance) as waited:
            self._tell_waiting(work, waited)
            parsed = await self._read(work, original)
            async with self._texts.acquire(min(_large(len(parsed.text)), 1), progress.advance) as waited:
                self._tell_waiting(work, waited)
                report = await self._publish_text(work, revision_id, parsed)
        self._tell(report)
        await self._remove_old_originals(work)
        return report

    async def record_failure(
        self, transaction: Transaction, lease: Lease, error: AgenticRagError, decision: Retry | GiveUp
    ) -> None:
        """Show on the document what the job's failure means, in the transaction that records it.

        Chunks published before stay visible whatever happens to the new revision.
        """
        workspace, document_id = lease.job.workspace, lease.job.document_id
        if document_id is None:
            return
        retryable = isinstance(decision, Retry)
        fault = DocumentFault(error.code, redact(error.message), lease.job.attempts, retryable)
        status = DocumentStatus.PENDING if retryable else DocumentStatus.FAILED
        await transaction.documents.set_status(workspace, document_id, status, fault)
        if not retryable:
            await transaction.documents.discard_staging(workspace, document_id)

    async def _begin(self, lease: Lease, progress: JobProgress) -> _IngestRun | None:
        workspace = lease.job.workspace
        document_id = _document_id(lease)
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
            return _IngestRun(
                lease=lease,
                progress=progress,
                document=document,
                space=space,
                embedder=embedders.for_space(space.space),
                profile=effective_settings(stored).chunk_profile or self._chunk_profile,
                visible=await transaction.documents.visible_chunks(workspace, document_id),
                content_hash=_content_hash(lease.job.arguments),
                forced=FORCE_ARGUMENT in lease.job.arguments,
                originals={held.content_hash: held for held in originals},
            )

    async def _finish_without_change(self, work: _IngestRun) -> IngestReport:
        workspace = work.document.workspace
        async with self._database.transaction(workspace.org_id) as transaction:
            await transaction.documents.set_status(workspace, work.document.document_id, DocumentStatus.READY)
            await require_lease(transaction.jobs, work.lease)
            await transaction.originals.supersede(workspace, [work.document.document_id])
        await self._remove_old_originals(work)
        return work.report(IngestOutcome.UNCHANGED, None, None)

    async def _read(self, work: _IngestRun, original: Original) -> ParsedDocument:
        document = work.document
        try:
            content = await self._blobs.read(original.key)
        except NotFound as error:
            raise _original_missing(document) from error
        # The registered media type is a guess from the name; the parser looks at the bytes as well.
        parsed = await self._parser.parse(content, document.file_name, None)
        work.progress.advance()
        return parsed

    async def _publish_text(self, work: _IngestRun, revision_id: UUID, parsed: ParsedDocument) -> IngestReport:
        drafts = await self._cut(work, parsed)
        revision = Revision(
            revision_id=revision_id,
            document_id=work.document.document_id,
            text=parsed.text,
            text_hash=hashlib.sha256(parsed.text.encode("utf-8", "surrogatepass")).digest(),
            pages=parsed.pages,
            parser=parsed.parser,
            parser_version=parsed.parser_version,
            title=parsed.title or work.document.title,
        )
        return await self._publish(work, parsed, revision, drafts)

    async def _cut(self, work: _IngestRun, parsed: ParsedDocument) -> list[ChunkDraft]:
        document = work.document
        drafts = await self._analysis.chunk(document.document_id, parsed, work.profile)
        if not drafts:
            raise ParseFailed(f"{document.source_path} holds no text.", code="PARSE_NO_TEXT")
        work.progress.advance()
        return drafts

    async def _publish(
        self, work: _IngestRun, parsed: ParsedDocument, revision: Revision, drafts: list[ChunkDraft]
    ) -> IngestReport:
        """Publish; again from a fresh look when another publish of the document, or a switch of the workspace's
        embedding space, came between.
        """
        for _ in range(MAX_LOOKS):
            diff = replace_all(work.visible, drafts) if work.forced else diff_revision(work.visible, drafts)
            added = await self._prepare_new_chunks(work, revision, diff)
            publication = await self._publication(work, parsed, revision, diff, added)
            try:
                published = await self._publisher.publish(work.document.workspace, work.space.space_id, publication)
            except SpaceSwitched:
                if not await self._look_again(work):
                    return work.report(IngestOutcome.GONE, None, None)
                continue
            work.progress.advance()
            if published.refusal == "STALE":
                if not await self._look_again(work):
                    return work.report(IngestOutcome.GONE, None, None)
                continue
            return _report_publication(work, published, diff)
        raise Retryable("The document changed while it was being published.", code="PUBLISH_STALE")

    async def _remove_old_originals(self, work: _IngestRun) -> None:
        """Remove older originals now; what cannot be removed stays doomed, for upkeep."""
        if len(work.originals) < 2:
            return
        try:
            await delete_marked_blobs(self._database, self._blobs, work.document.workspace, work.document.document_id)
        except DependencyUnavailable as error:
            self._telemetry.event("rag_original_left", level="warning", code=error.code, message=error.message)

    async def _look_again(self, work: _IngestRun) -> bool:
        workspace, document_id = work.document.workspace, work.document.document_id
        embedders = await self._embedders.of(workspace)
        async with self._database.transaction(workspace.org_id) as transaction:
            document = await transaction.documents.get(workspace, document_id)
            if document is None:
                return False
            work.document = document
            work.visible = await transaction.documents.visible_chunks(workspace, document_id)
            space = await space_for(transaction, workspace, embedders)
        if space != work.space:
            work.space, work.embedder = space, embedders.for_space(space.space)
            work.vectors.clear()
        return True

    async def _prepare_new_chunks(self, work: _IngestRun, revision: Revision, diff: RevisionDiff) -> list[NewChunk]:
        """The added chunks with vectors, postings and entities. One batch goes straight on to the publish, and is
        indexed while its vectors come; of more, each is staged as soon as it is paid for.
        """
        workspace, title = work.document.workspace, revision.title or work.document.title
        titled = [(title, draft) for draft in diff.added]
        wanted = [draft for draft in diff.added if draft.chunk_id not in work.vectors]
        if len(wanted) <= work.embedder.batch_size:
            _, indexed = await asyncio.gather(self._embed_batch(work, wanted), self._analysis.index(workspace, titled))
        else:
            await self._embed_and_stage(work, revision, diff, wanted)
            indexed = await self._analysis.index(workspace, titled)
        return new_chunks(diff.added, [work.vectors[draft.chunk_id] for draft in diff.added], indexed)

    async def _embed_and_stage(
        self, work: _IngestRun, revision: Revision, diff: RevisionDiff, wanted: list[ChunkDraft]
    ) -> None:
        size = work.embedder.batch_size
        staged = await self._stage(work, revision, diff, wanted)
        wanted = [draft for draft in wanted if draft.chunk_id not in work.vectors]
        for start in range(0, len(wanted), size):
            batch = wanted[start : start + size]
            await self._embed_batch(work, batch)
            vectors = {draft.index: work.vectors[draft.chunk_id] for draft in batch if draft.index in staged}
            await self._keep_vectors(work, revision, vectors, diff)

    async def _embed_batch(self, work: _IngestRun, drafts: list[ChunkDraft]) -> None:
        if not drafts:
            return
        vectors = await embed_texts(work.embedder, [draft.text for draft in drafts])
        work.vectors.update(zip((draft.chunk_id for draft in drafts), vectors, strict=True))
        work.embedded += len(drafts)
        work.progress.advance()

    async def _stage(
        self, work: _IngestRun, revision: Revision, diff: RevisionDiff, drafts: list[ChunkDraft]
    ) -> frozenset[int]:
        """Write the chunks, or find what an earlier attempt wrote: take over its vectors. The indexes staged."""
        workspace, document_id = work.document.workspace, work.document.document_id
        async with self._database.transaction(workspace.org_id) as transaction:
            await transaction.documents.set_progress(workspace, document_id, *_progress(work, diff))
            await require_lease(transaction.jobs, work.lease)
            await transaction.documents.discard_staging(workspace, document_id, keep=revision.revision_id)
            await transaction.documents.stage(workspace, document_id, revision, drafts)
            staged = await transaction.documents.load_staging(workspace, revision.revision_id) or []
        # An earlier attempt may have staged vectors before a switch: those are of another space.
        space_id = work.space.space_id
        known = {chunk.chunk_id: chunk.vector for chunk in staged if chunk.space_id == space_id}
        for draft in drafts:
            vector = known.get(draft.chunk_id)
            if vector is not None:
                work.vectors[draft.chunk_id] = vector
                work.recovered += 1
        return frozenset(chunk.index for chunk in staged)

    async def _keep_vectors(
        self, work: _IngestRun, revision: Revision, vectors: Mapping[int, bytes], diff: RevisionDiff
    ) -> None:
        workspace, document_id = work.document.workspace, work.document.document_id
        async with self._database.transaction(workspace.org_id) as transaction:
            await transaction.documents.set_progress(workspace, document_id, *_progress(work, diff))
            await require_lease(transaction.jobs, work.lease)
            await transaction.documents.stage_vectors(workspace, revision.revision_id, work.space.space_id, vectors)

    async def _publication(
        self,
        work: _IngestRun,
        parsed: ParsedDocument,
        revision: Revision,
        diff: RevisionDiff,
        added: Sequence[NewChunk],
    ) -> DocumentPublication:
        document = work.document
        provenance = {HIDDEN_CHARACTERS: str(await self._analysis.count_hidden_characters(parsed.text))}
        if self._model_entities is not None:
            title = revision.title or document.title
            extracted = await self._model_entities.read(document.workspace, title, added, work.progress)
            if extracted is not None:
                added = extracted.chunks
                provenance.update(extracted.provenance())
        cost = await self._analysis.cost(diff.added, [kept.draft for kept in diff.kept], work.embedder.space)
        return DocumentPublication(
            document_id=document.document_id,
            revision=revision,
            content_hash=work.content_hash,
            added=tuple(added),
            kept=tuple(KeptChunk(kept.ordinal, kept.draft, kept.moved) for kept in diff.kept),
            removed=diff.removed,
            expected=document.revision_id,
            job_id=work.lease.job.job_id,
            fence=work.lease.fence,
            title=parsed.title,
            media_type=parsed.media_type,
            provenance={**provenance, **cost.provenance()},
        )

    def _tell_waiting(self, work: _IngestRun, seconds: float) -> None:
        if seconds >= WORTH_TELLING_SECONDS:
            document_id = str(work.document.document_id)
            self._telemetry.event("rag_document_waited", document_id=document_id, seconds=round(seconds, 3))

    def _tell(self, report: IngestReport) -> None:
        self._telemetry.count("rag_chunks_total", report.embedded, paid="embedded")
        self._telemetry.count("rag_chunks_total", report.kept + report.recovered, paid="kept")
        self._telemetry.event(
            "rag_document_ingested",
            document_id=str(report.document_id),
            outcome=report.outcome.value,
            version=report.version,
            embedded=report.embedded,
            recovered=report.recovered,
            kept=report.kept,
            removed=report.removed,
        )


def _report_publication(work: _IngestRun, published: Published, diff: RevisionDiff) -> IngestReport:
    if published.refusal == "LEASE_LOST":
        raise lease_lost()
    if published.refusal is not None:
        return work.report(IngestOutcome.GONE, None, None)
    return work.report(IngestOutcome.PUBLISHED, published.version, diff)


def _large(size: int) -> int:
    """A size as it counts towards what is held at once."""
    return size if size >= LARGE else 0


def _progress(work: _IngestRun, diff: RevisionDiff) -> tuple[int, int]:
    """Chunks done, and in all."""
    return len(diff.kept) + len(work.vectors), len(diff.kept) + len(diff.added)


def _original_missing(document: Document) -> Permanent:
    return Permanent(
        f"The original of {document.source_path} is not in the blob store. Ingest the source again.",
        code="ORIGINAL_MISSING",
    )


def _document_id(lease: Lease) -> UUID:
    if lease.job.document_id is None:
        raise Permanent("An ingest job names no document.", code="JOB_ARGUMENTS_INVALID")
    return lease.job.document_id


def _content_hash(arguments: Mapping[str, str]) -> bytes:
    try:
        return bytes.fromhex(arguments[CONTENT_ARGUMENT])
    except (KeyError, ValueError) as error:
        raise Permanent("An ingest job names no original.", code="JOB_ARGUMENTS_INVALID") from error
