"""Ingest a document again from the original that is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.ports import Original
from agentic_rag.ingestion.submit import CONTENT_PROVENANCE, ingest_job
from agentic_rag.jobs.job import JobKind, JobRef
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import Permanent, no_such_document
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.audit import SYSTEM_ACTOR, AuditAction
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit


@dataclass(frozen=True, slots=True)
class Reingestion:
    """The job that ingests a document again. `is_new` is False when one that does was waiting or running already."""

    document: Document
    job: JobRef
    is_new: bool


class ReingestDocument:
    """A new job with attempts of its own; the jobs before it stay as they ended.

    A FAILED document is tried again. One that is READY is parsed again only where its parser or chunk profile is not
    the present one, which the worker finds out: else the job ends at once and pays for nothing. With `force` all its
    chunks are made and embedded anew, whatever they are: the way to mend stores that drifted.
    """

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database = database
        self._telemetry = telemetry

    async def run(
        self, workspace: WorkspaceRef, document_id: UUID, actor: str = SYSTEM_ACTOR, *, force: bool = False
    ) -> Reingestion:
        """Queue it. Errors: `NotFound` (document), `Permanent` code ORIGINAL_MISSING, `DependencyUnavailable`."""
        async with self._database.transaction(workspace.org_id) as transaction:
            # The document is locked before its jobs, as everywhere; one that is under way stays as it is.
            await transaction.documents.set_status(workspace, document_id, DocumentStatus.PENDING)
            document = await transaction.documents.get(workspace, document_id)
            if document is None:
                raise no_such_document()
            content = _content(document, await transaction.originals.of(workspace, document_id))
            if force:
                await transaction.jobs.cancel_for_document(workspace, document_id, JobKind.INGEST)
            job, is_new = await transaction.jobs.enqueue(
                ingest_job(workspace, document_id, content, self._telemetry.carrier(), force=force)
            )
            if is_new:
                await audit(
                    transaction,
                    self._telemetry,
                    AuditAction.REINGEST_DOCUMENT,
                    workspace,
                    document_id,
                    actor,
                    force=force,
                )
        self._telemetry.event("rag_document_reingested", document_id=str(document_id), force=force, new=is_new)
        return Reingestion(document, job, is_new)


def _content(document: Document, originals: Sequence[Original]) -> bytes:
    """The SHA-256 of the newest original that is kept: the registered one, which a failed document never published,
    else the published one.
    """
    registered = document.provenance.get(CONTENT_PROVENANCE)
    wanted = document.content_hash if registered is None else bytes.fromhex(registered)
    if wanted is None or all(held.content_hash != wanted for held in originals):
        raise Permanent(
            f"No original of {document.source_path} is kept. Ingest the source again.", code="ORIGINAL_MISSING"
        )
    return wanted
