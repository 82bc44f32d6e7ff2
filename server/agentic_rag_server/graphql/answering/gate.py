"""The gate's decision in the schema."""

import enum

import strawberry

from agentic_rag.answering import gate_decision as decisions
from agentic_rag_server.graphql.http.fields import to_schema


@strawberry.enum(description="What the gate let the run do.")
class PlanType(enum.Enum):
    SKIP = "skip"
    RETRIEVE = "retrieve"
    SEARCH = "search"
    FULL_LOOP = "full_loop"


@strawberry.type(description="What the gate allows.")
class Directives:
    use_retrieval: bool
    use_search: bool
    use_crawl: bool
    search_seeds: list[str] = strawberry.field(description="What to search for; empty without `useSearch`.")
    crawl_seeds: list[str] = strawberry.field(description="Addresses to begin at; empty without `useCrawl`.")


@strawberry.type(description="One signal: value × weight = contribution.")
class FeatureContribution:
    name: str
    value: float
    weight: float
    contribution: float


DowngradeCause = strawberry.enum(decisions.DowngradeCause, description="What lowered a plan.")


@strawberry.type(
    description="A plan that one cause lowered; each cause is told by itself, and the run does the least of what they "
    "leave."
)
class Downgrade:
    before: str = strawberry.field(name="from")
    after: str = strawberry.field(name="to")
    reason: str
    cause: DowngradeCause  # type: ignore[valid-type]


@strawberry.type(description="A score at which the plan changes.")
class Threshold:
    name: str
    value: float


@strawberry.type(description="The gate's decision with its whole justification.")
class GateDecision:
    directives: Directives
    plan_type: PlanType
    score: float
    thresholds: list[Threshold]
    contributions: list[FeatureContribution]
    downgrades: list[Downgrade]
    weights_version: str
    mode: str


def show_gate(gate: decisions.GateDecision) -> GateDecision:
    """A decision of the gate, with its thresholds by name."""
    thresholds = [Threshold(name=name, value=value) for name, value in sorted(gate.thresholds.items())]
    return to_schema(GateDecision, gate, plan_type=PlanType(gate.plan_type), thresholds=thresholds)
