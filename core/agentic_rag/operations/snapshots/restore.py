"""Restores a workspace from a snapshot: everything is checked first, and one transaction makes all of it visible."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from agentic_rag.answering.ports import AnswerCache
from agentic_rag.documents.blob_keys import original_key, snapshots_prefix
from agentic_rag.documents.document import DocumentFault, DocumentStatus
from agentic_rag.documents.originals import delete_marked_blobs
from agentic_rag.documents.ports import BlobStore
from agentic_rag.ingestion.submit import CONTENT_PROVENANCE, ingest_job
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import InvalidInput, NotFound, Permanent
from agentic_rag.kernel.ids import derive_uuid
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.operations.snapshots.archive_files import ArchiveLocation, archives_in
from agentic_rag.operations.snapshots.id_map import ArchiveIdMap
from agentic_rag.operations.snapshots.ports import ArchiveWriter, WorkspaceArchive
from agentic_rag.operations.snapshots.rights import documents_of, narrow_rights
from agentic_rag.operations.snapshots.snapshot import (
    ORIGINALS,
    Manifest,
    RestoredRights,
    RestoreRecord,
    TableShape,
    damage_error,
    hash_digits,
    original_name,
)
from agentic_rag.tenancy.audit import SYSTEM_ACTOR, AuditAction
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit

ProgressReport = Callable[[int, int, str], None]
"""Steps done, steps in total, and the current step."""


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """The result of a restore."""

    snapshot_id: UUID
    source_workspace_id: UUID
    workspace: WorkspaceRef
    name: str
    was_done: bool
    """The snapshot had been restored before; nothing was written."""
    corpus_version: int
    rows: int = 0
    originals: int = 0
    erased: int = 0
    """Documents left out because this system has erased them since."""
    requeued: int = 0
    """Documents that the snapshot caught in the middle of ingestion; they are ingested again."""
    narrowed: int = 0
    """Documents with fewer rights than in the snapshot, because they lost them since."""


@dataclass(frozen=True, slots=True)
class _Target:
    workspace: WorkspaceRef
    name: str
    ids: ArchiveIdMap | None
    """None: the archive's own ids are free."""
    rights: RestoredRights


