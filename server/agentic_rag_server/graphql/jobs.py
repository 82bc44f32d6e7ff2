"""Jobs of the data plane in the schema."""

from __future__ import annotations

from datetime import datetime

import strawberry

from agentic_rag.domain import jobs
from agentic_rag_server.graphql.node_ids import NodeKind, encode, encode_workspace
from agentic_rag_server.graphql.nodes import Node

JobKind = strawberry.enum(jobs.JobKind, description="What a job does.")
JobState = strawberry.enum(jobs.JobState, description="Where a job stands; DEAD is a dead letter.")


@strawberry.type(description="A unit of work of the data plane.")
class Job(Node):
    """A job as clients see it; its arguments stay inside."""

    workspace_id: strawberry.ID
    document_id: strawberry.ID | None
    kind: JobKind  # type: ignore[valid-type]
    state: JobState  # type: ignore[valid-type]
    attempts: int
    progress: int
    error_code: str | None
    error_message: str | None
    run_after: datetime = strawberry.field(description="A queued job does not start before this.")
    created_at: datetime
    updated_at: datetime


def show_job(job: jobs.Job) -> Job:
    """A job of the domain as one of the schema."""
    workspace_id = job.workspace.workspace_id
    document_id = encode(NodeKind.DOCUMENT, workspace_id, job.document_id) if job.document_id else None
    return Job(
        id=strawberry.ID(encode(NodeKind.JOB, workspace_id, job.job_id)),
        workspace_id=strawberry.ID(encode_workspace(workspace_id)),
        document_id=strawberry.ID(document_id) if document_id else None,
        kind=job.kind,
        state=job.state,
        attempts=job.attempts,
        progress=job.progress,
        error_code=job.error_code,
        error_message=job.error_message,
        run_after=job.run_after,
        created_at=job.created_at,
        updated_at=job.updated_at,
    )
