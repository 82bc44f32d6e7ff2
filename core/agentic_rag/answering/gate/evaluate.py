"""Judges plans by the outcomes of their runs, and says which of them the gate does without for a while."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.answering.feedback.feedback import Feedback, by_run
from agentic_rag.answering.gate.report import nearest_rank
from agentic_rag.answering.gate.rollback import Rollback
from agentic_rag.answering.gate.stored_decision import StoredDecision
from agentic_rag.answering.gate.windows import (
    LEAST_GAIN,
    LEAST_SATISFACTION,
    OUTSIDE_PLANS,
    RUNS,
    PlanWindow,
    rolling_windows,
)
from agentic_rag.answering.gate_decision import PLAN_TYPES, DowngradeCause

IN_A_ROW = 2
"""Bad windows, or slow deploys, before a plan is done without; on trial one is enough."""
MOST_WINDOWS = 12
"""Of a plan that are told."""


@dataclass(frozen=True, slots=True)
class DeployLatency:
    """The runs of one deploy with one plan."""

    deploy: str
    runs: int
    p95_seconds: float
    is_slow: bool


@dataclass(frozen=True, slots=True)
class PlanEvaluation:
    """How the runs with a plan turned out."""

    plan: str
    windows: tuple[PlanWindow, ...]
    """Full ones, the newest first."""
    deploys: tuple[DeployLatency, ...]
    """With at least `RUNS` runs, the newest first."""
    rollback: Rollback | None
    """The last one, as long as it holds."""
    is_on_trial: bool
    """The plan has rested, and what its runs are worth since then is not known yet."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What outcomes are judged by beside themselves."""

    now: datetime
    deploy: str
    """The deploy in force."""
    slow_seconds: float
    """The p95 of a deploy that is slow."""
    rollbacks: Sequence[Rollback] = ()
    """Newest first."""


def evaluate_plans(
    decisions: Sequence[StoredDecision], feedback: Sequence[Feedback], standing: Standing
) -> tuple[PlanEvaluation, ...]:
    """Every plan that runs took, from the least to the most. `decisions`: newest first."""
    said = by_run(feedback)
    taken: dict[str, list[StoredDecision]] = defaultdict(list)
    for decision in decisions:
        taken[decision.plan_type].append(decision)
    named = sorted({*taken, *(one.plan for one in standing.rollbacks)}, key=PLAN_TYPES.index)
    return tuple(_evaluate(plan, taken[plan], said, standing) for plan in named)


def begun_rollbacks(evaluated: Sequence[PlanEvaluation], standing: Standing) -> tuple[Rollback, ...]:
    """Those that these outcomes ask for and that are not in force yet."""
    found = (_begin(one, standing) for one in evaluated if one.plan in OUTSIDE_PLANS and one.rollback is None)
    return tuple(one for one in found if one is not None)


def find_tried_again(evaluated: Sequence[PlanEvaluation], standing: Standing) -> tuple[Rollback, ...]:
    """The last rollback of each plan that is on trial."""
    plans = {one.plan for one in evaluated if one.is_on_trial}
    last = {one.plan: one for one in reversed(standing.rollbacks)}
    return tuple(one for plan, one in last.items() if plan in plans)


def find_slow_alone(newest_first: Sequence[StoredDecision], slow_seconds: float) -> str | None:
    """The deploy of runs of which none of another one is judged, where it is slow; else None."""
    deploys = _latencies(newest_first, slow_seconds)
    return deploys[0].deploy if len(deploys) == 1 and deploys[0].is_slow else None


def _evaluate(
    plan: str, taken: Sequence[StoredDecision], said: Mapping[UUID, Sequence[Feedback]], standing: Standing
) -> PlanEvaluation:
    last = next((one for one in standing.rollbacks if one.plan == plan), None)
    judged = [one for one in taken if last is None or last.is_followed_by(one.decided_at, one.deploy)]
    windows = rolling_windows(judged, said, MOST_WINDOWS)
    deploys = _latencies(judged, standing.slow_seconds)
    holds = last is not None and last.holds(standing.now, standing.deploy)
    return PlanEvaluation(
        plan=plan,
        windows=windows,
        deploys=deploys,
        rollback=last if holds else None,
        is_on_trial=last is not None and not holds and not windows,
    )


def _begin(one: PlanEvaluation, standing: Standing) -> Rollback | None:
    was_rolled_back = any(before.plan == one.plan for before in standing.rollbacks)
    windows, deploys = one.windows[:IN_A_ROW], one.deploys[:IN_A_ROW]
    enough = 1 if was_rolled_back and len(one.windows) < IN_A_ROW else IN_A_ROW
    cause = windows[0].fault if len(windows) >= enough and all(window.fault for window in windows) else None
    if cause is not None:
        return Rollback(one.plan, cause, _in_words(cause, windows[0]), standing.now, standing.deploy)
    enough = 1 if was_rolled_back and len(one.deploys) < IN_A_ROW else IN_A_ROW
    if len(deploys) >= enough and all(deploy.is_slow for deploy in deploys):
        told = ", ".join(f"{deploy.p95_seconds:.1f} s in {deploy.deploy}" for deploy in deploys)
        reason = f"95 % of its runs took up to {told}, more than {standing.slow_seconds:.1f} s"
        return Rollback(one.plan, DowngradeCause.LATENCY, reason, standing.now, standing.deploy)
    return None


def _in_words(cause: DowngradeCause, window: PlanWindow) -> str:
    if cause is DowngradeCause.SATISFACTION:
        found, least, what = window.satisfaction or 0.0, LEAST_SATISFACTION, "of the callers were content"
    else:
        found, least, what = window.freshness_gain or 0.0, LEAST_GAIN, "of its runs cited what they found"
    return f"{100 * found:.0f} % {what}, less than {100 * least:.0f} %"


def _latencies(newest_first: Sequence[StoredDecision], slow_seconds: float) -> tuple[DeployLatency, ...]:
    by_deploy: dict[str, list[float]] = {}
    for one in newest_first:
        by_deploy.setdefault(one.deploy, []).append(one.seconds)
    found = ((deploy, len(seconds), nearest_rank(seconds, 0.95)) for deploy, seconds in by_deploy.items())
    return tuple(DeployLatency(*one, is_slow=one[2] > slow_seconds) for one in found if one[1] >= RUNS)
