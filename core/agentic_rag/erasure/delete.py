"""Erases a document from every store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from agentic_rag.answering.ports import AnswerCache
from agentic_rag.documents.originals import delete_marked_blobs
from agentic_rag.documents.ports import BlobStore
from agentic_rag.erasure.certificate import Certificate, ErasedStore, StoreErasure
from agentic_rag.erasure.ports import Erasure
from agentic_rag.erasure.process_memory import lines_of
from agentic_rag.jobs.job import JobKind, Lease, NewJob
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import DependencyUnavailable, Permanent
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.access import may_manage_access, read_identity
from agentic_rag.tenancy.audit import SYSTEM_ACTOR, AuditAction
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit
from agentic_rag.tenancy.shown_versions import show_versions


@dataclass(frozen=True, slots=True)
class Deletion:
    """The result of a deletion. `erasure` is None if the database did not, or no longer, contain the document."""

    document_id: UUID
    erasure: Erasure | None
    cache_entries: int
    blobs: int
    unfinished: tuple[str, ...] = ()
    """Stores that did not answer; a DELETE job empties them later."""
    certificate: Certificate | None = None
    """The current certificate; None if the document was never erased."""


async def show_deletion(
    database: Database, workspace: WorkspaceRef, principal: Principal, deletion: Deletion
) -> Deletion:
    """A deletion as the caller is shown it."""
    erasure, certificate = deletion.erasure, deletion.certificate
    if erasure is not None:
        (version,) = await show_versions(database, workspace, read_identity(principal), [erasure.version])
        erasure = replace(erasure, version=version)
    if certificate is not None:
        certificate = await show_certificate(database, workspace, principal, certificate)
    return replace(deletion, erasure=erasure, certificate=certificate)


async def show_certificate(
    database: Database, workspace: WorkspaceRef, principal: Principal, certificate: Certificate
) -> Certificate:
    """A certificate as the caller is shown it: with his corpus version, and only for those who manage the workspace
    with counts that tell of others.
    """
    (version,) = await show_versions(database, workspace, read_identity(principal), [certificate.version])
    shown = replace(certificate, version=version)
    return shown if may_manage_access(principal) else shown.without_counts_of_others()


def delete_job(
    workspace: WorkspaceRef, document_id: UUID, carrier: Mapping[str, str], delay_seconds: float = 0.0
) -> NewJob:
    """The job that erases a document, after the delay."""
    return NewJob(
        workspace=workspace,
        kind=JobKind.DELETE,
        key=str(document_id),
        arguments={},
        trace_carrier=carrier,
        document_id=document_id,
        delay_seconds=delay_seconds,
    )


class DeleteDocument:
    """Idempotent. A running ingestion of the document loses its fence and changes nothing more."""

    def __init__(self, database: Database, cache: AnswerCache, blobs: BlobStore, telemetry: Telemetry) -> None:
        self._database = database
        self._cache = cache
        self._blobs = blobs
        self._telemetry = telemetry

    async def run(self, workspace: WorkspaceRef, document_id: UUID, actor: str = SYSTEM_ACTOR) -> Deletion:
        """Erase immediately. The database commit decides, and enqueues a job for the other stores; the job does what
        fails now, or what this process does not live to finish. Processes that hold texts in memory are not waited for:
        a FORGET job asks them, and completes the certificate.

        Errors: `DependencyUnavailable` (Postgres).
        """
        doomed = 0
        async with self._database.transaction(workspace.org_id) as transaction:
            erasure = await transaction.publisher.erase(workspace, document_id)
            if erasure is not None:
                doomed = await transaction.originals.mark_for_deletion(workspace, document_id)
                # One that waits for the end of a grace would empty the other stores too late.
                await transaction.jobs.cancel_for_document(workspace, document_id, JobKind.DELETE)
                await transaction.jobs.enqueue(delete_job(workspace, document_id, self._telemetry.carrier()))
                await self._audit(transaction, workspace, erasure, actor)
        unfinished: list[str] = []
        followed: list[StoreErasure] = []
        cache_entries = blobs = 0
        try:
            cache_entries = await self._cache.forget(workspace)
            followed.append(StoreErasure(ErasedStore.CACHE, cache_entries))
        except DependencyUnavailable as error:
            unfinished.append(error.dependency)
        try:
            # A worker may have deleted some of the blobs first; they count as deleted.
            blobs = max(doomed, await delete_marked_blobs(self._database, self._blobs, workspace, document_id))
            followed.append(StoreErasure(ErasedStore.ORIGINALS, blobs))
        except DependencyUnavailable as error:
            unfinished.append(error.dependency)
        async with self._database.transaction(workspace.org_id) as transaction:
            certificate = await _follow(transaction, workspace, document_id, followed)
            if unfinished:
                await transaction.jobs.enqueue(delete_job(workspace, document_id, self._telemetry.carrier()))
            else:
                await transaction.jobs.cancel_for_document(workspace, document_id, JobKind.DELETE)
        return self._report_erasure(
            Deletion(document_id, erasure, cache_entries, blobs, tuple(unfinished), certificate)
        )

    async def run_job(self, lease: Lease, progress: JobProgress) -> Deletion:
        """Run a DELETE job; a rerun finishes the rest.

        Errors: `DependencyUnavailable`, `LeaseLost`, `Permanent` code JOB_ARGUMENTS_INVALID.
        """
        workspace, document_id = lease.job.workspace, lease.job.document_id
        if document_id is None:
            raise Permanent("A delete job names no document.", code="JOB_ARGUMENTS_INVALID")
        async with self._database.transaction(workspace.org_id) as transaction:
            erasure = await transaction.publisher.erase(workspace, document_id, lease.job.job_id, lease.fence)
            if erasure is not None:
                await transaction.originals.mark_for_deletion(workspace, document_id)
                # The job was enqueued because a source no longer has the document.
                await self._audit(transaction, workspace, erasure, SYSTEM_ACTOR)
        cache_entries = await self._cache.forget(workspace)
        blobs = await delete_marked_blobs(self._database, self._blobs, workspace, document_id)
        followed = [StoreErasure(ErasedStore.CACHE, cache_entries), StoreErasure(ErasedStore.ORIGINALS, blobs)]
        async with self._database.transaction(workspace.org_id) as transaction:
            certificate = await _follow(transaction, workspace, document_id, followed)
        return self._report_erasure(Deletion(document_id, erasure, cache_entries, blobs, (), certificate))

    async def _audit(self, transaction: Transaction, workspace: WorkspaceRef, erasure: Erasure, actor: str) -> None:
        await audit(
            transaction,
            self._telemetry,
            AuditAction.DELETE_DOCUMENT,
            workspace,
            erasure.document_id,
            actor,
            version=erasure.version,
            chunks=erasure.chunks,
            revisions=erasure.revisions,
        )

    def _report_erasure(self, deletion: Deletion) -> Deletion:
        if deletion.erasure is None and not deletion.blobs:
            return deletion  # no such document: no erasure to report
        self._telemetry.event(
            "rag_document_erased",
            document_id=str(deletion.document_id),
            version=deletion.erasure.version if deletion.erasure else None,
            chunks=deletion.erasure.chunks if deletion.erasure else 0,
            cache_entries=deletion.cache_entries,
            blobs=deletion.blobs,
            unfinished=",".join(deletion.unfinished),
        )
        return deletion


async def _follow(
    transaction: Transaction, workspace: WorkspaceRef, document_id: UUID, stores: list[StoreErasure]
) -> Certificate | None:
    """Record what stores outside the database said, and that no process holds texts where none is registered."""
    certificate = await transaction.erasures.follow(workspace, document_id, stores)
    if certificate is None or certificate.is_complete:
        return certificate
    told = await transaction.erasures.drop_progress(None)
    return certificate if told.silent else await transaction.erasures.follow(workspace, document_id, lines_of(told))
