"""What callers say of runs."""

from datetime import datetime
from uuid import UUID

import strawberry

from agentic_rag.answering.feedback import feedback as values
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, mutation, to_schema

NO_CHUNK = UUID(int=0)

Rating = strawberry.enum(values.Rating, description="Whether the answer helped.")
FeedbackReason = strawberry.enum(
    values.FeedbackReason,
    description="What is wrong with an answer. WRONG: it states what is not so. WRONG_SOURCE: it cites what does not "
    "establish it. NO_ANSWER: it abstains although the documents hold the answer.",
)
TaskOutcome = strawberry.enum(
    values.TaskOutcome, description="How the task ended that the answer was for.", name="TaskOutcome"
)


@strawberry.type(description="What one caller says of one run.")
class Feedback:
    run_id: strawberry.ID
    subject: str = strawberry.field(description="Who says it.")
    given_at: datetime
    rating: Rating  # type: ignore[valid-type]
    reason: FeedbackReason | None  # type: ignore[valid-type]
    task_outcome: TaskOutcome | None  # type: ignore[valid-type]
    chunk_ids: list[strawberry.ID] = strawberry.field(description="The surfaced passages that were of use.")
    precision: float | None = strawberry.field(
        description="The share of the surfaced passages that were of use (precision@k); null where none is named."
    )


@strawberry.input(description="What the caller says of a run; it takes the place of what he said of it before.")
class SubmitFeedbackInput:
    run_id: strawberry.ID
    rating: Rating  # type: ignore[valid-type]
    reason: FeedbackReason | None = strawberry.field(  # type: ignore[valid-type]
        default=None, description="With the rating BAD only."
    )
    chunk_ids: list[strawberry.ID] = strawberry.field(
        default_factory=list,
        description="The passages that were of use: of `citations { chunkId }` or `debug { candidates { chunkId } }`.",
    )
    task_outcome: TaskOutcome | None = None  # type: ignore[valid-type]


@strawberry.type(description="What was stored; or, in `userErrors`, what to change in the request.")
class SubmitFeedbackPayload(Payload):
    feedback: Feedback | None = None


@strawberry.type
class FeedbackMutation:
    @mutation(
        Action.ASK,
        SubmitFeedbackPayload,
        right=Sight.ASKER,
        description="Say whether a run helped, what was wrong with it, and which of its passages were of use.",
    )
    async def submit_feedback(self, info: Info, input: SubmitFeedbackInput) -> SubmitFeedbackPayload:
        context = info.context
        node = decode(input.run_id, NodeKind.RUN, path=("runId",))
        given = await context.parts.feedback.give(
            context.principal,
            context.ref(node),
            node.key,
            input.rating,
            reason=input.reason,
            task_outcome=input.task_outcome,
            chunk_ids=[_chunk(one, node.workspace_id) for one in input.chunk_ids],
        )
        return SubmitFeedbackPayload(feedback=show_feedback(given, node.workspace_id))


def show_feedback(given: values.Feedback, workspace_id: UUID) -> Feedback:
    """What was said of a run of the workspace."""
    return to_schema(
        Feedback,
        given,
        run_id=encode(NodeKind.RUN, workspace_id, given.run_id),
        chunk_ids=[encode(NodeKind.CHUNK, workspace_id, one) for one in given.chunk_ids],
    )


def _chunk(public_id: str, workspace_id: UUID) -> UUID:
    node = decode(public_id, NodeKind.CHUNK, path=("chunkIds",))
    # A passage of another workspace is none of the run, which is said only to those who may see the run.
    return node.key if node.workspace_id == workspace_id else NO_CHUNK
