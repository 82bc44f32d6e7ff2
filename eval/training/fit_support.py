"""Fits the weights of `answering.evidence.answerability` on questions asked with and without the documents that answer
them.

Logistic regression with an intercept for each set: sets differ in how high their supports stand, and a workspace has a
threshold of its own, so only differences within a set count. Both halves of a set weigh the same, and so do sets. A
sign never counts against its meaning, nor for nothing: where the questions say so, it gets `LEAST_WEIGHT`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from agentic_rag.answering.evidence.answerability import NEGATIVE_FEATURES, AnswerabilityFeatures
from agentic_rag.answering.evidence.threshold import DEFAULT_THRESHOLD
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_eval.support_calibration import AskedSupport

RIDGE = 0.005
"""On the weights of signs divided by their spread: keeps signs that say the same from sharing it wildly."""
STEPS = 400
LEAST_WEIGHT = 0.2
"""Of every sign. Passages of few questions lack the date or the word for what is asked, but an answer from such a
passage should count as weaker. More than 0.3 cost several points on questions of several hops.
"""
ERROR = 0.05
"""Share of the answerable questions below the line at which sets are compared."""
MOST_BY_DEFAULT = 0.1
"""Share of a set's answerable questions that the default threshold may abstain on: the offset is the highest with which
it does so on no set."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SupportSet:
    """The questions of one set: those with `answerable` were asked with their documents."""

    name: str
    asked: tuple[AskedSupport, ...]


@dataclass(frozen=True, slots=True)
class Separation:
    """How well weights tell a set's two halves apart: the chance that a question with its documents stands higher than
    one without, and the share of those without below a line that 5 % of the others are below.
    """

    auroc: float
    abstained: float


@dataclass(frozen=True, slots=True)
class ByDefault:
    """The shares of both halves that the default threshold abstains on, with the weights and offset fitted."""

    answerable: float
    others: float


@dataclass(frozen=True, slots=True)
class TrainedSupport:
    """Weights by sign (to 0.1, as the code has them), the offset, and what they do to each set: as in force, fitted on
    all sets, fitted without that set (None for a single set), and at the default threshold.
    """

    weights: dict[str, float]
    offset: float
    in_force: dict[str, Separation]
    fitted: dict[str, Separation]
    left_out: dict[str, Separation | None]
    by_default: dict[str, ByDefault]


def train_support(sets: Sequence[SupportSet], in_force: Sequence[float]) -> TrainedSupport:
    """Fit the weights. `in_force` are those of the code, in the order of `AnswerabilityFeatures`. Errors:
    `InvalidInput` for a set without questions of both kinds.
    """
    halves = {one.name: _halves(one) for one in sets}
    weights = _fit(list(halves.values())).round(1)
    offset = _offset([high @ weights for high, _ in halves.values()])
    left_out: dict[str, Separation | None] = {}
    for name, held in halves.items():
        others = [half for other, half in halves.items() if other != name]
        left_out[name] = separation(*held, _fit(others)) if others else None
    return TrainedSupport(
        weights=dict(zip([field.name for field in fields(AnswerabilityFeatures)], weights.tolist(), strict=True)),
        offset=offset,
        in_force={name: separation(*held, np.array(in_force)) for name, held in halves.items()},
        fitted={name: separation(*held, weights) for name, held in halves.items()},
        left_out=left_out,
        by_default={name: _by_default(*held, weights, offset) for name, held in halves.items()},
    )


def fit_weights(sets: Sequence[SupportSet]) -> Floats:
    """The weights that these sets give, in the order of `AnswerabilityFeatures`. Errors: as of `train_support`."""
    return _fit([_halves(one) for one in sets])


def separation(answerable: Floats, others: Floats, weights: Floats) -> Separation:
    """Of the scores that the weights give the rows of signs."""
    high, low = answerable @ weights, others @ weights
    above = (high[:, None] > low[None]).mean() + 0.5 * (high[:, None] == low[None]).mean()
    line = np.sort(high)[math.floor(ERROR * len(high))]
    return Separation(float(above), float((low < line).mean()))


def _offset(answerable: Sequence[Floats]) -> float:
    lowest = min(float(np.sort(scores)[math.floor(MOST_BY_DEFAULT * len(scores))]) for scores in answerable)
    return math.floor(10 * (lowest - _logit(DEFAULT_THRESHOLD))) / 10


def _by_default(high: Floats, low: Floats, weights: Floats, offset: float) -> ByDefault:
    line = offset + _logit(DEFAULT_THRESHOLD)
    return ByDefault(float((high @ weights < line).mean()), float((low @ weights < line).mean()))


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _halves(given: SupportSet) -> tuple[Floats, Floats]:
    rows = [np.array([one.signs for one in given.asked if one.answerable is kind]) for kind in (True, False)]
    if not all(len(half) for half in rows):
        raise InvalidInput(f"{given.name} needs questions with and without an answer.", code="DATASET_INVALID")
    return rows[0], rows[1]


def _fit(sets: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Adam on the mean logistic loss of the sets, each weight at least `LEAST_WEIGHT` on its sign's side of 0."""
    everything = np.concatenate([half for halves in sets for half in halves])
    centre, spread = everything.mean(axis=0), everything.std(axis=0) + 1e-9
    scaled = [((high - centre) / spread, (low - centre) / spread) for high, low in sets]
    side = np.array([-1.0 if field.name in NEGATIVE_FEATURES else 1.0 for field in fields(AnswerabilityFeatures)])
    weights = np.zeros(len(side) + len(sets))
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = _slope(scaled, weights)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope**2
        weights -= 0.05 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
        weights[: len(side)] = side * np.maximum(LEAST_WEIGHT * spread, side * weights[: len(side)])
    fitted: Floats = weights[: len(side)] / spread
    return fitted


def _slope(sets: Sequence[tuple[Floats, Floats]], weights: Floats) -> Floats:
    """Of the loss, by the weights and then by each set's intercept."""
    wide = len(weights) - len(sets)
    linear, intercepts = weights[:wide], weights[wide:]
    slope = np.zeros_like(weights)
    slope[:wide] = 2 * RIDGE * linear
    for place, (high, low) in enumerate(sets):
        missing = 1 - sigmoid(high @ linear + intercepts[place])
        wrong = sigmoid(low @ linear + intercepts[place])
        slope[:wide] += (wrong @ low / len(low) - missing @ high / len(high)) / 2 / len(sets)
        slope[wide + place] = (wrong.mean() - missing.mean()) / 2
    return slope


def sigmoid(values: Floats) -> Floats:
    """The logistic function of each value."""
    shares: Floats = 1.0 / (1.0 + np.exp(-values))
    return shares
