"""The scale of similarity thresholds, measured for one embedding space on questions with known answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from agentic_rag.kernel.errors import InvalidInput

ANCHORS = ((0.7, 0.95), (0.75, 0.90))
"""Each threshold of the scale, and the share of passages that answer which it keeps."""
EXPONENTS = (0.25, 16.0)
FEWEST, MOST = 20, 200
"""Questions: from fewer no twentieth can be told, and more keep a caller waiting."""


@dataclass(frozen=True, slots=True)
class MeasuredThreshold:
    """What a threshold keeps and lets through."""

    threshold: float
    cosine: float
    recall: float
    """The share of gold documents whose best passage passes."""
    precision: float | None
    """Of the questions that get a passage, the share whose first one is of a gold document; None: no question does."""


@dataclass(frozen=True, slots=True)
class SimilarityCalibration:
    """A measured scale: `similarity = cosine ** (1 / exponent)`."""

    exponent: float
    questions: int
    thresholds: tuple[MeasuredThreshold, ...]
    measured_at: datetime


@dataclass(frozen=True, slots=True)
class PublishedFigures:
    """What both thresholds keep and let through with an embedder, on the dev questions of CLAPnq, SciFact, HotpotQA,
    Cranfield, FiQA and PubMedQA (40 of each; means of the six sets). docs/context.md says how they were measured.
    """

    embedder: str
    recall: tuple[float, float]
    """At 0.7 and at 0.75."""
    precision: tuple[float, float]
    """At 0.7 and at 0.75, where as many questions are asked of foreign documents as of their own."""


@dataclass(frozen=True, slots=True)
class AskedSimilarity:
    """A question: the best cosine of each gold document, and the cosine of the first passage of all."""

    gold: tuple[float, ...]
    first: float
    is_first_gold: bool


PUBLISHED = (
    PublishedFigures("all-MiniLM-L6-v2", (0.94, 0.89), (0.77, 0.82)),
    PublishedFigures("bge-small-en-v1.5-int8", (0.96, 0.91), (0.74, 0.79)),
    PublishedFigures("e5-small-v2-fp32", (0.99, 0.94), (0.60, 0.71)),
    PublishedFigures("multilingual-e5-small-int8", (0.93, 0.86), (0.64, 0.77)),
    PublishedFigures("hashed spellings", (0.95, 0.88), (0.33, 0.33)),
)
"""By the names of models: every embedder that the product brings."""


def published_thresholds() -> str:
    """Recall and precision of both thresholds with each embedder, as a sentence for API schemas."""
    told = [
        f"{one.embedder} {one.recall[0]:.2f} and {one.precision[0]:.2f}, {one.recall[1]:.2f} and {one.precision[1]:.2f}"
        for one in PUBLISHED
    ]
    return f"Recall and precision of 0.7, then of 0.75, on six public sets: {'; '.join(told)}."


def calibrate_similarity(asked: Sequence[AskedSimilarity], measured_at: datetime) -> SimilarityCalibration:
    """The exponent under which the anchors keep their shares, on average of the two. Errors: `InvalidInput` code
    DATASET_INVALID for too few questions.
    """
    if len(asked) < FEWEST:
        raise InvalidInput(
            f"{len(asked)} questions have gold documents with vectors; at least {FEWEST} are needed.",
            code="DATASET_INVALID",
            path=("input", "questions"),
        )
    gold = sorted(cosine for one in asked for cosine in one.gold)
    exponents = [math.log(_quantile(gold, 1 - kept)) / math.log(threshold) for threshold, kept in ANCHORS]
    exponent = round(min(EXPONENTS[1], max(EXPONENTS[0], sum(exponents) / len(exponents))), 3)
    thresholds = tuple(_measure(asked, gold, threshold, exponent) for threshold, _ in ANCHORS)
    return SimilarityCalibration(exponent, len(asked), thresholds, measured_at)


def _measure(
    asked: Sequence[AskedSimilarity], gold: Sequence[float], threshold: float, exponent: float
) -> MeasuredThreshold:
    least = threshold**exponent
    served = [one for one in asked if one.first >= least]
    precision = sum(one.is_first_gold for one in served) / len(served) if served else None
    recall = sum(cosine >= least for cosine in gold) / len(gold)
    return MeasuredThreshold(
        threshold, round(least, 4), round(recall, 4), None if precision is None else round(precision, 4)
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which that share lies, of a positive cosine at least."""
    return max(1e-6, ordered[int(share * len(ordered))])
