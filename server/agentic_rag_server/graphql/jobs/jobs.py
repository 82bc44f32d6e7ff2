"""Jobs of the data plane and dead letters."""

from datetime import datetime

import strawberry

from agentic_rag.documents.document_access import DocumentRight, list_scope
from agentic_rag.jobs import job as jobs
from agentic_rag.kernel.error_redaction import redact_arguments
from agentic_rag.kernel.pagination import Page
from agentic_rag.kernel.public_ids import NodeId, NodeKind, decode, encode, encode_workspace
from agentic_rag.kernel.telemetry import parse_trace_id
from agentic_rag.kernel.text import is_storable
from agentic_rag_server.auth.roles import Action, can_perform
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.documents.documents import Document, Property, show_document
from agentic_rag_server.graphql.http.context import Info, RequestContext, page_request
from agentic_rag_server.graphql.http.fields import (
    Connection,
    Node,
    Payload,
    connection,
    field,
    inner,
    mutation,
    to_schema,
)

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
    attempt: int
    worker: str
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None = strawberry.field(
        description="DONE, RETRY, DEAD, LAPSED (its worker died or gave it up) or OUTAGE (its lease lapsed and its "
        "worker lived on: not counted); null while it runs."
    )
    error_code: str | None
    error_chain: list[str] = strawberry.field(
        description="The error and its causes, outermost first, secrets blotted out. Empty below the role admin."
    )


@strawberry.type(description="Where a job waits among those of the organisation. Numbers only, of all of its jobs.")
class QueuePlace:
    before: int = strawberry.field(description="At most so many start before it; 1000 may be more.")
    estimated_seconds: float | None = strawberry.field(
        description="Until it is done, at the rate of what ended in the last minutes; null where too little did."
    )


@strawberry.type(description="A unit of work of the data plane.")
class Job(Node):
    workspace_id: strawberry.ID
    document_id: strawberry.ID | None
    kind: JobKind  # type: ignore[valid-type]
    kind_name: str = strawberry.field(description="The kind as it is stored; tells kinds of other versions apart.")
    state: JobState  # type: ignore[valid-type]
    queue: str = strawberry.field(description="`bulk`, or `interactive` for work that an answer waits for.")
    key: str = strawberry.field(description="Names the work among the unfinished jobs of its kind.")
    attempts: int = strawberry.field(description="All attempts, those before a replay included.")
    progress: int
    error_code: str | None
    error_message: str | None
    trace_id: str | None = strawberry.field(description="The trace of the request that caused the job.")
    run_after: datetime = strawberry.field(description="A queued job does not start before this.")
    created_at: datetime
    updated_at: datetime
    source: strawberry.Private[jobs.Job]

    @inner(
        Action.SEE_DEAD_LETTERS,
        right=DocumentRight.KNOW,
        is_hidden=True,
        description="Secrets blotted out. Null below the role admin.",
    )
    async def arguments(self, info: Info) -> list[Property] | None:
        shown = redact_arguments(self.source.arguments)
        return [Property(name=name, value=value) for name, value in sorted(shown.items())]

    @inner(right=DocumentRight.KNOW, description="Where it waits for its turn; null when it does not.")
    async def queue_place(self, info: Info) -> QueuePlace | None:
        found = await info.context.queue_places.load((self.source.workspace.workspace_id, self.source.job_id))
        return to_schema(QueuePlace, found) if found else None

    @inner(right=DocumentRight.KNOW, description="Every attempt, first to last.")
    async def attempt_history(self, info: Info) -> list[JobAttempt]:
        key = self.source.workspace.workspace_id, self.source.job_id
        sees_chains = can_perform(info.context.principal, Action.SEE_DEAD_LETTERS)
        attempts = await info.context.job_attempts.load(key)
        return [to_schema(JobAttempt, one, error_chain=one.error_chain if sees_chains else []) for one in attempts]

    @inner(right=DocumentRight.KNOW, description="The document it concerns; null when there is none, or none any more.")
    async def document(self, info: Info) -> Document | None:
        if self.source.document_id is None:
            return None
        found = await info.context.documents.load((self.source.workspace.workspace_id, self.source.document_id))
        return show_document(found) if found else None


@strawberry.type(description="What became of a replay.")
class ReplayDeadLetterPayload(Payload):
    job: Job | None = None
    replayed: bool = strawberry.field(default=False, description="Whether this call queued it again.")
    outcome: ReplayOutcome | None = None  # type: ignore[valid-type]


@strawberry.type(description="What became of a purge.")
class PurgeDeadLetterPayload(Payload):
    job: Job | None = None
    purged: bool = strawberry.field(
        default=False, description="Whether this call removed it; false when it was no dead letter."
    )


