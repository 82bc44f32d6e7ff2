"""Calibrates the abstention threshold of a workspace and measures its errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag_eval.calibration import binomial_interval, conformal_threshold

FOLDS = 2


@dataclass(frozen=True, slots=True)
class AskedSupport:
    """The support of one question, and whether it should have been answered."""

    support: float
    answerable: bool
    signs: tuple[float, ...] = ()
    """Its features, in the order of `answering.evidence.answerability.AnswerabilityFeatures`."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of questions with its exact 95 % interval."""

    hits: int
    of: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A threshold and its error rates on the questions. `false_abstention` is cross-validated: each half of the
    answerable questions is judged by a threshold from the other half.
    """

    threshold: float
    error: float
    false_abstention: Rate | None
    abstained: Rate | None
    """The share of abstentions on questions that require one; None without such questions."""


def calibrate(asked: Sequence[AskedSupport], error: float, easier: float = 1.0) -> Calibration:
    """The threshold for a false abstention rate of at most `error` (conformal, see `calibration`) on questions that are
    abstained on `easier` times as often as these.
    """
    answerable = [one.support for one in asked if one.answerable]
    others = [one.support for one in asked if not one.answerable]
    threshold = conformal_threshold(answerable, error / easier)
    wrongly = 0
    for fold in range(FOLDS):
        without = [one for place, one in enumerate(answerable) if place % FOLDS != fold]
        line = conformal_threshold(without, error / easier)
        wrongly += sum(one < line for one in answerable[fold::FOLDS])
    return Calibration(
        threshold=threshold,
        error=error,
        false_abstention=_rate(wrongly, len(answerable)),
        abstained=_rate(sum(one < threshold for one in others), len(others)),
    )


def _rate(hits: int, of: int) -> Rate | None:
    return None if not of else Rate(hits, of, *binomial_interval(hits, of))