@dataclass(frozen=True, slots=True)
class RestoreSnapshot:
    """Idempotent: a completed restore is recognised, and an interrupted one leaves only files that the next one
    overwrites.
    """

    database: Database
    archive: WorkspaceArchive
    blobs: BlobStore
    cache: AnswerCache
    telemetry: Telemetry
    schema_head: str

    async def places(self, org_id: UUID) -> list[ArchiveLocation]:
        """Every archive of an organisation in the blob store, whether or not the database lists it."""
        return await archives_in(self.blobs, snapshots_prefix(org_id))

    async def find(self, org_id: UUID, snapshot_id: UUID) -> ArchiveLocation:
        """The archive of a snapshot; if two attempts are complete, the later. Errors: `NotFound`."""
        found = [place for place in await self.places(org_id) if f"/{snapshot_id}/" in place.folder]
        if not found:
            raise NotFound(
                f"The blob store holds no snapshot {snapshot_id}; `rag snapshot list --stored` shows what it holds.",
                code="SNAPSHOT_NOT_FOUND",
            )
        return max(found, key=lambda place: int(place.folder.rsplit("/", 1)[-1]))

    async def run(
        self,
        org_id: UUID,
        place: ArchiveLocation,
        into: str | None = None,
        progress: ProgressReport | None = None,
        actor: str = SYSTEM_ACTOR,
        rights: RestoredRights = RestoredRights.NARROWER,
    ) -> RestoreReport:
        """Restore under the workspace's own id if that is free, else as a new workspace named `into`, with rights that
        hold in the workspace now unless `rights` says otherwise.

        Errors: `Permanent` codes SNAPSHOT_DAMAGED, SNAPSHOT_TOO_NEW; `InvalidInput` codes RESTORE_TARGET_EXISTS,
        WORKSPACE_EXISTS; `DependencyUnavailable`. An error leaves the database unchanged.
        """
        show = progress or _unseen
        manifest = await place.manifest()
        if manifest.schema > self.schema_head:
            raise Permanent(
                f"The snapshot's schema is {manifest.schema}, this version's {self.schema_head}: restore it with "
                f"agentic-rag {manifest.product} or newer.",
                code="SNAPSHOT_TOO_NEW",
            )
        found = await self._target(org_id, manifest, into, rights)
        if isinstance(found, RestoreReport):
            return found
        steps = 2 * len(manifest.parts)
        await self._check(place, manifest, lambda done, what: show(done, steps, what))
        report = await self._write(place, manifest, found, actor, lambda done, what: show(done, steps, what))
        self.telemetry.event(
            "rag_snapshot_restored",
            snapshot_id=str(report.snapshot_id),
            workspace_id=str(report.workspace.workspace_id),
            rows=report.rows,
            erased=report.erased,
        )
        return report

    async def _target(
        self, org_id: UUID, manifest: Manifest, into: str | None, rights: RestoredRights
    ) -> _Target | RestoreReport:
        own = WorkspaceRef(org_id, manifest.workspace_id)
        name = into or manifest.workspace_name
        async with self.database.transaction(org_id) as transaction:
            named = await transaction.workspaces.by_name(name)
            if named is not None and await transaction.snapshots.restore_record(named.ref, manifest.snapshot_id):
                return RestoreReport(
                    manifest.snapshot_id, manifest.workspace_id, named.ref, name, True, named.corpus_version
                )
            there = await transaction.workspaces.get(own.workspace_id)
            key = await transaction.documents.id_key(own)
        if there is not None and into is None:
            raise InvalidInput(
                f"The workspace {there.name!r} of this snapshot still exists. Name a new one with --into, and compare "
                "or switch over; nothing is ever restored over existing documents.",
                code="RESTORE_TARGET_EXISTS",
                path=("into",),
            )
        if named is not None:
            raise InvalidInput(
                f"A workspace named {name!r} exists already. Name another with --into.",
                code="WORKSPACE_EXISTS",
                path=("into",),
            )
        if there is None:
            return _Target(own, name, None, rights)
        # Derived rather than random, so that an interrupted restore writes its files to the same place again.
        made = derive_uuid(b"restore", org_id.bytes, manifest.snapshot_id.bytes, name.encode())
        target = WorkspaceRef(org_id, made)
        return _Target(target, name, ArchiveIdMap(target, key), rights)

    async def _check(self, place: ArchiveLocation, manifest: Manifest, show: Callable[[int, str], None]) -> None:
        """Read and verify all parts before anything is written. Errors: `Permanent` code SNAPSHOT_DAMAGED."""
        known = {table.name for table in manifest.tables}
        for done, part in enumerate(manifest.parts):
            show(done, f"checking {part.key}")
            if part.table not in known:
                raise damage_error(f"{part.key} belongs to no table")
            lines = await place.lines(part)
            if part.table == ORIGINALS:
                for line in lines:
                    await _original(place, _parse_row(line))

    async def _write(
        self,
        place: ArchiveLocation,
        manifest: Manifest,
        target: _Target,
        actor: str,
        show: Callable[[int, str], None],
    ) -> RestoreReport:
        counts: dict[str, int] = {}
        done = len(manifest.parts)
        async with self.archive.restoring(target.workspace) as writer:
            await _require_known_tables(writer, manifest)
            for table in manifest.tables:
                counts[table.name] = 0
                for part in manifest.parts_of(table.name):
                    show(done, f"writing {part.key}")
                    done += 1
                    lines = await place.lines(part)
                    if table.name == ORIGINALS:
                        lines = await self._copy_originals(writer.transaction, place, manifest, target, lines)
                    counts[table.name] += await self._write_part(writer, table, target, lines)
            narrowed = await _narrow(writer.transaction, manifest, target)
            erased = await self._erase_again(writer, manifest, target)
            requeued = await self._requeue(writer.transaction, target.workspace)
            stored = await writer.transaction.workspaces.get(target.workspace.workspace_id)
            if stored is None:
                raise damage_error("it holds no workspace")
            await writer.transaction.snapshots.record_restore(
                RestoreRecord(target.workspace, manifest.snapshot_id, manifest.workspace_id, manifest.corpus_version)
            )
            await audit(
                writer.transaction,
                self.telemetry,
                AuditAction.RESTORE,
                target.workspace,
                manifest.snapshot_id,
                actor,
                source=str(manifest.workspace_id),
                rows=sum(counts.values()),
                erased=erased,
            )
            # The cache may have entries for newer versions of this workspace from before its loss; version numbers are
            # reused.
            await self.cache.forget(target.workspace)
        if erased:
            await delete_marked_blobs(self.database, self.blobs, target.workspace)
        return RestoreReport(
            manifest.snapshot_id,
            manifest.workspace_id,
            target.workspace,
            target.name,
            False,
            stored.corpus_version,
            sum(counts.values()),
            counts.get(ORIGINALS, 0),
            erased,
            requeued,
            narrowed,
        )

    async def _write_part(self, writer: ArchiveWriter, table: TableShape, target: _Target, lines: list[str]) -> int:
        if table.name == "rag_workspaces":
            lines = [_workspace_line(line, target) for line in lines]
        elif target.ids is not None:
            rewritten = [target.ids.rewrite(table.name, _parse_row(line)) for line in lines]
            lines = [json.dumps(row) for row in rewritten if row is not None]
        if not lines:
            return 0
        written = await writer.write(table, lines)
        if written != len(lines):
            raise damage_error(f"{len(lines)} rows of {table.name} became {written}")
        return written

    async def _copy_originals(
        self, transaction: Transaction, place: ArchiveLocation, manifest: Manifest, target: _Target, lines: list[str]
    ) -> list[str]:
        """Copies originals into the blob store under keys of the target and returns the rows with those keys. The keys
        are derived from the restored rows, so a repeated restore writes to the same place.
        """
        workspace = await transaction.workspaces.get(target.workspace.workspace_id)
        if workspace is None:
            raise damage_error("its first table is not the workspace")
        taken = datetime.fromisoformat(manifest.created_at)
        rewritten: list[str] = []
        for row in map(_parse_row, lines):
            content = await _original(place, row)
            upload = derive_uuid(
                b"restored", workspace.ref.workspace_id.bytes, str(row["blob_key"]).encode(), manifest.snapshot_id.bytes
            )
            name = str(row["blob_key"]).rsplit("/", 1)[-1].split("-", 2)[-1]
            key = original_key(workspace, taken, upload, name)
            await self.blobs.put(key, content)
            rewritten.append(json.dumps(row | {"blob_key": key}))
        return rewritten

    async def _erase_again(self, writer: ArchiveWriter, manifest: Manifest, target: _Target) -> int:
        """Erases documents that this system has erased from the source, so that they do not return under another id."""
        if target.ids is None:
            return 0
        erased = 0
        for document_id in await writer.erasures_in(WorkspaceRef(target.workspace.org_id, manifest.workspace_id)):
            mapped = target.ids.document(document_id)
            if await writer.transaction.publisher.erase(target.workspace, mapped) is not None:
                await writer.transaction.originals.mark_for_deletion(target.workspace, mapped)
                erased += 1
        return erased

    async def _requeue(self, transaction: Transaction, workspace: WorkspaceRef) -> int:
        """Re-ingests documents that were in progress: the archive does not contain their jobs."""
        requeued = 0
        statuses = (DocumentStatus.PENDING, DocumentStatus.PROCESSING)
        async for document in documents_of(transaction, workspace, statuses):
            content = document.provenance.get(CONTENT_PROVENANCE, "")
            hash_of = bytes.fromhex(content) if content else document.content_hash
            held = {one.content_hash for one in await transaction.originals.of(workspace, document.document_id)}
            if hash_of is not None and hash_of in held:
                await transaction.documents.set_status(workspace, document.document_id, DocumentStatus.PENDING)
                await transaction.jobs.enqueue(
                    ingest_job(workspace, document.document_id, hash_of, self.telemetry.carrier())
                )
                requeued += 1
            else:
                fault = DocumentFault(
                    "ORIGINAL_MISSING", "The snapshot holds no original to ingest. Upload it again.", 0, False
                )
                await transaction.documents.set_status(workspace, document.document_id, DocumentStatus.FAILED, fault)
        return requeued


