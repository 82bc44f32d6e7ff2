"""Learns weights and thresholds of the gate from labelled cases, and says whether they may replace those in force.

Logistic regression on the signals of the probe: whether a search is needed. Every set weighs the same, and so do the
kinds of cases within their shares. Cases with an instant are split by time, others by set: nothing is judged by
weights that saw it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from agentic_rag.answering.gate.signals import ProbeSigns
from agentic_rag.answering.gate.weights import GateWeights
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_eval.gate_cases import GateCase, GateScore, digest_of, judge_gate, score_of, searches_by, shares_of

LEARNED = (*(one.name for one in fields(ProbeSigns)), "intent_fresh_news")
"""Signals of the probe speak for the documents, so none gets a weight above 0; a question for news speaks for the web,
if `freshness` leaves it anything to say. Other signals of the question keep their weight: sets differ in how they ask,
and a weight for that would tell sets apart.
"""
SPEAK_FOR_THE_WEB = frozenset({"intent_fresh_news"})
RIDGE = 0.003
"""On the weights of signals divided by their spread."""
STEPS = 40
LEAST_ANSWERED = 0.99
"""Of what always searching answers: the threshold is the highest that keeps so much of the cases learned from. Sets
that were left out lost up to a point more.
"""
LEAST_GAIN = 0.03
"""Of F1 on cases that were held out."""
BINS = 10
NEWEST = 0.25
"""The share of cases with an instant that is held out."""
DIGITS = 6

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Cases for which a like chance was told."""

    share: float
    told: float
    """The mean chance that a search is needed."""
    found: float
    """How many needed one."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What weights are worth on cases that they never saw."""

    score: GateScore
    brier: float
    """The mean squared distance of the chance told from what was found (1 or 0): falls with calibration and with what
    chances tell; `calibration_error` alone is least for one chance that is told of every case.
    """
    calibration_error: float
    """How far the mean chances of `bins` are from what was found there (ECE). Shown, not judged."""
    bins: tuple[ReliabilityBin, ...]


@dataclass(frozen=True, slots=True)
class Promotion:
    """Whether weights may replace those in force."""

    is_promoted: bool
    reason: str


@dataclass(frozen=True, slots=True)
class LearnedGate:
    """Weights with what they are worth, beside those in force on the same held out cases."""

    weights: GateWeights
    left_out: Mapping[str, GateWeights]
    """By set: fitted without its family. Empty where cases were split by time."""
    data_hash: str
    cases: int
    split: str
    """By time or by set."""
    learned: HeldOut
    in_force: HeldOut
    promotion: Promotion


@dataclass(frozen=True, slots=True)
class _Fold:
    names: frozenset[str]
    known: tuple[GateCase, ...]
    held: tuple[GateCase, ...]


def learn_gate(
    cases: Sequence[GateCase], in_force: GateWeights, left_out: Mapping[str, GateWeights] = MappingProxyType({})
) -> LearnedGate:
    """Fit, and judge on what was held out. `left_out` are the weights in force as they were fitted without each set, by
    which those in force are judged: they may have been learned from these very sets. Errors: `InvalidInput` for cases
    that leave nothing to hold out, of which none or all need a search, or that have other signals than the weights.
    """
    _check_signals(cases, in_force)
    by_time = all(one.at is not None for one in cases)
    folds = [_newest_held(cases)] if by_time else _families_held(cases)
    data_hash = digest_of(cases)
    version = f"gate-learned-{data_hash[:8]}"
    fitted = [fit_weights(fold.known, in_force, version) for fold in folds]
    learned = _judge(folds, fitted)
    before = _judge(folds, [_unseen(fold, left_out, in_force) for fold in folds])
    fitted_without = {name: weights for fold, weights in zip(folds, fitted, strict=True) for name in fold.names}
    return LearnedGate(
        weights=fitted[0] if by_time else fit_weights(cases, in_force, version),
        left_out=MappingProxyType({} if by_time else fitted_without),
        data_hash=data_hash,
        cases=len(cases),
        split="time" if by_time else "set",
        learned=learned,
        in_force=before,
        promotion=judge_promotion(learned, before),
    )


