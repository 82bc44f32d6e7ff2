"""Embedding spaces in the schema."""

from __future__ import annotations

from datetime import datetime

import strawberry

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag.models.embedding import space as spaces
from agentic_rag.models.embedding.recall_gate import DEFAULT_K, RecallGate, RecallQuestion, build_recall_gate
from agentic_rag.operations.switch_embedding import SwitchStart
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server.graphql.http.errors import UserError

SpaceState = strawberry.enum(spaces.SpaceState, description="Where an embedding space stands; ACTIVE answers.")


@strawberry.type(description="What the quality gate of a switch measured.")
class GateVerdict:
    """Mean recall@k before and after."""

    k: int
    questions: int
    before: float = strawberry.field(description="Mean recall@k in the space that answered.")
    after: float = strawberry.field(description="Mean recall@k in the space it would be switched to.")
    passed: bool


@strawberry.type(description="Model, dimensions and precision of a workspace's vectors.")
class EmbeddingSpace:
    """A space as clients see it."""

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
    """A line of the gate's data set."""

    question: str
    gold_ids: list[str]


@strawberry.input(description="Refuse the switch when recall@k over these questions falls by more than the tolerance.")
class RecallGateInput:
    """The quality gate of a switch."""

    questions: list[GateQuestionInput]
    k: int = DEFAULT_K
    tolerance: float = 0.0


@strawberry.input(description="A switch to another embedding space.")
class SwitchEmbeddingSpaceInput:
    """Arguments of `switchEmbeddingSpace`."""

    workspace_id: strawberry.ID
    to: str = strawberry.field(description="`deterministic`, `onnx`, or `openai:MODEL[:DIMENSIONS]`.")
    gate: RecallGateInput | None = None


@strawberry.type(description="The space that is being filled, or that answers already.")
class SwitchEmbeddingSpacePayload:
    """Result of `switchEmbeddingSpace` and `cancelEmbeddingSwitch`."""

    space: EmbeddingSpace | None
    job_id: strawberry.ID | None = strawberry.field(description="The job that fills it; null when nothing was to do.")
    user_errors: list[UserError]


def read_gate(given: RecallGateInput) -> RecallGate:
    """The gate of a request. Errors: `InvalidInput` code GATE_INVALID."""
    questions = [RecallQuestion(one.question, tuple(_gold(gold) for gold in one.gold_ids)) for one in given.questions]
    return build_recall_gate(questions, given.k, given.tolerance)


def _gold(text: str) -> str:
    """A document as retrieval names it: public ids become the plain ones they stand for."""
    try:
        return str(decode(text, NodeKind.DOCUMENT).key)
    except InvalidInput:
        return text


def show_space(record: spaces.SpaceRecord) -> EmbeddingSpace:
    """A space of the domain as one of the schema."""
    space, verdict = record.registered.space, record.verdict
    return EmbeddingSpace(
        name=space.name,
        provider=space.provider,
        model=space.model,
        dimensions=space.dimensions,
        state=record.state,
        done=record.done,
        total=record.total,
        since=record.since,
        drop_after=record.drop_after,
        verdict=GateVerdict(
            k=verdict.k,
            questions=verdict.questions,
            before=verdict.before,
            after=verdict.after,
            passed=verdict.passed,
        )
        if verdict
        else None,
    )


def show_switch(workspace: WorkspaceRef, begun: SwitchStart) -> SwitchEmbeddingSpacePayload:
    """A switch that began, or was done at once."""
    job = begun.job
    return SwitchEmbeddingSpacePayload(
        space=show_space(begun.record),
        job_id=strawberry.ID(encode(NodeKind.JOB, workspace.workspace_id, job.job_id)) if job else None,
        user_errors=[],
    )
