"""The gate's decision in the schema."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import strawberry

from agentic_rag.answering import gate_decision as decisions


@strawberry.enum(description="What the gate let the run do.")
class PlanType(enum.Enum):
    """The four plans."""

    SKIP = "skip"
    RETRIEVE = "retrieve"
    SEARCH = "search"
    FULL_LOOP = "full_loop"


@strawberry.type(description="What the gate allows.")
class Directives:
    """Switches of the run."""

    use_retrieval: bool
    use_search: bool
    use_crawl: bool


@strawberry.type(description="One signal: value × weight = contribution.")
class FeatureContribution:
    """A part of the justification."""

    name: str
    value: float
    weight: float
    contribution: float


@strawberry.type(description="A directive that policy or budget took back.")
class Downgrade:
    """From what to what, and why."""

    before: str = strawberry.field(name="from")
    after: str = strawberry.field(name="to")
    reason: str


@strawberry.type(description="A score at which the plan changes.")
class Threshold:
    """A named threshold."""

    name: str
    value: float


@strawberry.type(description="The gate's decision with its whole justification.")
class GateDecision:
    """A decision as clients see it."""

    directives: Directives
    plan_type: PlanType
    score: float
    thresholds: list[Threshold]
    contributions: list[FeatureContribution]
    downgrades: list[Downgrade]
    weights_version: str
    mode: str


def show_gate(gate: decisions.GateDecision) -> GateDecision:
    """A decision of the domain as one of the schema."""
    switches = gate.directives
    return GateDecision(
        directives=Directives(
            use_retrieval=switches.use_retrieval, use_search=switches.use_search, use_crawl=switches.use_crawl
        ),
        plan_type=PlanType(gate.plan_type),
        score=gate.score,
        thresholds=[Threshold(name=name, value=value) for name, value in sorted(gate.thresholds.items())],
        contributions=show_contributions(gate.contributions),
        downgrades=[Downgrade(before=it.before, after=it.after, reason=it.reason) for it in gate.downgrades],
        weights_version=gate.weights_version,
        mode=gate.mode,
    )


def show_contributions(contributions: Sequence[decisions.FeatureContribution]) -> list[FeatureContribution]:
    """Signals with their weights."""
    return [
        FeatureContribution(name=it.name, value=it.value, weight=it.weight, contribution=it.contribution)
        for it in contributions
    ]