def _unseen(fold: _Fold, left_out: Mapping[str, GateWeights], in_force: GateWeights) -> GateWeights:
    return next((left_out[name] for name in sorted(fold.names) if name in left_out), in_force)


def _check_signals(cases: Sequence[GateCase], weights: GateWeights) -> None:
    """A run that ended before it was judged has none of the probe's signals."""
    wrong = next((one for one in cases if one.signals.keys() != weights.weights.keys()), None)
    if wrong is not None:
        differing = ", ".join(sorted(wrong.signals.keys() ^ weights.weights.keys()))
        raise InvalidInput(
            f"The case {wrong.case_id} of {wrong.set_name} lacks signals of {weights.version}, or has others: "
            f"{differing}.",
            code="DATASET_INVALID",
        )


def compare_weights(cases: Sequence[GateCase], candidate: GateWeights, in_force: GateWeights) -> Promotion:
    """Whether weights from elsewhere, which saw none of the cases, may replace those in force."""
    folds = _families_held(cases)
    return judge_promotion(_judge(folds, [candidate] * len(folds)), _judge(folds, [in_force] * len(folds)))


def judge_promotion(learned: HeldOut, in_force: HeldOut) -> Promotion:
    """By F1 and by calibration on the same held out cases."""
    gain = learned.score.f1 - in_force.score.f1
    told = (
        f"F1 {100 * in_force.score.f1:.1f} → {100 * learned.score.f1:.1f} ({100 * gain:+.1f}), "
        f"Brier score {in_force.brier:.3f} → {learned.brier:.3f}"
    )
    if round(gain, DIGITS) < LEAST_GAIN:
        return Promotion(is_promoted=False, reason=f"refused: less than {100 * LEAST_GAIN:g} points more: {told}")
    if round(learned.brier - in_force.brier, DIGITS) > 0:
        return Promotion(is_promoted=False, reason=f"refused: worse calibrated: {told}")
    return Promotion(is_promoted=True, reason=f"promoted: {told}")


def family_of(set_name: str) -> str:
    """Sets of one origin, such as `hotpotqa` and `hotpotqa-dev100`, are held out together."""
    return set_name.partition("-")[0]


def fit_weights(cases: Sequence[GateCase], in_force: GateWeights, version: str) -> GateWeights:
    """Weights of the probe's signals that tell which cases need a search, on the scale of those in force. `base` moves
    so that the thresholds stay.
    """
    names = list(LEARNED)
    while True:
        slopes = _logistic(np.array([[one.signals[name] for name in names] for one in cases]), cases)[:-1]
        wrong = [
            name
            for name, slope in zip(names, slopes, strict=True)
            if slope and (slope > 0) != (name in SPEAK_FOR_THE_WEB)
        ]
        if not wrong:
            break
        names = [name for name in names if name not in wrong]
    found = dict(zip(names, slopes.tolist(), strict=True))
    size = sum(abs(in_force.weights[name]) for name in LEARNED) / max(1e-9, sum(map(abs, found.values())))
    learned = {name: round(size * found.get(name, 0.0), DIGITS) for name in LEARNED}
    weights = replace(in_force, version=version, weights=MappingProxyType({**in_force.weights, **learned}))
    base = round(weights.weights["base"] + weights.search - _threshold(cases, weights), DIGITS)
    return replace(weights, weights=MappingProxyType({**weights.weights, "base": base}))


def _threshold(cases: Sequence[GateCase], weights: GateWeights) -> float:
    """The highest score with `LEAST_ANSWERED` of the answered questions at or above it, or in the documents."""
    shares = np.array(shares_of(cases))
    scores = np.array([score_of(one, weights) for one in cases])
    whole = sum(share for share, one in zip(shares, cases, strict=True) if one.answered_outside)
    kept = sum(share for share, one in zip(shares, cases, strict=True) if one.answered)
    gains = np.array([one.answered_outside - one.answered for one in cases]) * shares
    for score in sorted(set(scores.tolist()), reverse=True):
        if kept + gains[scores >= score].sum() >= LEAST_ANSWERED * whole - 1e-12:
            return round(score, DIGITS)
    return round(float(scores.min()), DIGITS)


