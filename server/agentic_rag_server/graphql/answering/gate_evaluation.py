"""How runs turned out, plan by plan, and which plans the gate does without for a while."""

from datetime import datetime

import strawberry

from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.answering.gate import DowngradeCause, PlanType
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import field, to_schema


@strawberry.type(description="Runs with one plan that followed one another.")
class PlanWindow:
    first: datetime
    last: datetime
    runs: int
    feedback: float = strawberry.field(description="What was said of them; what callers only did counts less.")
    satisfaction: float | None = strawberry.field(
        description="The share of it that is good; null where too little was said."
    )
    freshness_gain: float | None = strawberry.field(
        description="The share of the runs that cite what they found outside; null for a plan that does not look."
    )
    external_calls: float = strawberry.field(description="Searches and pages of a run, on average.")
    cost_usd: float = strawberry.field(description="Of calls of chat models with a known price, on average.")
    p95_seconds: float
    precision: float | None = strawberry.field(description="precision@k, where callers named passages of use.")
    fault: DowngradeCause | None = strawberry.field(  # type: ignore[valid-type]
        description="Why the window is bad; null where it is not."
    )


@strawberry.type(description="The runs of one deploy with one plan.")
class DeployLatency:
    deploy: str = strawberry.field(description="`service.version` of OTEL_RESOURCE_ATTRIBUTES.")
    runs: int
    p95_seconds: float
    is_slow: bool


@strawberry.type(description="A plan that the gate does without, because its outcomes were bad.")
class Rollback:
    cause: DowngradeCause  # type: ignore[valid-type]
    reason: str
    began_at: datetime
    until: datetime = strawberry.field(description="When it is tried again; another deploy tries it at once.")
    deploy: str


@strawberry.type(description="How the runs with a plan turned out.")
class PlanEvaluation:
    plan: PlanType
    windows: list[PlanWindow] = strawberry.field(description="Full ones, the newest first.")
    deploys: list[DeployLatency] = strawberry.field(description="With enough runs, the newest first.")
    rollback: Rollback | None = strawberry.field(description="Null where the plan is taken.")
    is_on_trial: bool = strawberry.field(description="The plan has rested; what it is worth since then is not known.")


@strawberry.type(description="A signal of a decision.")
class Signal:
    name: str
    value: float


@strawberry.type(description="A decision of which it is known what a search was worth: a case to learn weights from.")
class GateCase:
    run_id: strawberry.ID
    at: datetime
    signals: list[Signal]
    answered: bool = strawberry.field(description="The documents alone answered.")
    answered_outside: bool = strawberry.field(description="They did, or a search did.")


@strawberry.type
class GateEvaluationQuery:
    @field(
        Action.EVALUATE,
        right=Sight.ORGANISATION,
        description="Decisions since then of which outcome and feedback tell what a search was worth, newest first: "
        "what `rag gate learn` learns from. No text of a question or a document.",
    )
    async def gate_cases(self, info: Info, workspace_id: strawberry.ID, since: datetime) -> list[GateCase]:
        context = info.context
        workspace = await context.workspace(workspace_id)
        found = await context.parts.gate.cases(workspace, since)
        return [
            to_schema(
                GateCase,
                one,
                run_id=encode(NodeKind.RUN, workspace.workspace_id, one.run_id),
                signals=[Signal(name=name, value=value) for name, value in one.signals.items()],
            )
            for one in found
        ]

    @field(
        Action.EVALUATE,
        right=Sight.ORGANISATION,
        description="How the runs of the last 30 days turned out, plan by plan, in rolling windows.",
    )
    async def gate_evaluation(self, info: Info, workspace_id: strawberry.ID) -> list[PlanEvaluation]:
        context = info.context
        found = await context.parts.gate.evaluation(await context.workspace(workspace_id))
        return [to_schema(PlanEvaluation, one, plan=PlanType(one.plan)) for one in found]
