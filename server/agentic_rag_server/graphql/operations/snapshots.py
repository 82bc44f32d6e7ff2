"""Snapshots of workspaces in the schema."""

from __future__ import annotations

from datetime import datetime

import strawberry

from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag.operations.snapshots import snapshot as snapshots
from agentic_rag_server.graphql.http.errors import UserError

SnapshotState = strawberry.enum(snapshots.SnapshotState, description="Where a snapshot stands.")
SnapshotReason = strawberry.enum(snapshots.SnapshotReason, description="Asked for, or by schedule.")


@strawberry.type(description="An archive of one workspace at one corpus version.")
class Snapshot:
    """A snapshot as clients see it; its files stay inside."""

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
class CreateSnapshotPayload:
    """Result of `createSnapshot`."""

    snapshot: Snapshot | None
    user_errors: list[UserError]


def show_snapshot(record: snapshots.SnapshotRecord) -> Snapshot:
    """A snapshot of the domain as one of the schema."""
    workspace_id = record.workspace.workspace_id
    return Snapshot(
        id=strawberry.ID(encode(NodeKind.SNAPSHOT, workspace_id, record.snapshot_id)),
        workspace_id=strawberry.ID(encode_workspace(workspace_id)),
        job_id=strawberry.ID(encode(NodeKind.JOB, workspace_id, record.snapshot_id)),
        state=record.state,
        reason=record.reason,
        with_originals=record.with_originals,
        corpus_version=record.corpus_version,
        size=float(record.size),
        documents=record.counts.get("rag_documents", 0),
        chunks=record.counts.get("rag_chunks", 0),
        stored=record.is_stored,
        error_code=record.error_code,
        created_at=record.created_at,
        finished_at=record.finished_at,
    )
