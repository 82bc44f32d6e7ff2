"""Snapshots of workspaces."""

from collections.abc import Mapping
from datetime import datetime

import strawberry

from agentic_rag.kernel.errors import NotFound, Permanent
from agentic_rag.kernel.public_ids import NodeKind, decode, encode, encode_workspace
from agentic_rag.operations.snapshots import snapshot as snapshots
from agentic_rag.operations.snapshots.restore import RestoreReport
from agentic_rag.tenancy.principals import validate_name
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema

SnapshotState = strawberry.enum(snapshots.SnapshotState, description="Where a snapshot stands.")
SnapshotReason = strawberry.enum(snapshots.SnapshotReason, description="Asked for, or by schedule.")


RestoredRights = strawberry.enum(
    snapshots.RestoredRights,
    description="Rights of a copy. NARROWER: what holds in the workspace too; THEN: as in the snapshot.",
)


@strawberry.type(description="Rows of a table in a snapshot.")
class TableCount:
    table: str
    rows: int


@strawberry.type(description="An archive of one workspace at one corpus version.")
class Snapshot:
    id: strawberry.ID
    workspace_id: strawberry.ID
    job_id: strawberry.ID = strawberry.field(description="The job that takes it.")
    state: SnapshotState  # type: ignore[valid-type]
    reason: SnapshotReason  # type: ignore[valid-type]
    with_originals: bool
    corpus_version: int | None = strawberry.field(description="Null until it is READY.")
    size: float = strawberry.field(description="Bytes in the blob store.")
    documents: int
    chunks: int
    counts: list[TableCount]
    manifest: str | None = strawberry.field(description="Its key in the blob store.")
    stored: bool = strawberry.field(description="Whether files of it may exist: they may hold what was erased since.")
    error_code: str | None
    created_at: datetime
    finished_at: datetime | None


@strawberry.type(description="The snapshot that was asked for, or why there is none.")
class CreateSnapshotPayload(Payload):
    snapshot: Snapshot | None = None


@strawberry.type(description="A snapshot as its files in the blob store say, whether or not the database lists it.")
class StoredSnapshot:
    id: strawberry.ID
    workspace_id: strawberry.ID
    workspace: str
    corpus_version: int
    with_originals: bool
    missing_originals: int = strawberry.field(description="Originals that were gone or damaged when it was taken.")
    spaces: list[str]
    counts: list[TableCount]
    schema: str = strawberry.field(description="The database's revision when it was taken.")
    product: str
    created_at: str
    folder: str


@strawberry.type(description="What was deleted, or why nothing was.")
class DeleteSnapshotPayload(Payload):
    deleted_id: strawberry.ID | None = None
    size: float = strawberry.field(default=0.0, description="Bytes.")


@strawberry.type(description="What a restore made, or why it made nothing.")
class RestoreSnapshotPayload(Payload):
    snapshot_id: strawberry.ID | None = None
    workspace_id: strawberry.ID | None = None
    workspace: str | None = None
    corpus_version: int | None = None
    already_restored: bool = strawberry.field(default=False, description="It was restored before: nothing was done.")
    rows: int = 0
    originals: int = 0
    left_out_as_erased: int = strawberry.field(default=0, description="Documents erased since the snapshot.")
    with_narrower_rights: int = strawberry.field(default=0, description="Documents that lost rights since.")
    ingested_again: int = strawberry.field(default=0, description="Documents that it caught half ingested.")


@strawberry.type
class SnapshotQuery:
    @field(
        Action.READ,
        Action.TAKE_SNAPSHOT,
        right=Sight.ORGANISATION,
        description="Snapshots of a workspace, newest first. Takes the role admin.",
    )
    async def snapshots(self, info: Info, workspace_id: strawberry.ID) -> list[Snapshot]:
        """Unpaged: retention keeps them few."""
        context = info.context
        workspace = await context.workspace(workspace_id)
        async with context.parts.database.transaction(workspace.org_id) as transaction:
            return [_show_snapshot(one) for one in await transaction.snapshots.all(workspace)]

    @field(
        Action.TAKE_SNAPSHOT,
        right=Sight.ORGANISATION,
        description="What the blob store holds of the organisation, of any workspace, known here or not; oldest first. "
        "Takes the role admin.",
    )
    async def stored_snapshots(self, info: Info) -> list[StoredSnapshot]:
        """Damaged ones are left out: they cannot be restored."""
        context = info.context
        found: list[StoredSnapshot] = []
        for place in await context.parts.restore_snapshot.places(context.principal.org_id):
            try:
                found.append(_show_stored(await place.manifest(), place.folder))
            except (NotFound, Permanent):
                continue  # Deleted meanwhile, or damaged.
        return sorted(found, key=lambda one: one.created_at)


