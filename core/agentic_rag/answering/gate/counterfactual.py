"""What would have to be different for a decision to be another: per threshold, and per signal alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentic_rag.answering.gate_decision import FeatureContribution, GateDecision
from agentic_rag.retrieval.candidates import SCORE_DIGITS

_STEP = 10.0**-SCORE_DIGITS
_SLACK = 1e-6
"""Of a step: what binary fractions are off by."""
FIXED = frozenset({"base", "chit_chat", "calculation", "no_content", "corpus_empty"})
"""Signals that are the same in every decision, or decide whether documents are read at all."""
_DIGITS = 2
"""Of a value in words."""


@dataclass(frozen=True, slots=True)
class SignalChange:
    """The value from which one signal, alone, puts the score on the other side of a threshold."""

    name: str
    value: float
    needed: float
    is_least: bool
    """`needed` is the least such value; else the greatest."""


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A threshold of a decision, and the single signals that alone would cross it, the least change first."""

    plan: str
    threshold: float
    distance: float
    """Score less threshold; from 0 on the plan was asked for."""
    changes: tuple[SignalChange, ...]

    @property
    def explanation(self) -> str:
        """In words."""
        by = f"{abs(self.distance):.{_DIGITS}f}"
        reached = self.distance >= 0
        told = f"{self.plan} from {self.threshold:g}: " + (f"reached, by {by}" if reached else f"short by {by}")
        verb = "would not" if reached else "would"
        if not self.changes:
            return f"{told}; no signal alone changes it"
        return f"{told}; {verb} if {' or '.join(map(_in_words, self.changes))}"


def find_counterfactuals(decision: GateDecision) -> tuple[Counterfactual, ...]:
    """One for each threshold, the lowest first; none of a decision that was not judged after its answer."""
    if not decision.is_judged:
        return ()
    lines = sorted(decision.thresholds.items(), key=lambda line: line[1])
    return tuple(_cross(decision, plan, threshold) for plan, threshold in lines)


def _cross(decision: GateDecision, plan: str, threshold: float) -> Counterfactual:
    distance = round(decision.score - threshold, SCORE_DIGITS)
    found = (_change(one, distance) for one in decision.contributions)
    changes = sorted((one for one in found if one is not None), key=lambda one: (abs(one.needed - one.value), one.name))
    return Counterfactual(plan, threshold, distance, tuple(changes))


def _change(one: FeatureContribution, distance: float) -> SignalChange | None:
    """The value of a signal that moves the score by `-distance`, to the threshold, or one step below it."""
    if one.weight == 0 or one.name in FIXED:
        return None
    reached = distance >= 0
    contribution = one.contribution - distance - (_STEP if reached else 0.0)
    steps = contribution / one.weight / _STEP
    is_least = (one.weight > 0) is not reached
    needed = (math.ceil(steps - _SLACK) if is_least else math.floor(steps + _SLACK)) * _STEP
    needed = round(needed, SCORE_DIGITS)
    return SignalChange(one.name, one.value, needed, is_least) if 0 <= needed <= 1 else None


def _in_words(change: SignalChange) -> str:
    scale = 10**_DIGITS
    if change.is_least:
        return f"{change.name} were ≥ {math.ceil(change.needed * scale - _SLACK) / scale:g}"
    return f"{change.name} were ≤ {math.floor(change.needed * scale + _SLACK) / scale:g}"
