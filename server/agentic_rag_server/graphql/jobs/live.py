"""`jobEvents`, `documentEvents` and `cancelJob`."""

from collections.abc import AsyncGenerator
from itertools import count

import strawberry

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.documents.document_access import DocumentRight, list_scope
from agentic_rag.ingestion.live import cancel_job
from agentic_rag.jobs.job import JobState
from agentic_rag.kernel.pagination import MAX_PAGE, PageRequest
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.documents.documents import Document, show_document
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, mutation, subscription
from agentic_rag_server.graphql.jobs.jobs import Job, show_job

MOST_AT_FIRST = MAX_PAGE
"""Unfinished ones that are told when a stream begins: the newest jobs, the first documents."""

CancelOutcome = strawberry.enum(
    cancel_job.CancelOutcome,
    description="CANCELLED: it does not start, or its worker stops. NOT_CANCELLABLE: an erasure, upkeep, or work with "
    "a cancellation of its own.",
)


@strawberry.type(description="A job that changed.")
class JobEvent:
    seq: int = strawberry.field(description="From 1 on, without gaps.")
    job: Job | None = strawberry.field(
        default=None, description="Its state now. Null once: what is unfinished was told, from here on come changes."
    )
    missed: bool = strawberry.field(
        default=False, description="True: changes before this one were dropped. Read the list again."
    )


@strawberry.type(description="A document that changed.")
class DocumentEvent:
    seq: int = strawberry.field(description="From 1 on, without gaps.")
    document: Document | None = strawberry.field(
        default=None, description="Its state now. Null once: what is not ready was told, from here on come changes."
    )
    missed: bool = strawberry.field(
        default=False, description="True: changes before this one were dropped. Read the list again."
    )


@strawberry.type(description="What became of a cancellation.")
class CancelJobPayload(Payload):
    job: Job | None = None
    outcome: CancelOutcome | None = None  # type: ignore[valid-type]


@strawberry.type
class ChangeSubscription:
    @subscription(
        Action.READ,
        right=Sight.ORGANISATION,
        description="Jobs of a workspace: first the unfinished ones, then each change, of those that `jobs` shows.",
    )
    async def job_events(self, info: Info, workspace_id: strawberry.ID) -> AsyncGenerator[JobEvent]:
        """State, attempts, progress and fault; a change of the place in the queue alone is not told."""
        context, numbers = info.context, count(1)
        workspace = await context.workspace(workspace_id)
        async with context.parts.changes.jobs(workspace, lambda: context.principal) as follower:
            async with context.parts.database.transaction(workspace.org_id) as transaction:
                scope = await list_scope(transaction, context.principal, workspace)
                states = (JobState.QUEUED, JobState.RUNNING)
                page = await transaction.jobs.page(workspace, PageRequest(MOST_AT_FIRST), states, scope=scope)
            for job in page.items[::-1]:
                yield JobEvent(seq=next(numbers), job=show_job(job))
            yield JobEvent(seq=next(numbers), missed=page.has_next)
            async for changed, missed in follower.changes():
                yield JobEvent(seq=next(numbers), job=show_job(changed), missed=missed)

    @subscription(
        Action.READ,
        right=Sight.ORGANISATION,
        description="Documents of a workspace: first those that are not ready, then each change, of those that "
        "`documents` shows. An erasure is not told.",
    )
    async def document_events(self, info: Info, workspace_id: strawberry.ID) -> AsyncGenerator[DocumentEvent]:
        """Status with its reason, progress, and what is said of it."""
        context, numbers = info.context, count(1)
        workspace = await context.workspace(workspace_id)
        async with context.parts.changes.documents(workspace, lambda: context.principal) as follower:
            async with context.parts.database.transaction(workspace.org_id) as transaction:
                scope = await list_scope(transaction, context.principal, workspace)
                statuses = (DocumentStatus.PENDING, DocumentStatus.PROCESSING)
                page = await transaction.documents.page(workspace, PageRequest(MOST_AT_FIRST), statuses, scope)
            for document in page.items:
                yield DocumentEvent(seq=next(numbers), document=show_document(document))
            yield DocumentEvent(seq=next(numbers), missed=page.has_next)
            async for changed, missed in follower.changes():
                yield DocumentEvent(seq=next(numbers), document=show_document(changed), missed=missed)


@strawberry.type
class CancelJobMutation:
    @mutation(
        Action.REINGEST_DOCUMENT,
        CancelJobPayload,
        right=DocumentRight.WRITE,
        description="Cancel a job that waits or runs: of a document that one may write, or any for who manages the "
        "workspace. Its document becomes FAILED with JOB_CANCELLED; what readers saw of it stays.",
    )
    async def cancel_job(self, info: Info, id: strawberry.ID) -> CancelJobPayload:
        """A second call changes nothing and says ALREADY_ENDED."""
        context, node = info.context, decode(id, NodeKind.JOB)
        found = await context.parts.cancel_job.run(context.principal, context.ref(node), node.key)
        return CancelJobPayload(job=show_job(found.job), outcome=found.outcome)
