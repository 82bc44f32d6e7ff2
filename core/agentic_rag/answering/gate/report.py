"""What stored decisions add up to: the base line against which a gate that looks outside is measured."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.answering.feedback.feedback import Feedback, FeedbackKind, by_run, mean_precision, satisfaction_of
from agentic_rag.answering.gate.stored_decision import StoredDecision
from agentic_rag.answering.gate_decision import PLAN_TYPES

_DIGITS = 6


@dataclass(frozen=True, slots=True)
class DecisionGroup:
    """Decisions with one plan, or of one intent."""

    name: str
    runs: int
    share: float
    """Of all runs."""
    p50_seconds: float
    p95_seconds: float
    hit_rate: float
    """The mean of the signal."""
    cost_usd: float
    """What the calls of chat models cost whose price is known."""
    unpriced_runs: int
    tokens: int
    """Of the calls of chat models, in and out, as far as they were kept."""
    ratings: int
    """How often somebody said whether a run helped."""
    satisfaction: float | None
    """The share of the ratings that are good; None without one."""
    precision: float | None
    """The mean share of the surfaced chunks that were of use (precision@k); None where nobody named any."""


@dataclass(frozen=True, slots=True)
class CauseCount:
    """How many decisions one cause lowered."""

    cause: str
    runs: int


@dataclass(frozen=True, slots=True)
class GateReport:
    """Decisions by the plan that their score asked for, by intent, and by what lowered them."""

    runs: int
    is_complete: bool
    """False where older decisions of the time asked for were left out."""
    total: DecisionGroup | None
    """None without a decision."""
    by_plan: tuple[DecisionGroup, ...]
    by_intent: tuple[DecisionGroup, ...]
    by_version: tuple[DecisionGroup, ...]
    """Of the weights."""
    by_mode: tuple[DecisionGroup, ...]
    """Runs of `shadow`, which only watched, beside those of `on`: the base line."""
    causes: tuple[CauseCount, ...]


def report_decisions(
    decisions: Sequence[StoredDecision], feedback: Sequence[Feedback] = (), *, is_complete: bool
) -> GateReport:
    """The report of these decisions, with what was said of their runs."""
    count = len(decisions)
    said = by_run(feedback)
    causes = Counter(one.cause.value for decision in decisions for one in decision.downgrades)
    by_plan = _groups(decisions, said, lambda one: one.planned)
    by_intent = _groups(decisions, said, lambda one: one.intent)
    by_version = _groups(decisions, said, lambda one: one.weights_version)
    by_mode = _groups(decisions, said, lambda one: one.mode)
    return GateReport(
        runs=count,
        is_complete=is_complete,
        total=_group("all", decisions, said, count) if count else None,
        by_plan=tuple(sorted(by_plan, key=lambda one: PLAN_TYPES.index(one.name))),
        by_intent=tuple(sorted(by_intent, key=lambda one: (-one.runs, one.name))),
        by_version=tuple(sorted(by_version, key=lambda one: (-one.runs, one.name))),
        by_mode=tuple(sorted(by_mode, key=lambda one: one.name, reverse=True)),
        causes=tuple(CauseCount(*one) for one in sorted(causes.items(), key=lambda one: (-one[1], one[0]))),
    )


def nearest_rank(values: Iterable[float], share: float) -> float:
    """The value that the share of all values does not exceed. `values`: at least one."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _groups(
    decisions: Sequence[StoredDecision],
    said: Mapping[UUID, Sequence[Feedback]],
    name_of: Callable[[StoredDecision], str],
) -> Iterable[DecisionGroup]:
    named: dict[str, list[StoredDecision]] = defaultdict(list)
    for one in decisions:
        named[name_of(one)].append(one)
    return [_group(name, members, said, len(decisions)) for name, members in named.items()]


def _group(
    name: str, members: Sequence[StoredDecision], said: Mapping[UUID, Sequence[Feedback]], total: int
) -> DecisionGroup:
    told = (one for member in members for one in said.get(member.run_id, ()))
    of = [one for one in told if one.kind is FeedbackKind.SAID]
    seconds = [one.seconds for one in members]
    hits = math.fsum(signal.value for one in members for signal in one.contributions if signal.name == "hit_rate")
    return DecisionGroup(
        name=name,
        runs=len(members),
        share=round(len(members) / total, _DIGITS),
        p50_seconds=nearest_rank(seconds, 0.5),
        p95_seconds=nearest_rank(seconds, 0.95),
        hit_rate=round(hits / len(members), _DIGITS),
        cost_usd=math.fsum(one.cost_usd or 0.0 for one in members),
        unpriced_runs=sum(one.cost_usd is None for one in members),
        tokens=sum(one.tokens or 0 for one in members),
        ratings=len(of),
        satisfaction=satisfaction_of(of),
        precision=mean_precision(of),
    )
