"""Cancels a job that waits or runs."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.documents.document import DocumentFault, DocumentStatus
from agentic_rag.documents.document_access import DocumentRight, list_scope, may_own, require_right
from agentic_rag.jobs.job import Job, JobKind, JobRef, JobState
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.access import may_manage_access, read_identity
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit

CANCELLABLE = frozenset({JobKind.INGEST, JobKind.SYNC, JobKind.EVAL, JobKind.CALIBRATE})
"""Work that somebody asked for and may ask for again. An erasure must end, upkeep comes back by itself, and a switch
of embeddings has its own cancellation.
"""

_NO_DOCUMENT = UUID(int=0)
_UNFINISHED = (JobState.QUEUED, JobState.RUNNING)


class CancelOutcome(enum.Enum):
    """What became of a cancellation."""

    CANCELLED = "cancelled"
    """It does not start, or its worker stops at its next step; nothing that it does later counts."""
    ALREADY_ENDED = "already_ended"
    NOT_CANCELLABLE = "not_cancellable"
    """Work of this kind must be done."""


@dataclass(frozen=True, slots=True)
class Cancellation:
    """The job afterwards, and what became of the request."""

    job: Job
    outcome: CancelOutcome


class CancelJob:
    """Cancels jobs; the audit log says who did. Repeating it changes nothing."""

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database = database
        self._telemetry = telemetry

    async def run(self, principal: Principal, workspace: WorkspaceRef, job_id: UUID) -> Cancellation:
        """Cancel a job of a document that the caller may write, or any for who manages the workspace. The document
        becomes FAILED with JOB_CANCELLED, and what readers saw of it stays.

        Errors: `NotFound` code JOB_NOT_FOUND, for one that the caller may not know of too; `Forbidden`.
        """
        async with self._database.transaction(workspace.org_id) as transaction:
            # What is hidden and what is not there take the same statements, and nothing of it is fetched.
            if not may_manage_access(principal):
                scope = await list_scope(transaction, principal, workspace)
                is_owner = await transaction.access.owns(workspace, job_id, principal.subject_id)
                if not is_owner and await transaction.jobs.get(workspace, job_id, scope) is None:
                    raise _no_such_job()
            job = await transaction.jobs.get(workspace, job_id)
            key = job.document_id if job is not None and job.document_id is not None else _NO_DOCUMENT
            is_reader = await transaction.access.sees(workspace, key, read_identity(principal))
            # Lock order everywhere: document, job, workspace.
            document = await transaction.documents.get_for_update(workspace, key)
            owns = may_manage_access(principal) or (document is not None and may_own(principal, document))
            if job is None or not (owns or (document is not None and is_reader)):
                raise _no_such_job()
            if document is not None:
                await require_right(transaction, principal, document, DocumentRight.WRITE)
            if job.state not in _UNFINISHED:
                return Cancellation(job, CancelOutcome.ALREADY_ENDED)
            if job.kind not in CANCELLABLE:
                return Cancellation(job, CancelOutcome.NOT_CANCELLABLE)
            if not await transaction.jobs.cancel(JobRef(workspace, job_id)):
                ended = await transaction.jobs.get(workspace, job_id) or job
                return Cancellation(ended, CancelOutcome.ALREADY_ENDED)
            if job.kind is JobKind.INGEST and document is not None:
                fault = DocumentFault("JOB_CANCELLED", "Its ingestion was cancelled.", job.attempts, retryable=True)
                await transaction.documents.set_status(workspace, document.document_id, DocumentStatus.FAILED, fault)
            await audit(
                transaction,
                self._telemetry,
                AuditAction.CANCEL_JOB,
                workspace,
                job_id,
                principal.subject_id,
                kind=job.kind_name,
                state=job.state.value,
            )
            return Cancellation(await transaction.jobs.get(workspace, job_id) or job, CancelOutcome.CANCELLED)


def _no_such_job() -> NotFound:
    return NotFound("There is no such job.", code="JOB_NOT_FOUND")
