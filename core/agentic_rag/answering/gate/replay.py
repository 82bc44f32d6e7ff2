"""Decides stored decisions again, from their stored signals, with the weights in force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.answering.gate.decide import plan_for, sum_up, weigh
from agentic_rag.answering.gate.stored_decision import StoredDecision
from agentic_rag.answering.gate.weights import GateWeights


@dataclass(frozen=True, slots=True)
class DecisionDifference:
    """A decision that the weights in force take otherwise."""

    run_id: UUID
    decided_at: datetime
    weights_version: str
    """Of the stored decision."""
    score_before: float
    score_after: float
    plan_before: str
    """What the score asked for, before anything lowered it."""
    plan_after: str


@dataclass(frozen=True, slots=True)
class GateReplay:
    """What came of stored decisions."""

    weights_version: str
    runs: int
    """Decided again."""
    unreadable: int
    """Left out: stored with other signals than the weights in force have."""
    is_complete: bool
    """False where older decisions of the time asked for were left out."""
    differences: tuple[DecisionDifference, ...]
    """Another score or another plan, newest first."""


def replay_decisions(decisions: Sequence[StoredDecision], weights: GateWeights, *, is_complete: bool) -> GateReplay:
    """Each decision at the position of the knob that it was taken with."""
    signals = set(weights.weights)
    comparable = [one for one in decisions if {signal.name for signal in one.contributions} == signals]
    decided = (_decide_again(one, weights) for one in comparable)
    return GateReplay(
        weights_version=weights.version,
        runs=len(comparable),
        unreadable=len(decisions) - len(comparable),
        is_complete=is_complete,
        differences=tuple(one for one in decided if one is not None),
    )


def _decide_again(stored: StoredDecision, weights: GateWeights) -> DecisionDifference | None:
    score = sum_up(weigh({one.name: one.value for one in stored.contributions}, weights))
    plan = plan_for(score, weights.thresholds(stored.care))
    if (score, plan) == (stored.score, stored.planned):
        return None
    return DecisionDifference(
        run_id=stored.run_id,
        decided_at=stored.decided_at,
        weights_version=stored.weights_version,
        score_before=stored.score,
        score_after=score,
        plan_before=stored.planned,
        plan_after=plan,
    )