def _logistic(signals: Floats, cases: Sequence[GateCase]) -> Floats:
    """Slopes and intercept by Newton's method. Errors: `InvalidInput` where there is nothing to tell apart."""
    needed = np.array([float(one.needs_search) for one in cases])
    if not 0 < needed.sum() < len(needed):
        raise InvalidInput("Cases that need a search and cases that need none are wanted.", code="DATASET_INVALID")
    weight = np.array(shares_of(cases))
    spread = signals.std(axis=0)
    spread[spread == 0] = 1.0
    rows = np.hstack([signals / spread, np.ones((len(cases), 1))])
    ridge = np.append(np.full(signals.shape[1], RIDGE), 1e-9)
    found = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chance = _chance(rows @ found)
        slope = rows.T @ (weight * (chance - needed)) + ridge * found
        bend = (rows * (weight * chance * (1 - chance))[:, None]).T @ rows + np.diag(ridge)
        found = found - np.linalg.solve(bend, slope)
    return np.append(found[:-1] / spread, found[-1])


def _chance(logits: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(-np.clip(logits, -30, 30)))


def _newest_held(cases: Sequence[GateCase]) -> _Fold:
    ordered = sorted(cases, key=lambda one: (one.at or "", one.case_id))
    line = math.floor(len(ordered) * (1 - NEWEST))
    if not 0 < line < len(ordered):
        raise InvalidInput(f"{len(cases)} cases are too few to hold the newest out.", code="DATASET_INVALID")
    return _Fold(frozenset(), tuple(ordered[:line]), tuple(ordered[line:]))


def _families_held(cases: Sequence[GateCase]) -> list[_Fold]:
    families = dict.fromkeys(family_of(one.set_name) for one in cases)
    if len(families) < 2:
        raise InvalidInput("Cases of one set alone leave none to hold out.", code="DATASET_INVALID")
    parts: list[tuple[list[GateCase], list[GateCase]]] = []
    for family in families:
        held = [one for one in cases if family_of(one.set_name) == family]
        parts.append(([one for one in cases if family_of(one.set_name) != family], held))
    return [_Fold(frozenset(one.set_name for one in held), tuple(known), tuple(held)) for known, held in parts]


def _judge(folds: Sequence[_Fold], fitted: Sequence[GateWeights]) -> HeldOut:
    """All held out cases together, each by the weights and the scale of its fold."""
    searched: dict[tuple[str, str], bool] = {}
    chances: dict[tuple[str, str], float] = {}
    for fold, weights in zip(folds, fitted, strict=True):
        searches, tell = searches_by(weights), _chance_by(fold.known, weights)
        for one in fold.held:
            key = one.set_name, one.case_id
            searched[key], chances[key] = searches(one), tell(one)
    held = [one for fold in folds for one in fold.held]
    told = [chances[one.set_name, one.case_id] for one in held]
    bins = _bins(held, told)
    return HeldOut(
        judge_gate(held, lambda one: searched[one.set_name, one.case_id]),
        sum(
            share * (chance - one.needs_search) ** 2
            for share, chance, one in zip(shares_of(held), told, held, strict=True)
        ),
        sum(one.share * abs(one.told - one.found) for one in bins),
        bins,
    )


def _chance_by(known: Sequence[GateCase], weights: GateWeights) -> Callable[[GateCase], float]:
    """What a score says of the chance that a search is needed, learned from the same cases as the weights."""
    slope, offset = _logistic(np.array([[score_of(one, weights)] for one in known]), known)
    return lambda case: float(_chance(np.array([slope * score_of(case, weights) + offset]))[0])


def _bins(cases: Sequence[GateCase], chances: Sequence[float]) -> tuple[ReliabilityBin, ...]:
    members: dict[int, list[tuple[float, float, bool]]] = {}
    for one, share, chance in zip(cases, shares_of(cases), chances, strict=True):
        members.setdefault(min(BINS - 1, int(chance * BINS)), []).append((share, chance, one.needs_search))
    return tuple(_bin(members[place]) for place in sorted(members))


def _bin(members: Sequence[tuple[float, float, bool]]) -> ReliabilityBin:
    whole = sum(share for share, _, _ in members)
    told = sum(share * chance for share, chance, _ in members) / whole
    return ReliabilityBin(whole, told, sum(share * needed for share, _, needed in members) / whole)