async def _require_known_tables(writer: ArchiveWriter, manifest: Manifest) -> None:
    for table in manifest.tables:
        if not await writer.accepts(table):
            raise damage_error(f"this schema has no {table.name} with the columns it names")


async def _narrow(transaction: Transaction, manifest: Manifest, target: _Target) -> int:
    """Keep the narrower rights where the workspace of the snapshot still says what they are now."""
    if target.ids is None or target.rights is RestoredRights.THEN:
        return 0
    source = WorkspaceRef(target.workspace.org_id, manifest.workspace_id)
    return await narrow_rights(transaction, source, target.workspace, target.ids)


def _workspace_line(line: str, target: _Target) -> str:
    # A graph outside Postgres has no data of this workspace and is filled from version 0.
    row = _parse_row(line) | {"name": target.name, "graph_version": 0, "graph_home": ""}
    if target.ids is not None:
        # `external_ref` stays with the original workspace.
        row["external_ref"] = None
    return json.dumps(row)


async def _original(place: ArchiveLocation, row: dict[str, Any]) -> bytes:
    """The bytes of an original's row. Errors: `Permanent` code SNAPSHOT_DAMAGED."""
    digits = hash_digits(row["content_hash"])
    return await place.read(original_name(row["document_id"], digits), digits)


def _parse_row(line: str) -> dict[str, Any]:
    try:
        row: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise damage_error("a row is no JSON") from error
    return row


def _unseen(done: int, total: int, remark: str) -> None:
    """The default progress callback."""
