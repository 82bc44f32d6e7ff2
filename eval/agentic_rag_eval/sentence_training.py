"""Fits the weights of `answering.extraction.multi_hop` on questions of several hops with known answers.

A softmax over the sentences read for a question is to put its weight on those that hold a gold answer. Sets weigh the
same; a question counts where at least one sentence holds the answer and one does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from agentic_rag.answering.extraction.multi_hop import (
    SentenceFeatures,
    SentenceWeights,
    choose_sentences,
    rank_sentences,
)
from agentic_rag.kernel.errors import InvalidInput

RIDGE = 0.01
"""On the weights of signs divided by their spread."""
STEPS = 400

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """The sentences read for a question, and which of them hold a gold answer."""

    read: tuple[SentenceFeatures, ...]
    holds: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class SentenceSet:
    """The questions of one set."""

    name: str
    questions: tuple[ReadQuestion, ...]


@dataclass(frozen=True, slots=True)
class TrainedSentences:
    """Weights by sign (to 0.1), and by set how many questions counted and the share of them with a gold answer among
    the sentences chosen: by score alone, with the weights in force, fitted on all sets, fitted without that set (None
    for a single set).
    """

    weights: dict[str, float]
    questions: dict[str, int]
    by_score: dict[str, float]
    in_force: dict[str, float]
    fitted: dict[str, float]
    left_out: dict[str, float | None]


def train_sentences(sets: Sequence[SentenceSet], in_force: Sequence[float]) -> TrainedSentences:
    """Fit the weights. `in_force` are those of the code, in the order of `SentenceWeights`. Errors: `InvalidInput`
    for a set without a question that counts.
    """
    counted = [SentenceSet(one.name, tuple(asked for asked in one.questions if _counts(asked))) for one in sets]
    for one in counted:
        if not one.questions:
            raise InvalidInput(
                f"{one.name} has no question of several hops of which one sentence holds the answer and another does "
                "not: nothing can be learned from it.",
                code="DATASET_INVALID",
            )
    names = [field.name for field in fields(SentenceWeights)]
    weights = [round(value, 1) for value in _fit(counted)]
    alone = [1.0, *(0.0 for _ in names[1:])]
    left_out: dict[str, float | None] = {}
    for held in counted:
        others = [one for one in counted if one is not held]
        left_out[held.name] = share_with_gold(held, _fit(others)) if others else None
    return TrainedSentences(
        weights=dict(zip(names, weights, strict=True)),
        questions={one.name: len(one.questions) for one in counted},
        by_score={one.name: share_with_gold(one, alone) for one in counted},
        in_force={one.name: share_with_gold(one, in_force) for one in counted},
        fitted={one.name: share_with_gold(one, weights) for one in counted},
        left_out=left_out,
    )


def share_with_gold(given: SentenceSet, weights: Sequence[float]) -> float:
    """The share of questions with a gold answer among the sentences that the weights choose."""
    found = 0
    for asked in given.questions:
        holding = {
            (one.unit.passage, one.unit.start) for one, holds in zip(asked.read, asked.holds, strict=True) if holds
        }
        chosen = choose_sentences(rank_sentences(asked.read, weights))
        found += any((unit.passage, unit.start) in holding for unit in chosen)
    return found / len(given.questions)


def _counts(asked: ReadQuestion) -> bool:
    return any(asked.holds) and not all(asked.holds)


def _fit(sets: Sequence[SentenceSet]) -> list[float]:
    """Adam on the mean negative log-likelihood of the sentences with the answer."""
    rows = [[np.array([one.values for one in asked.read]) for asked in given.questions] for given in sets]
    spread = np.concatenate([signs for one in rows for signs in one]).std(axis=0) + 1e-9
    gold = [[np.array(asked.holds) for asked in given.questions] for given in sets]
    weights = np.zeros(len(spread))
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = 2 * RIDGE * weights
        for of_set, holding in zip(rows, gold, strict=True):
            for signs, holds in zip(of_set, holding, strict=True):
                slope += _slope(signs / spread, holds, weights) / len(of_set) / len(sets)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope**2
        weights -= 0.05 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    fitted: list[float] = (weights / spread).tolist()
    return fitted


def _slope(signs: Floats, holds: NDArray[np.bool_], weights: Floats) -> Floats:
    every = _softmax(signs @ weights)
    right = every * holds
    slope: Floats = (every - right / right.sum()) @ signs
    return slope


def _softmax(values: Floats) -> Floats:
    powers: Floats = np.exp(values - values.max())
    return powers / powers.sum()