@strawberry.type
class JobQuery:
    @field(Action.READ, right=DocumentRight.KNOW, description="Jobs of a workspace, newest first.")
    async def jobs(
        self,
        info: Info,
        workspace_id: strawberry.ID,
        first: int = 50,
        after: str | None = None,
        states: list[JobState] | None = None,  # type: ignore[valid-type]
        kinds: list[JobKind] | None = None,  # type: ignore[valid-type]
    ) -> Connection[Job]:
        context = info.context
        request = page_request(first, after)
        workspace = await context.workspace(workspace_id)
        wanted_states: tuple[jobs.JobState, ...] = tuple(states or ())
        wanted_kinds: tuple[jobs.JobKind, ...] = tuple(kinds or ())
        async with context.parts.database.transaction(workspace.org_id) as transaction:
            scope = await list_scope(transaction, context.principal, workspace)
            page = await transaction.jobs.page(workspace, request, wanted_states, wanted_kinds, scope=scope)
        return connection(page, show_job)

    @field(Action.READ, right=DocumentRight.KNOW, description="A job by its id.")
    async def job(self, info: Info, id: strawberry.ID) -> Job | None:
        return await find_job(info.context, decode(id, NodeKind.JOB))

    @field(
        Action.READ,
        Action.SEE_DEAD_LETTERS,
        right=DocumentRight.KNOW,
        description="Jobs of a workspace that gave up, newest first. Takes the role admin.",
    )
    async def dead_letters(
        self,
        info: Info,
        workspace_id: strawberry.ID,
        first: int = 50,
        after: str | None = None,
        kinds: list[JobKind] | None = None,  # type: ignore[valid-type]
        codes: list[str] | None = None,
    ) -> Connection[Job]:
        context = info.context
        request = page_request(first, after)
        workspace = await context.workspace(workspace_id)
        wanted_kinds: tuple[jobs.JobKind, ...] = tuple(kinds or ())
        wanted_codes = [code for code in codes or () if is_storable(code)]
        if codes and not wanted_codes:
            return connection(Page((), (), has_next=False), show_job)
        async with context.parts.database.transaction(workspace.org_id) as transaction:
            page = await transaction.jobs.page(workspace, request, [jobs.JobState.DEAD], wanted_kinds, wanted_codes)
        return connection(page, show_job)


@strawberry.type
class JobMutation:
    @mutation(
        Action.REPLAY_DEAD_LETTER,
        ReplayDeadLetterPayload,
        right=Sight.ORGANISATION,
        description="Queue a dead letter again with a fresh allowance; its attempts stay. Takes the role admin.",
    )
    async def replay_dead_letter(self, info: Info, id: strawberry.ID) -> ReplayDeadLetterPayload:
        """A second call changes nothing and says `replayed: false`."""
        context, node = info.context, decode(id, NodeKind.JOB)
        result = await context.parts.dead_letters.replay(context.ref(node), node.key, context.principal.subject_id)
        return ReplayDeadLetterPayload(
            job=show_job(result.job), replayed=result.outcome is jobs.Replay.REPLAYED, outcome=result.outcome
        )

    @mutation(
        Action.PURGE_DEAD_LETTER,
        PurgeDeadLetterPayload,
        right=Sight.ORGANISATION,
        description="Remove what a dead letter holds: arguments, error texts and attempts. Takes the role admin.",
    )
    async def purge_dead_letter(self, info: Info, id: strawberry.ID) -> PurgeDeadLetterPayload:
        """Kind, code, times and the audit entry stay."""
        context, node = info.context, decode(id, NodeKind.JOB)
        result = await context.parts.dead_letters.purge(context.ref(node), node.key, context.principal.subject_id)
        return PurgeDeadLetterPayload(job=show_job(result.job), purged=result.purged)


async def find_job(context: RequestContext, node: NodeId) -> Job | None:
    """A job; None when there is none, or when it concerns a document that is hidden from the caller, or was until it
    was erased. Jobs that concern no document are for managers.
    """
    workspace = context.ref(node)
    async with context.parts.database.transaction(workspace.org_id) as transaction:
        scope = await list_scope(transaction, context.principal, workspace)
        found = await transaction.jobs.get(workspace, node.key, scope)
    return show_job(found) if found else None


def show_job(job: jobs.Job) -> Job:
    """A job, with its ids as clients know them."""
    workspace_id = job.workspace.workspace_id
    return to_schema(
        Job,
        job,
        id=encode(NodeKind.JOB, workspace_id, job.job_id),
        workspace_id=encode_workspace(workspace_id),
        document_id=encode(NodeKind.DOCUMENT, workspace_id, job.document_id) if job.document_id else None,
        queue=job.queue.value,
        trace_id=parse_trace_id(job.trace_carrier),
        source=job,
    )
