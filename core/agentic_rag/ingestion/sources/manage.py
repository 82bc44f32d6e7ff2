"""Adds, lists, synchronises and removes the sources that workspaces follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.ingestion.sources.source import NewSource, Source, validate_credential, validate_source
from agentic_rag.jobs.job import JobKind, JobRef, NewJob
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.ids import Ids
from agentic_rag.kernel.secret import Secret
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.providers.ports import KeyVault
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit

DELETE_ARGUMENT = "delete_missing"
RETRY_ARGUMENT = "retry_failed"


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source and its documents by status."""

    source: Source
    documents: Mapping[DocumentStatus, int]


@dataclass(frozen=True, slots=True)
class ManageSources:
    """What callers do with sources; workers do the rest (`FollowSource`)."""

    database: Database
    vault: KeyVault
    ids: Ids
    clock: Clock
    telemetry: Telemetry

    async def add(self, workspace: WorkspaceRef, new: NewSource, secret: Secret | None, actor: str) -> Source:
        """Follow a source. Its first synchronisation is queued.

        Errors: `InvalidInput` codes SOURCE_INVALID, SOURCE_EXISTS; `Misconfigured` code MASTER_KEY_MISSING;
        `NotFound` (workspace).
        """
        stated = validate_source(new)
        credential = validate_credential(stated.kind, secret)
        source_id = self.ids.new()
        sealed = None
        if credential is not None:
            sealed = self.vault.seal(workspace.org_id, f"source:{source_id}", credential)
        source = Source(workspace, source_id, stated, actor, self.clock.now(), sealed)
        async with self.database.transaction(workspace.org_id) as transaction:
            if not await transaction.sources.add(source):
                raise InvalidInput(
                    f"The workspace follows a source named {stated.name!r} already. Choose another name, or remove it.",
                    code="SOURCE_EXISTS",
                    path=("input", "name"),
                )
            await transaction.jobs.enqueue(self._job(source, {}))
            await audit(
                transaction,
                self.telemetry,
                AuditAction.ADD_SOURCE,
                workspace,
                source_id,
                actor,
                kind=stated.kind.value,
                location=stated.location,
                internal=stated.is_internal,
            )
        return source

    async def all(self, workspace: WorkspaceRef) -> list[SourceStatus]:
        """The sources of a workspace, by name."""
        async with self.database.transaction(workspace.org_id) as transaction:
            return [
                SourceStatus(one, await transaction.sources.document_counts(workspace, one.provenance))
                for one in await transaction.sources.all(workspace)
            ]

    async def get(self, workspace: WorkspaceRef, source_id: UUID) -> SourceStatus | None:
        """A source, or None."""
        async with self.database.transaction(workspace.org_id) as transaction:
            source = await transaction.sources.get(workspace, source_id)
            if source is None:
                return None
            return SourceStatus(source, await transaction.sources.document_counts(workspace, source.provenance))

    async def sync(
        self, workspace: WorkspaceRef, source_id: UUID, actor: str, *, delete_missing: bool = False
    ) -> JobRef:
        """Queue a synchronisation that tries failed documents again; one that waits or runs already is returned.
        `delete_missing` goes on although many files are gone. Errors: `NotFound`.
        """
        async with self.database.transaction(workspace.org_id) as transaction:
            source = await transaction.sources.get(workspace, source_id)
            if source is None:
                raise no_such_source()
            arguments = {RETRY_ARGUMENT: "true", **({DELETE_ARGUMENT: "true"} if delete_missing else {})}
            ref, is_new = await transaction.jobs.enqueue(self._job(source, arguments))
            if is_new:
                await audit(
                    transaction,
                    self.telemetry,
                    AuditAction.SYNC_SOURCE,
                    workspace,
                    source_id,
                    actor,
                    delete_missing=delete_missing,
                )
        return ref

    async def remove(
        self, workspace: WorkspaceRef, source_id: UUID, actor: str, *, keep_documents: bool = False
    ) -> None:
        """Stop following a source. A job hides its documents, which are erased after the grace, and then forgets it;
        with `keep_documents` it is forgotten at once. Errors: `NotFound`.
        """
        async with self.database.transaction(workspace.org_id) as transaction:
            source = await transaction.sources.get(workspace, source_id)
            if source is None:
                raise no_such_source()
            if keep_documents:
                await transaction.sources.remove(workspace, source_id)
            else:
                await transaction.sources.mark_leaving(workspace, source_id)
                await transaction.jobs.enqueue(self._job(source, {}))
            await audit(
                transaction,
                self.telemetry,
                AuditAction.REMOVE_SOURCE,
                workspace,
                source_id,
                actor,
                keep_documents=keep_documents,
            )

    def _job(self, source: Source, arguments: Mapping[str, str]) -> NewJob:
        carrier = self.telemetry.carrier()
        return NewJob(source.workspace, JobKind.SYNC, source.source_id.hex, arguments, trace_carrier=carrier)


def no_such_source() -> NotFound:
    """What is said of a source that is not there."""
    return NotFound("There is no such source.")
