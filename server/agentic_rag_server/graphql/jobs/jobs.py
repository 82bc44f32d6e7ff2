"""Jobs of the data plane and dead letters in the schema."""

from __future__ import annotations

from datetime import datetime

import strawberry

from agentic_rag.jobs import job as jobs
from agentic_rag.kernel.error_redaction import redact_arguments
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag.kernel.telemetry import parse_trace_id
from agentic_rag_server.auth.roles import Action, can_perform
from agentic_rag_server.graphql.documents.documents import Document, Property, show_document
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.errors import UserError
from agentic_rag_server.graphql.http.nodes import Node

JobKind = strawberry.enum(jobs.JobKind, description="What a job does; UNKNOWN is a kind of another version.")
JobState = strawberry.enum(jobs.JobState, description="Where a job stands; DEAD is a dead letter.")
ReplayOutcome = strawberry.enum(
    jobs.Replay,
    name="ReplayOutcome",
    description="REPLAYED: it is queued again. NOT_DEAD: it was replayed or purged before. SUPERSEDED: newer work took "
    "its place, or what it concerns is gone. The last two change nothing.",
)


@strawberry.type(description="One try at a job.")
class JobAttempt:
    """What one worker made of it."""

    attempt: int
    worker: str
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None = strawberry.field(
        description="DONE, RETRY, DEAD or LAPSED (its worker died or lost the lease); null while it runs."
    )
    error_code: str | None
    error_chain: list[str] = strawberry.field(
        description="The error and its causes, outermost first, secrets blotted out. Empty below the role admin."
    )


@strawberry.type(description="A unit of work of the data plane.")
class Job(Node):
    """A job as clients see it."""

    workspace_id: strawberry.ID
    document_id: strawberry.ID | None
    kind: JobKind  # type: ignore[valid-type]
    kind_name: str = strawberry.field(description="The kind as it is stored; tells kinds of other versions apart.")
    state: JobState  # type: ignore[valid-type]
    attempts: int = strawberry.field(description="All attempts, those before a replay included.")
    progress: int
    error_code: str | None
    error_message: str | None
    trace_id: str | None = strawberry.field(description="The trace of the request that caused the job.")
    run_after: datetime = strawberry.field(description="A queued job does not start before this.")
    created_at: datetime
    updated_at: datetime
    source: strawberry.Private[jobs.Job]

    @strawberry.field(description="Secrets blotted out. Null below the role admin.")
    async def arguments(self, info: Info) -> list[Property] | None:
        """As the worker gets them, but for secrets."""
        if not can_perform(info.context.principal, Action.SEE_DEAD_LETTERS):
            return None
        shown = redact_arguments(self.source.arguments)
        return [Property(name=name, value=value) for name, value in sorted(shown.items())]

    @strawberry.field(description="Every attempt, first to last.")
    async def attempt_history(self, info: Info) -> list[JobAttempt]:
        """Those of all jobs of a page in one transaction."""
        key = self.source.workspace.workspace_id, self.source.job_id
        sees_chains = can_perform(info.context.principal, Action.SEE_DEAD_LETTERS)
        return [
            JobAttempt(
                attempt=one.attempt,
                worker=one.worker,
                started_at=one.started_at,
                ended_at=one.ended_at,
                outcome=one.outcome,
                error_code=one.error_code,
                error_chain=list(one.error_chain) if sees_chains else [],
            )
            for one in await info.context.job_attempts.load(key)
        ]

    @strawberry.field(description="The document it concerns; null when there is none, or none any more.")
    async def document(self, info: Info) -> Document | None:
        """Those of all jobs of a page in one transaction."""
        if self.source.document_id is None:
            return None
        found = await info.context.documents.load((self.source.workspace.workspace_id, self.source.document_id))
        return show_document(found) if found else None


@strawberry.type(description="What became of a replay.")
class ReplayDeadLetterPayload:
    """Result of `replayDeadLetter`."""

    job: Job | None
    replayed: bool = strawberry.field(description="Whether this call queued it again.")
    outcome: ReplayOutcome | None  # type: ignore[valid-type]
    user_errors: list[UserError]


@strawberry.type(description="What became of a purge.")
class PurgeDeadLetterPayload:
    """Result of `purgeDeadLetter`."""

    job: Job | None
    purged: bool = strawberry.field(description="Whether this call removed it; false when it was no dead letter.")
    user_errors: list[UserError]


def show_job(job: jobs.Job) -> Job:
    """A job of the domain as one of the schema."""
    workspace_id = job.workspace.workspace_id
    document_id = encode(NodeKind.DOCUMENT, workspace_id, job.document_id) if job.document_id else None
    return Job(
        id=strawberry.ID(encode(NodeKind.JOB, workspace_id, job.job_id)),
        workspace_id=strawberry.ID(encode_workspace(workspace_id)),
        document_id=strawberry.ID(document_id) if document_id else None,
        kind=job.kind,
        kind_name=job.kind_name,
        state=job.state,
        attempts=job.attempts,
        progress=job.progress,
        error_code=job.error_code,
        error_message=job.error_message,
        trace_id=parse_trace_id(job.trace_carrier),
        run_after=job.run_after,
        created_at=job.created_at,
        updated_at=job.updated_at,
        source=job,
    )
