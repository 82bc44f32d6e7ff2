"""Fits the weights of `retrieval.graph.multi_hop` to questions whose gold passages are known.

The loss is −log of the share that gold passages have of P1 + Σ P1·P2 + Σ P1·P2·P3, averaged over a question's gold
passages, over the questions of a set, and over sets, so that no set counts for its size; a ridge pulls the weights
towards `PRIOR`. The gradient is exact; Adam (Kingma and Ba, 2015) follows it. Deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from eval.training.ranker_pool import Floats, TrainingQuestion, as_vector

from agentic_rag.retrieval.graph.multi_hop import TEMPERATURE, StepWeights, softmax
from agentic_rag_eval.metrics import ndcg_at, recall_at

STEPS = 150
RATE = 0.4
RIDGE = 0.001
"""On squared differences. A tenth of it gained 3 points on one dev set and lost 2 on another."""

PRIOR = StepWeights(
    forward=1.5, backward=-2.0, shared=2.0, same=0.5, link=9.0, unlinked=0.0, open_share=10.0, open_bm25=11.0,
    named=4.0, cosine=2.5, bm25=0.5, score=1.5, end=4.0, end_covered=4.0, end_score=0.0, end_unnamed=1.0,
)  # fmt: skip
"""Chosen by hand: links and what is still open count, similarity of the passage by itself hardly."""

_LEAST = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """Questions that are left out together, and what the set counts."""

    name: str
    questions: Sequence[TrainingQuestion]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class MeanFigures:
    """Means over a set's questions: documents, each counted once."""

    recall5: float
    recall10: float
    ndcg10: float


def fit(sets: Sequence[TrainingSet], progress: Callable[[int, int], None] | None = None) -> Floats:
    """(16,) the weights that make the loss smallest."""
    start = as_vector(PRIOR)
    weights = start.copy()
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        gradient = gradient_of(sets, weights) + 2 * RIDGE * (weights - start)
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient**2
        pace = RATE * (1 - (step - 1) / STEPS)
        weights = weights - pace * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + _LEAST)
        if progress is not None:
            progress(step, STEPS)
    return weights


def loss_of(sets: Sequence[TrainingSet], weights: Floats) -> float:
    """The loss without the ridge."""
    total = sum(one.weight for one in sets)
    return sum(one.weight / total * _mean([_loss(question, weights) for question in one.questions]) for one in sets)


def figures_of(questions: Sequence[TrainingQuestion], score: Callable[[TrainingQuestion], Floats]) -> MeanFigures:
    """How well a score ranks the documents of each question's pool."""
    found: list[tuple[float, float, float]] = []
    for one in questions:
        ranked = _documents(one, score(one))
        found.append(
            (recall_at(ranked, one.gold_ids, 5), recall_at(ranked, one.gold_ids, 10), ndcg_at(ranked, one.gold_ids, 10))
        )
    return MeanFigures(*(float(mean) for mean in np.mean(found, axis=0)))


def multi_hop_score(weights: Floats) -> Callable[[TrainingQuestion], Floats]:
    """The score that `retrieval.graph.multi_hop` ranks by."""
    return lambda one: one.score + TEMPERATURE * np.log1p(_mass(one, weights)[0] / np.maximum(one.chance, _LEAST**2))


def arms() -> Mapping[str, Callable[[TrainingQuestion], Floats]]:
    """What the bridge is compared with."""
    return {
        "dense": lambda one: one.dense,
        "lexical": lambda one: one.lexical,
        "fused": lambda one: one.score,
    }


def _documents(one: TrainingQuestion, score: Floats) -> list[str]:
    order = np.argsort(-np.round(score, 6), kind="stable")
    return list(dict.fromkeys(one.documents[row] for row in order))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _mass(one: TrainingQuestion, weights: Floats) -> tuple[Floats, Floats]:
    """(n,) Σ P1·P2 + Σ P1·P2·P3, and (n, 16) its gradient."""
    mass = np.zeros(len(one.score))
    gradient = np.zeros((len(mass), len(weights)))
    chances: list[Floats] = []
    means: list[Floats] = []
    for step in one.steps:
        chance = softmax(np.where(step.open_rows, step.features @ weights, -np.inf))
        mean = chance @ step.features
        chances.append(chance)
        means.append(mean)
        reach, slope = one.chance[step.start], np.zeros_like(weights)
        if step.parent is not None:
            before = one.steps[step.parent]
            reach = reach * chances[step.parent][step.row]
            slope = reach * (before.features[step.row] - means[step.parent])
        passages = chance[:-1]
        mass += reach * passages
        gradient += np.outer(passages, slope) + reach * passages[:, None] * (step.features[:-1] - mean)
    return mass, gradient


def _loss(one: TrainingQuestion, weights: Floats) -> float:
    gold = np.flatnonzero(one.gold)
    if not len(gold):
        return 0.0
    whole = one.chance + _mass(one, weights)[0]
    return float(np.log(whole.sum()) - np.log(np.maximum(whole[gold], _LEAST)).mean())


def gradient_of(sets: Sequence[TrainingSet], weights: Floats) -> Floats:
    """(16,) the slope of `loss_of`."""
    total = sum(one.weight for one in sets)
    gradient = np.zeros_like(weights)
    for one in sets:
        share = one.weight / total / max(1, len(one.questions))
        for question in one.questions:
            gold = np.flatnonzero(question.gold)
            if len(gold):
                mass, slope = _mass(question, weights)
                whole = question.chance + mass
                pulled = (slope[gold] / np.maximum(whole[gold], _LEAST)[:, None]).mean(axis=0)
                gradient += share * (slope.sum(axis=0) / whole.sum() - pulled)
    return gradient
