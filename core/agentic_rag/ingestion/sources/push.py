"""Synchronise a workspace with a source whose files a client sends."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.ingestion.hand_over import SyncWatch
from agentic_rag.ingestion.sources.pushed import ListedSource, SentFile, is_pushed_name, list_file
from agentic_rag.ingestion.storage import require_storage
from agentic_rag.ingestion.sync import SyncOptions, SyncResult, SyncSource
from agentic_rag.ingestion.upload import limit_size
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit


@dataclass(frozen=True, slots=True)
class PushSource:
    """A client lists its files, sends those that are awaited, and lists them again, until none is: then what is gone is
    hidden. Each step may be repeated, and a later run goes on where one ended.
    """

    database: Database
    sync: SyncSource
    telemetry: Telemetry
    max_bytes: int
    """Of one file."""
    stored_mb: int = 0
    """What an organisation may store that has no limit of its own; 0: no limit."""

    async def compare(
        self, workspace: WorkspaceRef, source: ListedSource, options: SyncOptions, actor: str
    ) -> SyncResult:
        """Bring the workspace up to date as far as its store holds what is listed. Errors: those of `SyncSource.run`;
        `InvalidInput` code STORAGE_QUOTA_EXCEEDED.
        """
        result = await self.sync.run(workspace, source, actor, options, SyncWatch(self._admit(workspace)))
        if not (options.dry_run or result.awaited):
            async with self.database.transaction(workspace.org_id) as transaction:
                await audit(
                    transaction,
                    self.telemetry,
                    AuditAction.SYNC_SOURCE,
                    workspace,
                    source.source_id,
                    actor,
                    delete_missing=options.delete_missing,
                    gone=len(result.hidden) + len(result.deleted),
                )
        return result

    async def take(
        self,
        workspace: WorkspaceRef,
        source_id: str,
        path: str,
        pieces: AsyncIterator[bytes],
        options: SyncOptions,
        actor: str,
        named_readers: tuple[str, ...] | None = None,
    ) -> SyncResult:
        """Ingest one file, as if it were read from the source. Errors: `UploadTooLarge` as soon as the limit is passed;
        `InvalidInput` codes SOURCE_INVALID and STORAGE_QUOTA_EXCEEDED; those of `SyncSource.run`; whatever `pieces`
        raises.
        """
        data = b"".join([piece async for piece in limit_size(pieces, self.max_bytes)])
        listed = list_file(path, hashlib.sha256(data).digest(), len(data), named_readers)

        async def note(transaction: Transaction) -> None:
            document_id = (await resolve_ids(transaction.documents, workspace, [path]))[path]
            is_new = await transaction.documents.get(workspace, document_id) is None
            told = {"bytes": len(data), "new": is_new}
            await audit(transaction, self.telemetry, AuditAction.UPLOAD_DOCUMENT, workspace, document_id, actor, **told)

        options, watch = replace(options, only=frozenset({path})), SyncWatch(self._admit(workspace), note=note)
        return await self.sync.run(workspace, SentFile(source_id, listed, data), actor, options, watch)

    def _admit(self, workspace: WorkspaceRef) -> Callable[[Transaction], Awaitable[None]]:
        async def admit(transaction: Transaction) -> None:
            await require_storage(transaction, workspace.org_id, self.stored_mb)

        return admit

    async def names(self, workspace: WorkspaceRef) -> list[str]:
        """The sources whose files clients sent or a command read, and which brought documents that are there."""
        async with self.database.transaction(workspace.org_id) as transaction:
            return [one for one in await transaction.sources.brought(workspace) if is_pushed_name(one)]

    async def documents(self, workspace: WorkspaceRef, source_id: str) -> Mapping[DocumentStatus, int]:
        """The documents of a source by status."""
        async with self.database.transaction(workspace.org_id) as transaction:
            return await transaction.sources.document_counts(workspace, source_id)
