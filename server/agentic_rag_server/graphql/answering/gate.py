"""The gate's decision in the schema."""

import enum

import strawberry

from agentic_rag.answering import gate_decision as decisions
from agentic_rag.answering.gate import counterfactual
from agentic_rag.answering.gate.counterfactual import find_counterfactuals
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


@strawberry.enum(description="On which side of a value a signal has to lie.")
class Bound(enum.Enum):
    AT_LEAST = "at least"
    AT_MOST = "at most"


@strawberry.type(description="The value from which one signal, alone, changes a plan.")
class SignalChange:
    name: str
    value: float = strawberry.field(description="What it is.")
    needed: float
    bound: Bound


@strawberry.type(description="What would have to be different for a threshold to be crossed.")
class Counterfactual:
    plan: PlanType
    threshold: float
    distance: float = strawberry.field(description="Score less threshold; from 0 on the plan was asked for.")
    changes: list[SignalChange] = strawberry.field(
        description="Signals each of which alone would cross it, the least change first."
    )
    explanation: str = strawberry.field(description="The same in words.")


@strawberry.type(description="The gate's decision with its whole justification.")
class GateDecision:
    directives: Directives
    plan_type: PlanType
    planned: PlanType = strawberry.field(description="The plan before anything lowered it.")
    intent: str = strawberry.field(
        description="What the question is after; empty for a decision without such a signal."
    )
    score: float
    thresholds: list[Threshold]
    contributions: list[FeatureContribution]
    downgrades: list[Downgrade]
    weights_version: str
    mode: str
    source: strawberry.Private[decisions.GateDecision]

    @strawberry.field(description="One for each threshold; empty for a decision that was taken before the answer.")
    def counterfactuals(self) -> list[Counterfactual]:
        return [_counterfactual(one) for one in find_counterfactuals(self.source)]


def show_gate(gate: decisions.GateDecision) -> GateDecision:
    """A decision of the gate, with its thresholds by name."""
    thresholds = [Threshold(name=name, value=value) for name, value in sorted(gate.thresholds.items())]
    plans = {"plan_type": PlanType(gate.plan_type), "planned": PlanType(gate.planned)}
    return to_schema(GateDecision, gate, **plans, thresholds=thresholds, source=gate)


def _counterfactual(one: counterfactual.Counterfactual) -> Counterfactual:
    changes = [
        to_schema(SignalChange, change, bound=Bound.AT_LEAST if change.is_least else Bound.AT_MOST)
        for change in one.changes
    ]
    return to_schema(Counterfactual, one, plan=PlanType(one.plan), changes=changes)
