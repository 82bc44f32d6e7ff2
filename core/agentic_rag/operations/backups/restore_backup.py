"""Brings a backup into an empty database and store of originals, then takes away again what was taken away since."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.answering.ports import AnswerCache
from agentic_rag.documents.ports import BlobStore
from agentic_rag.erasure.delete import DeleteDocument
from agentic_rag.erasure.request_erasure import RequestErasure
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.operations.backups.backup import (
    BackupManifest,
    DatabaseLoad,
    DeletedConversation,
    ErasureRecord,
    Listed,
    RevokedKey,
    TakenAway,
    TellProgress,
    damaged_backup,
)
from agentic_rag.operations.backups.narrow_rights import RESTORE_ACTOR, NarrowedRights, NarrowRights
from agentic_rag.operations.backups.streams import read_file, read_stored
from agentic_rag.operations.backups.verify_backup import verify_backup
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit
from agentic_rag.workspaces.ports import OrganisationRegister


@dataclass(frozen=True, slots=True)
class ReappliedErasures:
    """What was erased, revoked and narrowed again after a restore."""

    documents: int = 0
    workspaces: int = 0
    organisations: int = 0
    keys: int = 0
    """API keys that were revoked again."""
    conversations: int = 0
    """Threads and runs that were deleted again."""
    narrowed: NarrowedRights = NarrowedRights()


class RestoreBackup:
    """All or nothing: one transaction writes the rows and ends after the originals are in place."""

    def __init__(
        self,
        load: Callable[[str], AbstractAsyncContextManager[DatabaseLoad]],
        migrate: Callable[[], Awaitable[object]],
        blobs: BlobStore,
        head: str,
    ) -> None:
        self._load = load
        self._migrate = migrate
        self._blobs = blobs
        self._head = head

    async def run(self, source: BlobStore, tell: TellProgress) -> BackupManifest:
        """Check everything, then write it, then bring the schema to the newest revision.

        Errors: `Permanent` codes BACKUP_DAMAGED and BACKUP_TOO_NEW, `NotFound` code BACKUP_NOT_FOUND, `Misconfigured`
        code SCHEMA_TOO_NEW, `InvalidInput` code RESTORE_TARGET_NOT_EMPTY, `DependencyUnavailable`.
        """
        checked = await verify_backup(source, self._head, tell)
        if checked.problems:
            raise damaged_backup("; ".join(checked.problems[:3]))
        manifest = checked.manifest
        done, total = 0, manifest.rows
        async with self._load(manifest.schema) as database:
            for one in manifest.tables:
                tell(done, total, one.table.name)
                rows = await database.write(one.table, read_file(source, one.file))
                if rows != one.rows:
                    raise damaged_backup(f"{one.file.key} holds {rows} rows instead of {one.rows}")
                done += rows
            held = frozenset(await self._blobs.keys(""))
            for original in checked.originals:
                tell(done, total, original.key)
                if not original.is_missing:
                    stored = read_stored(source, original.stored_key, original.size, original.sha256)
                    if original.key in held:
                        # A stream needs an unused key. One that an interrupted restore left has the same bytes, or
                        # older ones.
                        await self._blobs.delete(original.key)
                    await self._blobs.put_stream(original.key, stored)
        tell(total, total, "")
        await self._migrate()
        return manifest


class ReapplyErasures:
    """Erases again, through the ordinary use cases, what was erased after a backup was taken; keys that were revoked
    and rights that were narrowed since do not come back either.
    """

    def __init__(
        self,
        database: Database,
        organisations: OrganisationRegister,
        documents: DeleteDocument,
        workspaces: RequestErasure,
        cache: AnswerCache,
        telemetry: Telemetry,
    ) -> None:
        self._database = database
        self._organisations = organisations
        self._documents = documents
        self._workspaces = workspaces
        self._cache = cache
        self._telemetry = telemetry
        self._narrow_rights = NarrowRights(database, telemetry)

    async def run(self, records: Iterable[TakenAway], since: datetime | None = None) -> ReappliedErasures:
        """Apply each erasure and revocation that the restored database does not know, and the rights that were listed
        after `since`, the instant of the restored state; None: the newest that are listed. Then empty the caches:
        corpus versions are used again. Workspaces and organisations are hidden at once, a worker empties them. Errors:
        `DependencyUnavailable`.
        """
        known = {one.org_id for one in await self._organisations.all()}
        documents = workspaces = organisations = keys = 0
        every = list(records)
        revoked: dict[UUID, set[UUID]] = {}
        for one in every:
            if isinstance(one, RevokedKey) and one.org_id in known:
                revoked.setdefault(one.org_id, set()).add(one.key_id)
        for org_id, key_ids in revoked.items():
            keys += await self._revoke(org_id, key_ids)
        conversations = 0
        for one in every:
            if isinstance(one, DeletedConversation) and one.org_id in known:
                conversations += await self._delete_conversation(one)
        narrowed = await self._narrow_rights.run((one for one in every if isinstance(one, Listed)), known, since)
        erasures = {one for one in every if isinstance(one, ErasureRecord)}
        # Documents first: what a workspace held before it went has its own certificate.
        for record in sorted(erasures, key=lambda one: (one.document_id is None, one.erased_at)):
            if record.org_id not in known:
                continue
            if record.workspace_id is None:
                await self._erase_organisation(record)
                organisations += 1
                known.discard(record.org_id)
            elif record.document_id is None:
                workspaces += await self._erase_workspace(record)
            else:
                documents += await self._erase_document(record)
        for org_id in known:
            async with self._database.transaction(org_id) as transaction:
                present = [one.ref for one in await transaction.workspaces.all()]
            for ref in present:
                await self._cache.forget(ref)
        self._telemetry.event(
            "rag_erasures_reapplied",
            documents=documents,
            workspaces=workspaces,
            organisations=organisations,
            keys=keys,
            conversations=conversations,
            **{f"narrowed_{name}": number for name, number in asdict(narrowed).items()},
        )
        return ReappliedErasures(documents, workspaces, organisations, keys, conversations, narrowed)

    async def _revoke(self, org_id: UUID, key_ids: Collection[UUID]) -> int:
        """Revoke those of an organisation's keys that are valid; their number."""
        async with self._database.transaction(org_id) as transaction:
            valid = {one.key_id for one in await transaction.api_keys.all() if one.revoked_at is None}
            again = sorted(valid.intersection(key_ids))
            for key_id in again:
                await transaction.api_keys.revoke(key_id)
                await audit(transaction, self._telemetry, AuditAction.REVOKE_API_KEY, None, key_id, RESTORE_ACTOR)
        return len(again)

    async def _delete_conversation(self, record: DeletedConversation) -> bool:
        """Whether the restored state had the thread or the run."""
        workspace = WorkspaceRef(record.org_id, record.workspace_id)
        act, key = AuditAction.DELETE_RUN, record.run_id
        async with self._database.transaction(record.org_id) as transaction:
            if record.run_id is not None:
                is_gone = await transaction.threads.delete_run(workspace, record.run_id, record.subject)
            else:
                act, key = AuditAction.DELETE_THREAD, record.thread_id
                is_gone = (
                    key is not None and await transaction.threads.delete(workspace, key, record.subject) is not None
                )
            if is_gone:
                await audit(transaction, self._telemetry, act, workspace, key, RESTORE_ACTOR, owner=record.subject)
        return is_gone

    async def _erase_document(self, record: ErasureRecord) -> bool:
        workspace, document_id = _workspace_of(record), record.document_id
        if document_id is None:
            raise AssertionError("a record of a document names it")
        async with self._database.transaction(record.org_id) as transaction:
            if await transaction.documents.get(workspace, document_id) is None:
                return False
            last = await transaction.erasures.certificate(workspace, document_id)
            past = await transaction.erasures.past(workspace, document_id)
        if record.version in {one.version for one in (*past, *([last] if last else []))}:
            return False
        await self._documents.run(workspace, document_id, RESTORE_ACTOR)
        return True

    async def _erase_workspace(self, record: ErasureRecord) -> bool:
        workspace = _workspace_of(record)
        async with self._database.transaction(record.org_id) as transaction:
            found = await transaction.workspaces.get(workspace.workspace_id)
        if found is None:
            return False
        await self._workspaces.workspace(workspace, found.name, RESTORE_ACTOR, cancel_jobs=True)
        return True

    async def _erase_organisation(self, record: ErasureRecord) -> None:
        async with self._database.transaction(record.org_id) as transaction:
            found = await transaction.organisations.current()
        await self._workspaces.organisation(record.org_id, found.name, RESTORE_ACTOR, cancel_jobs=True)


def _workspace_of(record: ErasureRecord) -> WorkspaceRef:
    if record.workspace_id is None:
        raise NotFound("The record names no workspace.")
    return WorkspaceRef(record.org_id, record.workspace_id)
