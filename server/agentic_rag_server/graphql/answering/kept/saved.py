"""Questions that are asked again after each publish."""

from datetime import datetime

import strawberry

from agentic_rag.answering.saved import saved_question as values
from agentic_rag.kernel.public_ids import NodeKind, decode, encode, encode_workspace
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema

SavedState = strawberry.enum(
    values.SavedState,
    description="What became of a saved question. CHANGED: the answer, or what it cites, is another. NOT_COMPARED: it "
    "could not be told, for the reason beside it.",
)
NotCompared = strawberry.enum(
    values.NotCompared,
    description="RIGHTS_UNKNOWN: its owner has no valid key with the rights it was saved with, or did not come for "
    f"{values.RIGHTS_DAYS} days. RUN_GONE: the run to compare with is past its retention. DEGRADED: a model, its "
    "budget or a store was missing.",
)


@strawberry.type(description="A question of the caller's that is asked again after each publish.")
class SavedQuestion:
    id: strawberry.ID
    workspace_id: strawberry.ID
    question: str = strawberry.field(description="As it stands alone.")
    run_id: strawberry.ID = strawberry.field(description="The run that answers are compared with.")
    newer_run_id: strawberry.ID | None = strawberry.field(
        description="The run that asked it again; `diffAnswers` compares the two."
    )
    state: SavedState  # type: ignore[valid-type]
    reason: NotCompared | None  # type: ignore[valid-type]
    stage: str | None = strawberry.field(description="The first stage that made something else, as in `stages`.")
    what: str | None
    removed: int = strawberry.field(description="Sentences of the earlier answer alone.")
    added: int = strawberry.field(description="Sentences of the newer answer alone.")
    saved_at: datetime
    checked_at: datetime | None


@strawberry.type(description="The saved question; or, in `userErrors`, what to change in the request.")
class SaveQuestionPayload(Payload):
    saved: SavedQuestion | None = None


@strawberry.type(description="What went; or, in `userErrors`, what to change in the request.")
class RemoveSavedQuestionPayload(Payload):
    removed_id: strawberry.ID | None = None


@strawberry.type
class SavedQuery:
    @field(
        Action.READ,
        right=Sight.SUBJECT,
        description=f"The caller's saved questions of a workspace, at most {values.MOST_OF_ONE}; the one asked again "
        "last first.",
    )
    async def saved_questions(self, info: Info, workspace_id: strawberry.ID) -> list[SavedQuestion]:
        context = info.context
        workspace = await context.workspace(workspace_id)
        return [_show(one) for one in await context.parts.saved.own(context.principal, workspace)]


@strawberry.type
class SavedMutation:
    @mutation(
        Action.ASK,
        SaveQuestionPayload,
        right=Sight.SUBJECT,
        description="Have the question of a run of the caller's asked again after each publish, with the caller's "
        "rights, and compared with that run. Saved again, it is compared with the new run.",
    )
    async def save_question(self, info: Info, run_id: strawberry.ID) -> SaveQuestionPayload:
        context, node = info.context, decode(run_id, NodeKind.RUN, path=("runId",))
        kept = await context.parts.saved.save(context.principal, context.ref(node), node.key)
        return SaveQuestionPayload(saved=_show(kept))

    @mutation(
        Action.ASK,
        RemoveSavedQuestionPayload,
        right=Sight.SUBJECT,
        description="Ask a question no more; its runs stay.",
    )
    async def remove_saved_question(self, info: Info, id: strawberry.ID) -> RemoveSavedQuestionPayload:
        context, node = info.context, decode(id, NodeKind.SAVED)
        await context.parts.saved.remove(context.principal, context.ref(node), node.key)
        return RemoveSavedQuestionPayload(removed_id=id)


def _show(saved: values.SavedQuestion) -> SavedQuestion:
    workspace_id, found = saved.workspace.workspace_id, saved.replayed
    newer = found.run_id
    return to_schema(
        SavedQuestion,
        saved,
        found,
        id=encode(NodeKind.SAVED, workspace_id, saved.saved_id),
        workspace_id=encode_workspace(workspace_id),
        run_id=encode(NodeKind.RUN, workspace_id, saved.run_id),
        newer_run_id=None if newer is None else encode(NodeKind.RUN, workspace_id, newer),
    )