@strawberry.type
class SnapshotMutation:
    @mutation(
        Action.TAKE_SNAPSHOT,
        CreateSnapshotPayload,
        right=Sight.ORGANISATION,
        description="Ask for a snapshot of a workspace; a worker takes it. Takes the role admin.",
    )
    async def create_snapshot(
        self, info: Info, workspace_id: strawberry.ID, with_originals: bool = True
    ) -> CreateSnapshotPayload:
        """Returns the unfinished snapshot when one was requested before."""
        context = info.context
        workspace = await context.workspace(workspace_id)
        record = await context.parts.take_snapshot.request(
            workspace, context.principal.subject_id, with_originals=with_originals
        )
        return CreateSnapshotPayload(snapshot=_show_snapshot(record))

    @mutation(
        Action.TAKE_SNAPSHOT,
        DeleteSnapshotPayload,
        right=Sight.ORGANISATION,
        description="Delete the files of a snapshot; its line stays. Takes the role admin.",
    )
    async def delete_snapshot(self, info: Info, id: strawberry.ID) -> DeleteSnapshotPayload:
        """SNAPSHOT_UNFINISHED while it is built."""
        context, node = info.context, decode(id, NodeKind.SNAPSHOT)
        record = await context.parts.take_snapshot.delete(context.ref(node), node.key, context.principal.subject_id)
        return DeleteSnapshotPayload(deleted_id=id, size=float(record.size))

    @mutation(
        Action.RESTORE_SNAPSHOT,
        RestoreSnapshotPayload,
        Permanent,
        right=Sight.ORGANISATION,
        description="Make a workspace from a snapshot in the blob store: with its old ids where it is gone, else as "
        "`into`. Everything is checked first; it takes as long as the snapshot is large. Takes the role operator.",
    )
    async def restore_snapshot(
        self,
        info: Info,
        id: strawberry.ID,
        into: str | None = None,
        rights: RestoredRights = snapshots.RestoredRights.NARROWER,  # type: ignore[valid-type]
    ) -> RestoreSnapshotPayload:
        """A repeated call changes nothing."""
        context, key = info.context, decode(id, NodeKind.SNAPSHOT).key
        name = None if into is None else validate_name(into, ("into",))
        restore, caller = context.parts.restore_snapshot, context.principal
        place = await restore.find(caller.org_id, key)
        report = await restore.run(caller.org_id, place, name, None, caller.subject_id, rights)
        return show_restore(report)


def _show_snapshot(record: snapshots.SnapshotRecord) -> Snapshot:
    workspace_id = record.workspace.workspace_id
    return to_schema(
        Snapshot,
        record,
        id=encode(NodeKind.SNAPSHOT, workspace_id, record.snapshot_id),
        workspace_id=encode_workspace(workspace_id),
        job_id=encode(NodeKind.JOB, workspace_id, record.snapshot_id),
        size=float(record.size),
        documents=record.counts.get("rag_documents", 0),
        chunks=record.counts.get("rag_chunks", 0),
        counts=_counts(record.counts),
        manifest=record.manifest_key,
        stored=record.is_stored,
    )


def _show_stored(manifest: snapshots.Manifest, folder: str) -> StoredSnapshot:
    return to_schema(
        StoredSnapshot,
        manifest,
        id=encode(NodeKind.SNAPSHOT, manifest.workspace_id, manifest.snapshot_id),
        workspace_id=encode_workspace(manifest.workspace_id),
        workspace=manifest.workspace_name,
        spaces=list(manifest.spaces),
        counts=_counts(manifest.counts),
        folder=folder,
    )


def show_restore(report: RestoreReport) -> RestoreSnapshotPayload:
    """What a restore made."""
    return to_schema(
        RestoreSnapshotPayload,
        report,
        user_errors=[],
        snapshot_id=encode(NodeKind.SNAPSHOT, report.source_workspace_id, report.snapshot_id),
        workspace_id=encode_workspace(report.workspace.workspace_id),
        workspace=report.name,
        already_restored=report.was_done,
        left_out_as_erased=report.erased,
        with_narrower_rights=report.narrowed,
        ingested_again=report.requeued,
    )


def _counts(found: Mapping[str, int]) -> list[TableCount]:
    return [TableCount(table=table, rows=rows) for table, rows in found.items()]
