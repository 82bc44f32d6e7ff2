"""From signals to directives: a weighted sum, two thresholds, and what lowers the plan that they ask for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from agentic_rag.answering.gate.policy import WebPolicy
from agentic_rag.answering.gate.rollback import Rollback
from agentic_rag.answering.gate.signals import OutsideSigns, ProbeSigns, QuestionSigns, features_of
from agentic_rag.answering.gate.weights import IN_FORCE, GateWeights, WeightsTrial
from agentic_rag.answering.gate_decision import (
    PLAN_TYPES,
    Directives,
    Downgrade,
    DowngradeCause,
    FeatureContribution,
    GateDecision,
)
from agentic_rag.retrieval.candidates import SCORE_DIGITS
from agentic_rag.workspaces.web_profiles import GENERAL, WebProfile

MAX_SEEDS = 4
"""Searches, and addresses, that one run begins with."""

_SKIPPED = (
    ("calculation", DowngradeCause.CALCULATION, "this is a calculation"),
    ("chit_chat", DowngradeCause.CHIT_CHAT, "this asks for nothing that documents could answer"),
    ("no_content", DowngradeCause.NO_CONTENT, "this says nothing that could be looked for"),
    ("corpus_empty", DowngradeCause.CORPUS_EMPTY, "the workspace holds no documents"),
)
"""Why a run reads no documents, by the signal that says so, first come first."""

_POLICY = {
    "organisation": (DowngradeCause.ORGANISATION, "the organisation has not switched web access on"),
    "workspace": (DowngradeCause.WORKSPACE, "the workspace has not switched web access on"),
    "request": (DowngradeCause.REQUEST, "the request forbids the web"),
}


@dataclass(frozen=True, slots=True)
class GateRules:
    """What bounds the decision, whatever the signals say."""

    policy: WebPolicy = WebPolicy()
    budget_left: float = 1.0
    """As `OutsideSigns.budget_left`; 0 forbids to look outside."""
    profile: float = 0.0
    """As `OutsideSigns.profile`."""
    can_search: bool = False
    """A search engine is configured."""
    can_crawl: bool = False
    care: float = 0.5
    """The knob: 0 looks outside as seldom as it may, 1 as readily."""
    mode: str = "on"
    """off, shadow (says what it would do) or on."""
    is_past: bool = False
    """The question is asked of an earlier version, to which nothing can be added."""
    rollbacks: tuple[Rollback, ...] = ()
    """Plans that are done without for a while."""
    trial: WeightsTrial | None = None
    """Other weights for some of the workspaces."""
    wants: WebProfile = GENERAL
    """What the workspace's profile wants of the web."""
    not_before: date | None = None
    """The day from which on texts are as new as the profile wants."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """Where looking outside would begin."""

    searches: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()


def decide(
    question: QuestionSigns,
    probe: ProbeSigns | None,
    rules: GateRules,
    seeds: Seeds = Seeds(),
    weights: GateWeights = IN_FORCE,
) -> GateDecision:
    """The decision. Without a probe (before anything is read) it only tells whether to read the documents. Equal
    arguments give an equal decision.
    """
    around = OutsideSigns(rules.policy.level, rules.budget_left, rules.profile)
    contributions = weigh(features_of(question, probe, around), weights)
    score = sum_up(contributions)
    thresholds = weights.thresholds(rules.care)
    wanted = "retrieve" if probe is None or rules.mode == "off" else plan_for(score, thresholds)
    skipped = _skip(question)
    lowered = () if wanted == "retrieve" else lower(wanted, rules)
    plan = min((one.after for one in lowered), key=PLAN_TYPES.index, default=wanted)
    may_read = not skipped
    if skipped and plan == "retrieve":
        plan = "skip"
    return GateDecision(
        directives=_direct(plan, seeds, may_read=may_read),
        plan_type=plan,
        score=score,
        thresholds=thresholds,
        contributions=contributions,
        downgrades=(*lowered, *skipped),
        weights_version=weights.version,
        mode=rules.mode,
        care=rules.care,
    )


def weigh(signals: Mapping[str, float], weights: GateWeights) -> tuple[FeatureContribution, ...]:
    """Each signal with its weight and their product."""
    return tuple(
        FeatureContribution(name, value, weights.weights[name], round(value * weights.weights[name], SCORE_DIGITS))
        for name, value in signals.items()
    )


def sum_up(contributions: Iterable[FeatureContribution]) -> float:
    """The score that contributions add up to."""
    return round(math.fsum(one.contribution for one in contributions), SCORE_DIGITS)


def plan_for(score: float, thresholds: Mapping[str, float]) -> str:
    """The plan that a score asks for."""
    reached = (name for name, line in thresholds.items() if score >= line)
    return max(reached, key=PLAN_TYPES.index, default="retrieve")


def _skip(question: QuestionSigns) -> tuple[Downgrade, ...]:
    """Why no document is read: the first signal that says so."""
    for name, cause, reason in _SKIPPED:
        if getattr(question, name) > 0:
            return (Downgrade("retrieve", "skip", reason, cause),)
    return ()


def lower(wanted: str, rules: GateRules) -> tuple[Downgrade, ...]:
    """What lowers a plan that looks outside, each cause by itself."""
    return tuple(_causes(wanted, rules))


def _causes(wanted: str, rules: GateRules) -> Iterator[Downgrade]:
    if (level := rules.policy.refused_by) is not None:
        cause, reason = _POLICY[level]
        yield Downgrade(wanted, "retrieve", reason, cause)
    if rules.budget_left <= 0.0:
        yield Downgrade(wanted, "retrieve", "the budget for looking outside is spent", DowngradeCause.BUDGET)
    if not rules.can_search:
        yield Downgrade(wanted, "retrieve", "no search engine is configured", DowngradeCause.NO_SEARCH)
    if rules.is_past:
        yield Downgrade(wanted, "retrieve", "the question is asked of an earlier version", DowngradeCause.AS_OF)
    if rules.mode == "shadow":
        yield Downgrade(wanted, "retrieve", "the gate only watches (mode shadow)", DowngradeCause.MODE)
    would = "search" if wanted == "full_loop" and not rules.can_crawl else wanted
    for one in rules.rollbacks:
        if one.plan == would:
            reason = f"{would} rests until {one.until:%Y-%m-%d %H:%M} UTC: {one.reason}"
            yield Downgrade(wanted, "retrieve", reason, one.cause)
    if wanted == "full_loop" and not rules.can_crawl:
        yield Downgrade(wanted, "search", "no crawler is configured", DowngradeCause.NO_CRAWLER)


def _direct(plan: str, seeds: Seeds, *, may_read: bool) -> Directives:
    searches, crawls = plan in ("search", "full_loop"), plan == "full_loop"
    return Directives(
        use_retrieval=may_read,
        use_search=searches,
        use_crawl=crawls,
        search_seeds=seeds.searches[:MAX_SEEDS] if searches else (),
        crawl_seeds=seeds.addresses[:MAX_SEEDS] if crawls else (),
    )
