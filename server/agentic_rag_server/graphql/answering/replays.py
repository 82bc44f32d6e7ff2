"""Runs asked again, and runs compared."""

import strawberry

from agentic_rag.answering.runs import replay as replays
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.answering.citations import Citation, show_citation
from agentic_rag_server.graphql.answering.runs import Run, show_run
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema


@strawberry.type(description="One thing that a stage made in both runs, and made differently.")
class StageDifference:
    stage: str = strawberry.field(description="As in `stages` of a run.")
    what: str
    before: str = strawberry.field(description="From where they differ on, at most 300 characters.")
    after: str


ReplayedConversation = strawberry.enum(
    replays.ReplayedConversation,
    description="What a run was asked again after. WHOLE: the turns that it was asked after. NONE: it had none. "
    "NOT_KEPT: its turns, if any, are not kept, so it was asked as its stand-alone question. GONE: the same, "
    "because one of them was deleted, erased or hidden, or is past its retention.",
)


@strawberry.type(description="Two runs, and how the second differs from the first.")
class RunComparison:
    before: Run
    after: Run
    same: bool = strawberry.field(description="Whether no stage made anything differently.")
    differences: list[StageDifference] = strawberry.field(
        description="In the order of the stages: the first tells where the runs part. A question that was put "
        "otherwise after its conversation stands first."
    )
    kept: list[str] = strawberry.field(description="Sentences of both answers, without markers.")
    removed: list[str] = strawberry.field(description="Sentences of the first answer only.")
    added: list[str] = strawberry.field(description="Sentences of the second answer only.")
    citations_removed: list[Citation]
    citations_added: list[Citation]
    conversation: ReplayedConversation | None = strawberry.field(  # type: ignore[valid-type]
        description="Null where nothing was asked again."
    )


@strawberry.type(description="The run beside the one that it repeats; or, in `userErrors`, what to change.")
class ReplayRunPayload(Payload):
    comparison: RunComparison | None = None


@strawberry.type
class ReplayQuery:
    @field(Action.READ, right=Sight.ASKER, description="Compare two stored runs of a workspace, stage by stage.")
    async def diff_answers(self, info: Info, run_id: strawberry.ID, later_run_id: strawberry.ID) -> RunComparison:
        """NOT_FOUND for an unknown run; RUN_NOT_COMPARABLE."""
        first = decode(run_id, NodeKind.RUN, path=("runId",))
        second = decode(later_run_id, NodeKind.RUN, path=("laterRunId",))
        context = info.context
        before, after = (replays.RunRef(context.ref(one), one.key) for one in (first, second))
        found = await context.parts.replay.diff(context.principal, before, after)
        return _show(found)


@strawberry.type
class ReplayMutation:
    @mutation(
        Action.ASK,
        ReplayRunPayload,
        right=Sight.ASKER,
        description="Ask the question of a run again, after the runs that were its conversation and with the options "
        "that it ran with, at its corpus version or (`newest`) the newest one, past the cache; and tell in which stage "
        "the new run parts from it.",
    )
    async def replay_run(self, info: Info, id: strawberry.ID, newest: bool = False) -> ReplayRunPayload:
        context, node = info.context, decode(id, NodeKind.RUN)
        found = await context.parts.replay.replay(context.principal, context.ref(node), node.key, newest=newest)
        return ReplayRunPayload(comparison=_show(found))


def _show(found: replays.RunComparison) -> RunComparison:
    workspace_id = found.before.workspace.workspace_id
    answer = found.answer
    return to_schema(
        RunComparison,
        answer,
        before=show_run(found.before),
        after=show_run(found.after),
        same=not found.differences,
        differences=[to_schema(StageDifference, one, stage=one.stage.value) for one in found.differences],
        kept=list(answer.kept),
        removed=list(answer.removed),
        added=list(answer.added),
        citations_removed=[show_citation(one, workspace_id) for one in answer.citations_removed],
        citations_added=[show_citation(one, workspace_id) for one in answer.citations_added],
        conversation=found.conversation,
    )
