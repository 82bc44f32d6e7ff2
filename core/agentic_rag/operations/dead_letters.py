"""Replays dead letters, purges their contents, and forgets undecodable messages. Each act leaves an audit entry."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.ingestion.ingest_run import CONTENT_ARGUMENT
from agentic_rag.ingestion.submit import CONTENT_PROVENANCE
from agentic_rag.jobs.job import Job, JobKind, JobRef, JobState, Replay
from agentic_rag.jobs.ports import DeadPayloads
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import NotFound, Retryable
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit, audit_entry

CONFLICT_TRIES = 3
"""A newer job being written shows as a conflict once, and as an unfinished job on the next attempt."""


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """The job after a replay request, and the request's outcome."""

    job: Job
    outcome: Replay


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """The job after a purge request; `purged` is False if the job was not, or no longer, a dead letter."""

    job: Job
    purged: bool


class DeadLetters:
    """Replays and purges dead letters. Both acts are idempotent: repeating one changes nothing and reports so."""

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database = database
        self._telemetry = telemetry

    async def replay(self, workspace: WorkspaceRef, job_id: UUID, actor: str) -> ReplayResult:
        """Queue a dead letter again with a fresh allowance of attempts; its document becomes PENDING. Errors:
        `NotFound` code JOB_NOT_FOUND, `DependencyUnavailable`.
        """
        for _ in range(CONFLICT_TRIES - 1):
            try:
                return await self._replay(workspace, job_id, actor)
            except Retryable as conflict:
                self._telemetry.event("rag_replay_conflict", job_id=str(job_id), code=conflict.code)
        return await self._replay(workspace, job_id, actor)

    async def purge(self, workspace: WorkspaceRef, job_id: UUID, actor: str) -> PurgeResult:
        """Remove the contents of a dead letter: arguments, error texts, trace and attempts. Kind, code and times
        remain.

        Errors: `NotFound` code JOB_NOT_FOUND, `DependencyUnavailable`.
        """
        async with self._database.transaction(workspace.org_id) as transaction:
            job = await _require_job(transaction, workspace, job_id)
            purged = await transaction.jobs.purge(JobRef(workspace, job_id))
            if purged:
                await self._audit(transaction, AuditAction.PURGE_DEAD_LETTER, job, actor)
                job = await _require_job(transaction, workspace, job_id)
        return PurgeResult(job, purged)

    async def forget_message(self, messages: DeadPayloads, org_id: UUID, message_id: UUID, actor: str) -> None:
        """Delete an undecodable message. Nobody knows whose it was, so the caller's organisation has the entry, which
        is written first: messages are deleted by another role of the database. Errors: `NotFound`,
        `DependencyUnavailable`.
        """
        found = await messages.get(message_id)
        if found is not None:
            told: dict[str, str | int] = {"queue": found.message.queue, "code": found.message.code}
            entry = audit_entry(self._telemetry, AuditAction.PURGE_MESSAGE, None, message_id, actor, **told)
            await self._database.record_audit(org_id, entry)
        if found is None or not await messages.purge(message_id):
            raise NotFound(f"There is no payload {message_id}; `rag dlq list --payloads` shows them.")

    async def _replay(self, workspace: WorkspaceRef, job_id: UUID, actor: str) -> ReplayResult:
        async with self._database.transaction(workspace.org_id) as transaction:
            job = await _require_job(transaction, workspace, job_id)
            if job.state is not JobState.DEAD:
                return ReplayResult(job, Replay.NOT_DEAD)
            document = None
            if job.document_id is not None:
                # Lock order everywhere: document, job, workspace.
                document = await transaction.documents.get_for_update(workspace, job.document_id)
            if is_obsolete(job, document):
                return ReplayResult(job, Replay.SUPERSEDED)
            outcome = await transaction.jobs.replay(JobRef(workspace, job_id))
            if outcome is Replay.REPLAYED:
                if job.kind is JobKind.INGEST and document is not None:
                    await transaction.documents.set_status(workspace, document.document_id, DocumentStatus.PENDING)
                await self._audit(transaction, AuditAction.REPLAY_DEAD_LETTER, job, actor)
            return ReplayResult(await _require_job(transaction, workspace, job_id), outcome)

    async def _audit(self, transaction: Transaction, action: AuditAction, job: Job, actor: str) -> None:
        told = {"kind": job.kind_name, "code": job.error_code, "attempts": job.attempts}
        await audit(transaction, self._telemetry, action, job.workspace, job.job_id, actor, **told)


def is_obsolete(job: Job, document: Document | None) -> bool:
    """Whether running this dead letter now would undo or repeat later work."""
    if job.kind is JobKind.INGEST:
        if document is None:
            return True
        wanted = job.arguments.get(CONTENT_ARGUMENT)
        newest = document.provenance.get(CONTENT_PROVENANCE, wanted)
        published = document.content_hash.hex() if document.content_hash is not None else None
        # Redacted arguments belong to a document that was erased and ingested again.
        return wanted is None or newest != wanted or (document.status is DocumentStatus.READY and published == wanted)
    if job.kind is JobKind.DELETE:
        # A document that was ingested again after its deletion failed must stay.
        return document is not None and document.updated_at > job.updated_at
    return False


async def _require_job(transaction: Transaction, workspace: WorkspaceRef, job_id: UUID) -> Job:
    job = await transaction.jobs.get(workspace, job_id)
    if job is None:
        raise NotFound("There is no such job.", code="JOB_NOT_FOUND")
    return job
