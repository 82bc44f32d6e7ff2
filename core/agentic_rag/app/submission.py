"""Hand a document to ingestion: the registration and its job in one transaction, the original before both."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from agentic_rag.app.ingest import CONTENT_ARGUMENT, FORCE_ARGUMENT
from agentic_rag.app.originals import original_key
from agentic_rag.domain.documents import document_id_for
from agentic_rag.domain.jobs import JobKind, JobRef, NewJob
from agentic_rag.domain.tenancy import DEFAULT_ACCESS_ID, WorkspaceRef
from agentic_rag.ports.blob_store import BlobStore
from agentic_rag.ports.database import Transaction
from agentic_rag.ports.document_store import NewDocument

CONTENT_PROVENANCE = "content_sha256"
"""Where a registered document says which original its ingestion is about."""


@dataclass(frozen=True, slots=True)
class Submission:
    """A document's bytes and what is known of them before parsing."""

    workspace: WorkspaceRef
    source_path: str
    content: bytes
    title: str
    file_name: str
    media_type: str
    uploaded_by: str
    url: str | None = None
    access_id: int = DEFAULT_ACCESS_ID
    provenance: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def document_id(self) -> UUID:
        """The same path in the same workspace is the same document."""
        return document_id_for(self.workspace, self.source_path)

    @property
    def content_hash(self) -> bytes:
        """SHA-256 of the bytes."""
        return hashlib.sha256(self.content).digest()


def ingest_job(
    workspace: WorkspaceRef,
    document_id: UUID,
    content_hash: bytes,
    carrier: Mapping[str, str],
    *,
    force: bool = False,
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
        trace_carrier=carrier,
        document_id=document_id,
    )


async def keep_original(blobs: BlobStore, submission: Submission) -> None:
    """Store the bytes; before the transaction, so that no job ever names an original that is not there."""
    key = original_key(submission.workspace, submission.document_id, submission.content_hash)
    await blobs.put(key, submission.content)


async def submit(transaction: Transaction, submission: Submission, carrier: Mapping[str, str]) -> JobRef:
    """Register the document and enqueue its ingestion, in place of older unfinished work on the same document.

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
            size=len(submission.content),
            uploaded_by=submission.uploaded_by,
            url=submission.url,
            access_id=submission.access_id,
            provenance={**submission.provenance, CONTENT_PROVENANCE: submission.content_hash.hex()},
        ),
    )
    for kind in (JobKind.INGEST, JobKind.DELETE):
        await transaction.jobs.cancel_for_document(workspace, document_id, kind)
    ref, _ = await transaction.jobs.enqueue(ingest_job(workspace, document_id, submission.content_hash, carrier))
    return ref
