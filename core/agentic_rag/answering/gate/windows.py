"""The outcomes of runs with one plan, in windows: what callers were worth of it, what it brought and what it cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.answering.feedback.feedback import Feedback, mean_precision, satisfaction_of, weight_of_all
from agentic_rag.answering.gate.report import nearest_rank
from agentic_rag.answering.gate.stored_decision import StoredDecision
from agentic_rag.answering.gate_decision import DowngradeCause

RUNS = 20
"""A window holds at least so many runs."""
RATED = 8.0
"""And feedback of this weight: with four of five callers content, fewer than one window in five would be bad by
chance (binomial), and two in a row one pair in thirty.
"""
MOST_RUNS = 200
"""A window with so many runs ends, rated or not."""
LEAST_SATISFACTION = 0.7
"""Of a window that is not bad. The requirement's own figure."""
LEAST_GAIN = 0.1
"""Of runs that looked outside, the least share that has to cite what they found there; set by hand."""
OUTSIDE_PLANS = ("search", "full_loop")
"""Plans that a run can do without."""
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class PlanWindow:
    """Runs with one plan that followed one another."""

    first: datetime
    last: datetime
    runs: int
    feedback: float
    """What was said of them, by weight."""
    satisfaction: float | None
    """The share of it that is good; None below `RATED`."""
    freshness_gain: float | None
    """The share of the runs that cite what they found outside; None for a plan that does not look there."""
    external_calls: float
    """Searches and pages of a run, on average."""
    cost_usd: float
    """Of calls of chat models with a known price, on average."""
    p95_seconds: float
    precision: float | None
    """precision@k, of runs whose useful passages somebody named."""

    @property
    def fault(self) -> DowngradeCause | None:
        """Why it is bad; None where it is not."""
        if self.satisfaction is not None and self.satisfaction < LEAST_SATISFACTION:
            return DowngradeCause.SATISFACTION
        if self.freshness_gain is not None and self.freshness_gain < LEAST_GAIN:
            return DowngradeCause.FRESHNESS
        return None


def rolling_windows(
    newest_first: Sequence[StoredDecision], said: Mapping[UUID, Sequence[Feedback]], most: int
) -> tuple[PlanWindow, ...]:
    """Full windows, the newest first; what is left over is in none."""
    found: list[PlanWindow] = []
    members: list[StoredDecision] = []
    weight = 0.0
    for one in newest_first:
        members.append(one)
        weight += weight_of_all(said.get(one.run_id, ()))
        if len(members) >= MOST_RUNS or (len(members) >= RUNS and weight >= RATED):
            found.append(_window(members, said))
            members, weight = [], 0.0
            if len(found) == most:
                break
    return tuple(found)


def _window(members: Sequence[StoredDecision], said: Mapping[UUID, Sequence[Feedback]]) -> PlanWindow:
    of = [one for member in members for one in said.get(member.run_id, ())]
    weight = weight_of_all(of)
    gains = [one.gained for one in members if one.plan_type in OUTSIDE_PLANS and one.gained is not None]
    return PlanWindow(
        first=members[-1].decided_at,
        last=members[0].decided_at,
        runs=len(members),
        feedback=round(weight, _DIGITS),
        satisfaction=satisfaction_of(of) if weight >= RATED else None,
        freshness_gain=_mean(map(float, gains)) if gains else None,
        external_calls=_mean(float(one.external_calls or 0) for one in members),
        cost_usd=_mean(one.cost_usd or 0.0 for one in members),
        p95_seconds=nearest_rank([one.seconds for one in members], 0.95),
        precision=mean_precision(of),
    )


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return round(math.fsum(listed) / len(listed), _DIGITS)
