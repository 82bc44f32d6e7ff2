"""Embedding spaces and switches between them."""

from collections.abc import Sequence
from datetime import datetime

import strawberry

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag.models.embedding import space as spaces
from agentic_rag.models.embedding.recall_gate import DEFAULT_K, RecallGate, RecallQuestion, build_recall_gate
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema

SpaceState = strawberry.enum(spaces.SpaceState, description="Where an embedding space stands; ACTIVE answers.")


@strawberry.type(description="What the quality gate of a switch measured.")
class GateVerdict:
    k: int
    questions: int
    before: float = strawberry.field(description="Mean recall@k in the space that answered.")
    after: float = strawberry.field(description="Mean recall@k in the space it would be switched to.")
    passed: bool


@strawberry.type(description="Model, dimensions and precision of a workspace's vectors.")
class EmbeddingSpace:
    name: str
    provider: str
    model: str
    dimensions: int
    state: SpaceState  # type: ignore[valid-type]
    done: int = strawberry.field(description="Passages with a vector in this space.")
    total: int = strawberry.field(description="Passages of the workspace, those of readable older versions included.")
    since: datetime = strawberry.field(description="When it came into its state.")
    drop_after: datetime | None = strawberry.field(description="A retired or abandoned space is dropped after this.")
    verdict: GateVerdict | None


@strawberry.input(description="A question, and the documents that answer it by id or source path.")
class GateQuestionInput:
    question: str
    gold_ids: list[str]


@strawberry.input(description="Refuse the switch when recall@k over these questions falls by more than the tolerance.")
class RecallGateInput:
    questions: list[GateQuestionInput]
    k: int = DEFAULT_K
    tolerance: float = 0.0


@strawberry.input(description="A switch to another embedding space.")
class SwitchEmbeddingSpaceInput:
    workspace_id: strawberry.ID
    to: str = strawberry.field(description="`deterministic`, `onnx[:NAME]`, or `openai:MODEL[:DIMENSIONS]`.")
    gate: RecallGateInput | None = None


@strawberry.type(description="The space that is being filled, or that answers already.")
class SwitchEmbeddingSpacePayload(Payload):
    space: EmbeddingSpace | None = None
    job_id: strawberry.ID | None = strawberry.field(
        default=None, description="The job that fills it; null when nothing was to do."
    )


@strawberry.type(description="What embedding would cost. Tokens are estimated.")
class EmbeddingEstimate:
    space: str = strawberry.field(description="Model and dimensions of the vectors.")
    chunks: int = strawberry.field(description="Passages that would be embedded.")
    tokens: int
    reused_chunks: int = strawberry.field(description="Passages whose vectors stay as they are.")
    cost_usd: float | None = strawberry.field(description="Null without a known price; 0 on the server itself.")


@strawberry.type
class SpaceQuery:
    @field(
        Action.READ,
        Action.SWITCH_SPACE,
        right=Sight.ORGANISATION,
        description="What a switch to another embedding model would cost: every passage without a vector in it, those "
        "of readable older versions included. Takes the role admin.",
    )
    async def estimate_embedding_switch(self, info: Info, workspace_id: strawberry.ID, to: str) -> EmbeddingEstimate:
        """`to` as in `switchEmbeddingSpace`. Errors: SPACE_UNKNOWN."""
        context = info.context
        found = await context.parts.switch_spaces.estimate(await context.workspace(workspace_id), to)
        return to_schema(EmbeddingEstimate, found)

    @field(
        Action.READ,
        Action.SWITCH_SPACE,
        right=Sight.ORGANISATION,
        description="The embedding spaces of a workspace, oldest first. Takes the role admin.",
    )
    async def embedding_spaces(self, info: Info, workspace_id: strawberry.ID) -> list[EmbeddingSpace]:
        """The space that answers, the one being filled, and those kept for the grace period."""
        context = info.context
        workspace = await context.workspace(workspace_id)
        return [_show_space(one) for one in await context.parts.switch_spaces.spaces(workspace)]


@strawberry.type
class SpaceMutation:
    @mutation(
        Action.SWITCH_SPACE,
        SwitchEmbeddingSpacePayload,
        right=Sight.ORGANISATION,
        description="Switch a workspace to another embedding model. Takes the role admin.",
    )
    async def switch_embedding_space(self, info: Info, input: SwitchEmbeddingSpaceInput) -> SwitchEmbeddingSpacePayload:
        """A job fills the new space while the old one answers questions."""
        context = info.context
        workspace = await context.workspace(input.workspace_id, ("input", "workspaceId"))
        gate = _read_gate(input.gate) if input.gate else None
        switch = await context.parts.switch_spaces.begin(workspace, input.to, gate, context.principal.subject_id)
        job = switch.job
        return SwitchEmbeddingSpacePayload(
            space=_show_space(switch.record),
            job_id=strawberry.ID(encode(NodeKind.JOB, workspace.workspace_id, job.job_id)) if job else None,
        )

    @mutation(
        Action.SWITCH_SPACE,
        SwitchEmbeddingSpacePayload,
        right=Sight.ORGANISATION,
        description="Call off the switch that is under way. Takes the role admin.",
    )
    async def cancel_embedding_switch(self, info: Info, workspace_id: strawberry.ID) -> SwitchEmbeddingSpacePayload:
        """The workspace answers as before. The filled vectors are kept for the grace period."""
        context = info.context
        workspace = await context.workspace(workspace_id)
        record = await context.parts.switch_spaces.cancel(workspace, context.principal.subject_id)
        return SwitchEmbeddingSpacePayload(space=_show_space(record))


def _read_gate(given: RecallGateInput) -> RecallGate:
    """The gate of a request. Errors: `InvalidInput` code GATE_INVALID."""
    return build_recall_gate(read_questions(given.questions), given.k, given.tolerance)


def read_questions(given: Sequence[GateQuestionInput]) -> list[RecallQuestion]:
    """Questions with their gold documents as retrieval names them."""
    return [RecallQuestion(one.question, tuple(_gold(gold) for gold in one.gold_ids)) for one in given]


def _gold(text: str) -> str:
    """A document as retrieval names it: a public id is decoded, a source path stays."""
    try:
        return str(decode(text, NodeKind.DOCUMENT).key)
    except InvalidInput:
        return text


def _show_space(record: spaces.SpaceRecord) -> EmbeddingSpace:
    return to_schema(EmbeddingSpace, record, record.registered.space)
