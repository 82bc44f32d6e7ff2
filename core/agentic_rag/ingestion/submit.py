"""Hand a document to ingestion: the registration, its original and its job in one transaction, the bytes before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from agentic_rag.documents.document import Document, DocumentStatus, revision_id_for
from agentic_rag.documents.metadata import NO_CHANGE, MetadataChange
from agentic_rag.documents.ports import NewDocument, Parser
from agentic_rag.ingestion.ingest_run import CONTENT_ARGUMENT, FORCE_ARGUMENT
from agentic_rag.jobs.job import JobKind, JobRef, NewJob, QueueName
from agentic_rag.kernel.database import Transaction
from agentic_rag.tenancy.principals import WorkspaceRef

CONTENT_PROVENANCE = "content_sha256"
"""Where a registered document says which original its ingestion is about."""


@dataclass(frozen=True, slots=True)
class Submission:
    """A document whose bytes are in the blob store under `key`, and what is known of it before parsing."""

    workspace: WorkspaceRef
    document_id: UUID
    """The same path in the same workspace is the same document, and a document that moves stays the same
    (`documents.document_ids`).
    """
    source_path: str
    key: str
    content_hash: bytes
    """SHA-256 of the bytes."""
    size: int
    title: str
    file_name: str
    media_type: str
    uploaded_by: str
    url: str | None = None
    access_id: int | None = None
    """Who may read it; None: whoever may now, or everybody for a document that is new."""
    provenance: Mapping[str, str] = field(default_factory=dict[str, str])
    metadata: MetadataChange = NO_CHANGE
    """What is said of it, in the stored form."""
    is_renamed: bool = False
    """Another name may mean another title or loader: every chunk is made anew."""

    def is_underway(self, document: Document) -> bool:
        """Whether these very bytes were handed over and wait or are being ingested."""
        registered = document.provenance.get(CONTENT_PROVENANCE)
        unfinished = document.status in (DocumentStatus.PENDING, DocumentStatus.PROCESSING)
        return unfinished and registered == self.content_hash.hex()


def is_published(document: Document, content_hash: bytes, parser: Parser, profile: str) -> bool:
    """Whether readers see this content as this parser and chunk profile make it."""
    expected = revision_id_for(document.document_id, content_hash, parser.version, profile)
    return document.status is DocumentStatus.READY and document.revision_id == expected


@dataclass(frozen=True, slots=True)
class SubmissionResult:
    """A document that was handed over. `key` holds its bytes; another than the submission's means that the content was
    there already, and the submission's blob is to be removed.
    """

    job: JobRef
    key: str


def ingest_job(
    workspace: WorkspaceRef,
    document_id: UUID,
    content_hash: bytes,
    carrier: Mapping[str, str],
    *,
    force: bool = False,
    queue: QueueName = QueueName.BULK,
) -> NewJob:
    """The job that ingests one original of a document. The content is part of the key: newer bytes are newer work.
    With `force` nothing that is published is kept.
    """
    forced = {FORCE_ARGUMENT: "true"} if force else {}
    return NewJob(
        workspace=workspace,
        kind=JobKind.INGEST,
        key=f"{document_id}:{content_hash.hex()}",
        arguments={CONTENT_ARGUMENT: content_hash.hex(), **forced},
        queue=queue,
        trace_carrier=carrier,
        document_id=document_id,
    )


async def describe(transaction: Transaction, submission: Submission) -> None:
    """Store what a submission says of its document, which is registered."""
    if not submission.metadata.is_empty:
        await transaction.documents.describe(submission.workspace, [submission.document_id], submission.metadata)


async def submit(
    transaction: Transaction, submission: Submission, carrier: Mapping[str, str], queue: QueueName = QueueName.BULK
) -> SubmissionResult:
    """Register the document and enqueue its ingestion, in place of older unfinished work on the same document. The
    bytes are stored before: no job ever names an original that is not there.

    The document is locked before its jobs, as everywhere (documents, jobs, workspace): no two wait in a circle.
    """
    workspace, document_id = submission.workspace, submission.document_id
    await transaction.documents.register(
        workspace,
        NewDocument(
            document_id=document_id,
            source_path=submission.source_path,
            title=submission.title,
            file_name=submission.file_name,
            media_type=submission.media_type,
            size=submission.size,
            uploaded_by=submission.uploaded_by,
            url=submission.url,
            access_id=submission.access_id,
            provenance={**submission.provenance, CONTENT_PROVENANCE: submission.content_hash.hex()},
        ),
    )
    await describe(transaction, submission)
    key = await transaction.originals.keep(
        workspace, document_id, submission.content_hash, submission.key, submission.size
    )
    for kind in (JobKind.INGEST, JobKind.DELETE):
        await transaction.jobs.cancel_for_document(workspace, document_id, kind)
    ref, _ = await transaction.jobs.enqueue(
        ingest_job(workspace, document_id, submission.content_hash, carrier, force=submission.is_renamed, queue=queue)
    )
    return SubmissionResult(ref, key)
