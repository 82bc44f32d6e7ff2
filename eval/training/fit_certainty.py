"""Fits the weights of `answering.evidence.certainty` on right and wrong answers.

Logistic regression: both halves of a set weigh the same, and so do sets. Right is an answer that holds a gold answer;
wrong is any other, those asked without their documents included. Sets without answers of both sorts tell nothing: small
ones, and those whose gold answers are no spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from eval.training.fit_support import Floats, SupportSet, sigmoid

from agentic_rag.answering.evidence.certainty import CERTAIN, CertaintySigns
from agentic_rag.kernel.errors import InvalidInput

RIDGE = 0.01
STEPS = 30
NAMES = tuple(field.name for field in fields(CertaintySigns))


@dataclass(frozen=True, slots=True)
class Established:
    """What a set's answers with certainty from `CERTAIN` on are worth; shares of them, or of all right answers."""

    auroc: float
    """The chance that a right answer is more certain than a wrong one, both asked with their documents."""
    lacking: float
    """Of those with their documents, the share without a gold answer."""
    right: float
    """The share of right answers from that line on."""
    removed: float
    """The share of answers without their documents from that line on."""


@dataclass(frozen=True, slots=True)
class TrainedCertainty:
    """Weights by sign, the offset, and each set judged by weights that never saw it (None for a single set)."""

    weights: dict[str, float]
    offset: float
    left_out: dict[str, Established | None]


def has_both_sorts(given: SupportSet) -> bool:
    """True for a set with right and with wrong answers."""
    return {one.right for one in given.asked if one.certainty} == {True, False}


def train_certainty(sets: Sequence[SupportSet], signs: Sequence[str] = NAMES) -> TrainedCertainty:
    """Fit the weights of these signs; the others count nothing. Errors: `InvalidInput` for a set without right or wrong
    answers.
    """
    weights = _fit(sets, signs)
    left_out = {
        one.name: judge_certainty(one, _fit([other for other in sets if other is not one], signs))
        if len(sets) > 1
        else None
        for one in sets
    }
    return TrainedCertainty(
        dict(zip(NAMES, weights[:-1].round(2).tolist(), strict=True)), round(-float(weights[-1]), 2), left_out
    )


def _rows(given: SupportSet) -> tuple[Floats, Floats]:
    """The signs of each answer that was weighed, with a 1 behind them, and whether it is right."""
    weighed = [one for one in given.asked if one.certainty]
    right = np.array([float(one.right) for one in weighed])
    if not has_both_sorts(given):
        raise InvalidInput(f"{given.name} needs right and wrong answers.", code="DATASET_INVALID")
    return np.array([(*one.certainty, 1.0) for one in weighed]), right


def _fit(sets: Sequence[SupportSet], signs: Sequence[str]) -> Floats:
    """Newton's method on the mean logistic loss."""
    counts = np.array([*(name in signs for name in NAMES), True])
    every, right, share = [], [], []
    for one in sets:
        rows, known = _rows(one)
        every.append(rows[:, counts])
        right.append(known)
        share.append(np.where(known == 1, 0.5 / known.sum(), 0.5 / (1 - known).sum()) / len(sets))
    rows, known, weight = np.concatenate(every), np.concatenate(right), np.concatenate(share)
    ridge = RIDGE * np.append(rows[:, :-1].var(axis=0), 0.0)
    found = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chance = sigmoid(rows @ found)
        slope = rows.T @ (weight * (chance - known)) + ridge * found
        bend = (rows * (weight * chance * (1 - chance))[:, None]).T @ rows + np.diag(ridge + 1e-9)
        found = found - np.linalg.solve(bend, slope)
    weights = np.zeros(len(NAMES) + 1)
    weights[counts] = found
    return weights


def judge_certainty(given: SupportSet, weights: Floats) -> Established:
    """What answers of a set are worth by these weights: one for each sign, and what is added to all."""
    rows, right = _rows(given)
    score = sigmoid(rows @ weights)
    held = np.array([one.answerable for one in given.asked if one.certainty])
    high, low = score[right == 1], score[(right == 0) & held]
    above = (high[:, None] > low[None]).mean() + 0.5 * (high[:, None] == low[None]).mean() if len(low) else 1.0
    sure = score >= CERTAIN
    return Established(
        auroc=float(above),
        lacking=float(1 - right[sure & held].mean()) if (sure & held).any() else 0.0,
        right=float(sure[right == 1].mean()),
        removed=float(sure[~held].mean()) if (~held).any() else 0.0,
    )
