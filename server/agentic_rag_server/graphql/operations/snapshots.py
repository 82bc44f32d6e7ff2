"""Snapshots of workspaces."""

from datetime import datetime

import strawberry

from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag.operations.snapshots import snapshot as snapshots
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema

SnapshotState = strawberry.enum(snapshots.SnapshotState, description="Where a snapshot stands.")
SnapshotReason = strawberry.enum(snapshots.SnapshotReason, description="Asked for, or by schedule.")


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
    stored: bool = strawberry.field(description="Whether files of it may exist: they may hold what was erased since.")
    error_code: str | None
    created_at: datetime
    finished_at: datetime | None


@strawberry.type(description="The snapshot that was asked for, or why there is none.")
class CreateSnapshotPayload(Payload):
    snapshot: Snapshot | None = None


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
        stored=record.is_stored,
    )
