"""`ragAnswerStream`: an answer while it is made; and `cancelRun`."""

import asyncio
from collections.abc import AsyncGenerator
from itertools import count
from uuid import UUID

import strawberry

from agentic_rag.answering.live import events
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.answering.answers import RagAnswerPayload, show_answer
from agentic_rag_server.graphql.answering.citations import Citation, show_citation
from agentic_rag_server.graphql.answering.inputs import RagAnswerInput, read_question
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.errors import USER_ERRORS, user_error
from agentic_rag_server.graphql.http.fields import Payload, mutation, subscription
from agentic_rag_server.graphql.http.waiting_events import WaitingEvents

RunEventKind = strawberry.enum(
    events.RunEventKind,
    description="What happened. DRAFT: sentences were written; their quotes are not yet verified. CITATION: the quotes "
    "of a citation were found in the stored text. ANSWER: the last event.",
)


@strawberry.type(description="One event of an answer that is made.")
class RagAnswerEvent:
    seq: int = strawberry.field(description="From 1 on, without gaps.")
    kind: RunEventKind  # type: ignore[valid-type]
    run_id: strawberry.ID | None = strawberry.field(
        default=None, description="In the first event: what `cancelRun` takes."
    )
    stage: str | None = None
    seconds: float | None = strawberry.field(default=None, description="How long the stage took that ended.")
    outcome: str | None = strawberry.field(default=None, description="How the stage ended, as in `Run.stages`.")
    draft: str | None = None
    citation: Citation | None = None
    answer: RagAnswerPayload | None = strawberry.field(
        default=None, description="In the last event, and only there: what `ragAnswer` answers."
    )


async def stream_answer(info: Info, input: RagAnswerInput) -> AsyncGenerator[RagAnswerEvent]:
    """Answers one question, and tells meanwhile how it goes. Leaving cancels the run."""
    context, numbers = info.context, count(1)
    waiting: WaitingEvents[events.RunEvent] = WaitingEvents(lambda event: event.is_text)
    try:
        workspace = await context.named_workspace(input.workspace_id, input.workspace)
        question = read_question(input, workspace)
        work = asyncio.ensure_future(context.parts.answer.ask(context.principal, question, waiting.put))
        try:
            async for event in waiting.until(work):
                yield _show(next(numbers), event, workspace.workspace_id)
            last = show_answer(await work)
        finally:
            if not work.done():
                work.cancel()
                await asyncio.wait([work])
    except USER_ERRORS as error:
        last = RagAnswerPayload(user_errors=[user_error(error)])
    yield RagAnswerEvent(seq=next(numbers), kind=events.RunEventKind.ANSWER, answer=last)


def _show(seq: int, event: events.RunEvent, workspace_id: UUID) -> RagAnswerEvent:
    record = event.record
    return RagAnswerEvent(
        seq=seq,
        kind=event.kind,
        run_id=None if event.run_id is None else strawberry.ID(encode(NodeKind.RUN, workspace_id, event.run_id)),
        stage=None if event.stage is None else event.stage.value,
        seconds=None if record is None else record.seconds,
        outcome=None if record is None else record.outcome,
        draft=event.draft,
        citation=None if event.citation is None else show_citation(event.citation, workspace_id),
    )


@strawberry.type
class AnswerSubscription:
    rag_answer_stream = subscription(
        Action.ASK,
        right=Sight.ORGANISATION,
        description="As `ragAnswer`, with what happens meanwhile: stages, the draft, each citation as it is verified. "
        "The last event holds the answer. Hanging up cancels the run.",
    )(stream_answer)


@strawberry.type(description="What became of a cancellation.")
class CancelRunPayload(Payload):
    cancelled: bool = strawberry.field(
        default=False,
        description="True: the run stops, and whoever waits for it gets the error RUN_CANCELLED. False: it had ended.",
    )


@strawberry.type
class CancelRunMutation:
    @mutation(
        Action.ASK,
        CancelRunPayload,
        right=Sight.ASKER,
        description="Stop a run that goes on: one's own, or any for who manages the workspace.",
    )
    async def cancel_run(self, info: Info, id: strawberry.ID) -> CancelRunPayload:
        """A run of another process of the server is not stopped by this."""
        context, node = info.context, decode(id, NodeKind.RUN)
        return CancelRunPayload(
            cancelled=await context.parts.answer.cancel(context.principal, context.ref(node), node.key)
        )
