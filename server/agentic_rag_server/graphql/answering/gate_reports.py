"""How the gate stands, what it decided, and what it would decide."""

import enum
from datetime import datetime
from uuid import UUID

import strawberry

from agentic_rag.answering.gate import observe, replay
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.answering.gate import (
    Downgrade,
    DowngradeCause,
    GateDecision,
    PlanType,
    Threshold,
    show_gate,
)
from agentic_rag_server.graphql.answering.inputs import RagAnswerInput, read_question
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema


@strawberry.enum(description="A mode in which runs are judged.")
class JudgingMode(enum.Enum):
    SHADOW = "shadow"
    ON = "on"


@strawberry.type(description="How the gate stands in a workspace.")
class GateStatus:
    mode: str = strawberry.field(description="off, shadow or on (AGENTIC_RAG_GATE_MODE).")
    weights_version: str
    care: float = strawberry.field(description="The knob between cost (0) and care (1).")
    thresholds: list[Threshold] = strawberry.field(description="At this position of the knob.")
    downgrades: list[Downgrade] = strawberry.field(
        description="What lowers every plan that looks outside, as things stand."
    )


@strawberry.type(description="Stored decisions with one plan, or of one intent.")
class DecisionGroup:
    name: str
    runs: int
    share: float = strawberry.field(description="Of all runs, 0 to 1.")
    p50_seconds: float = strawberry.field(description="Latency of the runs.")
    p95_seconds: float
    hit_rate: float = strawberry.field(description="The mean of the signal.")
    cost_usd: float = strawberry.field(description="What calls of chat models cost whose price is known.")
    unpriced_runs: int
    tokens: int = strawberry.field(description="Of calls of chat models, in and out, as far as they were kept.")
    ratings: int = strawberry.field(description="How often a caller said whether a run helped.")
    satisfaction: float | None = strawberry.field(description="The share of the ratings that are good.")
    precision: float | None = strawberry.field(
        description="The mean share of the surfaced passages that were of use (precision@k)."
    )


@strawberry.type(description="How many decisions one cause lowered.")
class CauseCount:
    cause: DowngradeCause  # type: ignore[valid-type]
    runs: int


@strawberry.type(description="What the stored decisions of the runs that the caller may see add up to.")
class GateReport:
    runs: int
    is_complete: bool = strawberry.field(description="False where older decisions were left out.")
    total: DecisionGroup | None = strawberry.field(description="Null without a decision.")
    by_plan: list[DecisionGroup] = strawberry.field(description="By the plan before anything lowered it.")
    by_intent: list[DecisionGroup]
    by_version: list[DecisionGroup] = strawberry.field(description="By the version of the weights.")
    by_mode: list[DecisionGroup] = strawberry.field(
        description="By the mode: runs of `shadow`, which only watched, beside those of `on`."
    )
    causes: list[CauseCount]


@strawberry.type(description="A decision that the weights in force take otherwise.")
class DecisionDifference:
    run_id: strawberry.ID
    decided_at: datetime
    weights_version: str = strawberry.field(description="Of the stored decision.")
    score_before: float
    score_after: float
    plan_before: PlanType = strawberry.field(description="Before anything lowered it.")
    plan_after: PlanType


@strawberry.type(description="Stored decisions of the runs that the caller may see, decided again.")
class GateReplay:
    weights_version: str = strawberry.field(description="Those in force.")
    runs: int = strawberry.field(description="Decided again.")
    unreadable: int = strawberry.field(description="Left out: stored with other signals.")
    is_complete: bool = strawberry.field(description="False where older decisions were left out.")
    differences: list[DecisionDifference] = strawberry.field(description="Newest first.")


@strawberry.type(description="What the gate would decide; or, in `userErrors`, what to change in the request.")
class GateDecisionPayload(Payload):
    decision: GateDecision | None = None


@strawberry.type
class GateQuery:
    @mutation(
        Action.ASK,
        GateDecisionPayload,
        right=Sight.ORGANISATION,
        description="What the gate decides about a question, which is answered by rules for this alone: nothing is "
        "stored, and no chat model is asked.",
    )
    async def gate_decision(self, info: Info, input: RagAnswerInput) -> GateDecisionPayload:
        context = info.context
        question = read_question(input, await context.named_workspace(input.workspace_id, input.workspace))
        return GateDecisionPayload(decision=show_gate(await context.parts.gate.decide(context.principal, question)))

    @field(Action.READ, right=Sight.ORGANISATION, description="How the gate stands in a workspace.")
    async def gate_status(self, info: Info, workspace_id: strawberry.ID) -> GateStatus:
        context = info.context
        found = await context.parts.gate.status(context.principal, await context.workspace(workspace_id))
        return _show_status(found)

    @field(
        Action.READ,
        right=Sight.ORGANISATION,
        description="What the decisions since then, or those of one mode, add up to: of the caller's own runs, and for "
        "those who manage the workspace of all.",
    )
    async def gate_report(
        self, info: Info, workspace_id: strawberry.ID, since: datetime, mode: JudgingMode | None = None
    ) -> GateReport:
        context = info.context
        workspace = await context.workspace(workspace_id)
        of_mode = None if mode is None else mode.value
        found = await context.parts.gate.report(context.principal, workspace, since, of_mode)
        causes = [CauseCount(cause=DowngradeCause(one.cause), runs=one.runs) for one in found.causes]
        return to_schema(GateReport, found, causes=causes)

    @field(
        Action.READ,
        right=Sight.ORGANISATION,
        description="The decisions since then, taken again from their stored signals with the weights in force: of "
        "the caller's own runs, and for those who manage the workspace of all.",
    )
    async def gate_replay(self, info: Info, workspace_id: strawberry.ID, since: datetime) -> GateReplay:
        context = info.context
        workspace = await context.workspace(workspace_id)
        found = await context.parts.gate.replay(context.principal, workspace, since)
        differences = [_show_difference(one, workspace.workspace_id) for one in found.differences]
        return to_schema(GateReplay, found, differences=differences)


def _show_status(found: observe.GateStatus) -> GateStatus:
    thresholds = [Threshold(name=name, value=value) for name, value in sorted(found.thresholds.items())]
    return to_schema(GateStatus, found, thresholds=thresholds)


def _show_difference(one: replay.DecisionDifference, workspace_id: UUID) -> DecisionDifference:
    return to_schema(
        DecisionDifference,
        one,
        run_id=encode(NodeKind.RUN, workspace_id, one.run_id),
        plan_before=PlanType(one.plan_before),
        plan_after=PlanType(one.plan_after),
    )
