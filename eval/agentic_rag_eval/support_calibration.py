"""Calibrates the abstention threshold of a workspace and measures its errors, with exact intervals of shares."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

FOLDS = 2


@dataclass(frozen=True, slots=True)
class AskedSupport:
    """The support of one question, and whether it should have been answered."""

    support: float
    answerable: bool
    signs: tuple[float, ...] = ()
    """Its features, in the order of `answering.evidence.answerability.AnswerabilityFeatures`."""
    abstained: bool = False
    """The question was not answered, at the lines in force."""
    certainty: tuple[float, ...] = ()
    """The signs of `answering.evidence.certainty.CertaintySigns`, in their order; none where that was not weighed."""
    right: bool = False
    """The answer holds a gold answer, and was asked with its documents."""
    kind: str = ""
    """The kind of question (`answering.shapes.kind_threshold.kind_name`)."""


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
    bound: float
    """See `finite_sample_bound`."""


def fewest_questions(error: float) -> int:
    """How many answerable questions a threshold for `error` needs at least (see `conformal_threshold`)."""
    return math.ceil(1 / error - 1 - 1e-9)


def calibrate(asked: Sequence[AskedSupport], error: float, least: float = 0.0) -> Calibration:
    """The threshold for a false abstention rate of at most `error` (see `conformal_threshold`); not below `least`."""
    answerable = [one.support for one in asked if one.answerable]
    others = [one.support for one in asked if not one.answerable]
    threshold = max(least, conformal_threshold(answerable, error))
    wrongly = 0
    for fold in range(FOLDS):
        without = [one for place, one in enumerate(answerable) if place % FOLDS != fold]
        line = max(least, conformal_threshold(without, error))
        wrongly += sum(one < line for one in answerable[fold::FOLDS])
    return Calibration(
        threshold=threshold,
        error=error,
        false_abstention=_rate(wrongly, len(answerable)),
        abstained=_rate(sum(one < threshold for one in others), len(others)),
        bound=finite_sample_bound(answerable, threshold),
    )


def calibrate_kinds(asked: Sequence[AskedSupport], error: float, least: float = 0.0) -> dict[str, Calibration]:
    """`calibrate` for each kind of question of which there are enough."""
    needed = fewest_questions(error)
    kinds = Counter(one.kind for one in asked if one.answerable)
    return {
        kind: calibrate([one for one in asked if one.kind == kind], error, least)
        for kind, count in sorted(kinds.items())
        if count >= needed
    }


def finite_sample_bound(supports: Sequence[float], threshold: float) -> float:
    """The probability with which a further question, exchangeable with these, lies below a threshold that was drawn
    from them, is at most (those below it + 1) / (their number + 1).
    """
    return (sum(one < threshold for one in supports) + 1) / (len(supports) + 1)


def _rate(hits: int, of: int) -> Rate | None:
    return None if not of else Rate(hits, of, *binomial_interval(hits, of))


def conformal_threshold(supports: Sequence[float], error: float) -> float:
    """The highest threshold at which a further answerable question, exchangeable with the given ones, is abstained on
    with a probability of at most `error`; 0 (never abstain) when there are too few.

    Conformal risk control (Angelopoulos, Bates, Fisch, Lei, Schuster, ICLR 2024) for the loss "support < threshold": of
    n supports at most ⌊error · (n + 1)⌋ − 1 may be below it.
    """
    if not 0.0 < error < 1.0:
        raise ValueError(f"error must lie between 0 and 1, not {error}")
    place = math.floor(error * (len(supports) + 1) + 1e-9)
    return sorted(supports)[place - 1] if place else 0.0


def binomial_interval(hits: int, of: int, confidence: float = 0.95) -> tuple[float, float]:
    """The exact two-sided interval of a share (Clopper, Pearson, Biometrika 1934): at each bound the probability of
    this many hits or more (or fewer) is (1 − confidence) / 2.
    """
    if not 0 <= hits <= of or of < 1:
        raise ValueError(f"{hits} of {of} is no share")
    tail = (1.0 - confidence) / 2
    low = 0.0 if hits == 0 else _root(lambda share: 1.0 - _at_most(hits - 1, of, share) - tail)
    high = 1.0 if hits == of else _root(lambda share: tail - _at_most(hits, of, share))
    return low, high


def chance_of_at_least(hits: int, of: int, share: float) -> float:
    """The probability of at least `hits` hits when each has probability `share`: the one-sided exact test."""
    return 1.0 - _at_most(hits - 1, of, share)


def _at_most(hits: int, of: int, share: float) -> float:
    if hits < 0:
        return 0.0
    if share in (0.0, 1.0):
        return float(share == 0.0 or hits >= of)
    logs = (
        math.lgamma(of + 1) - math.lgamma(k + 1) - math.lgamma(of - k + 1)
        + k * math.log(share) + (of - k) * math.log1p(-share)
        for k in range(hits + 1)
    )  # fmt: skip
    return min(1.0, math.fsum(math.exp(one) for one in logs))


def _root(rising: Callable[[float], float]) -> float:
    """The zero of a rising function of a share, to about 1e-12."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return (low + high) / 2
