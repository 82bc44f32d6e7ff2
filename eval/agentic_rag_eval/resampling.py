"""Uncertainty of figures over questions: percentile bootstrap intervals and paired comparisons (Efron and Tibshirani,
"An Introduction to the Bootstrap", 1993; for retrieval: Sakai, "Evaluating evaluation metrics based on the bootstrap",
2006). Seeded: the same figures give the same intervals. numpy is imported with the first figure, since the command line
imports this module for every command.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAMPLES = 10_000
CONFIDENCE = 0.95
_SEED = 20_061


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over questions with its 95 % interval."""

    mean: float
    low: float
    high: float
    questions: int


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean of (second − first) over the same questions, with its 95 % interval and two-sided p-value."""

    difference: Interval
    p_value: float
    wins: int
    losses: int

    @property
    def is_gain(self) -> bool:
        """The whole interval lies above 0."""
        return self.difference.low > 0

    @property
    def is_loss(self) -> bool:
        """The whole interval lies below 0."""
        return self.difference.high < 0


def format_change(one: Interval) -> str:
    """A mean difference with its interval, in points of a hundred."""
    return f"{100 * one.mean:+.1f} [{100 * one.low:+.1f}, {100 * one.high:+.1f}]"


def interval_of(values: Sequence[float], samples: int = SAMPLES) -> Interval | None:
    """The mean of at least one value with its interval; None without values."""
    import numpy as np

    if not values:
        return None
    means = _bootstrap_means(np.asarray(values, np.float64), samples)
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(np.mean(values)), float(low), float(high), len(values))


def compare_pairs(first: Sequence[float], second: Sequence[float], samples: int = SAMPLES) -> PairedDifference | None:
    """Compare two systems on the same questions, in the same order; None without questions.

    The p-value is the share of resampled means, of differences shifted to mean 0, at least as far from 0 as the
    observed one. It is never 0, since only `samples` are drawn. Errors: `ValueError` for different lengths.
    """
    import numpy as np

    differences = np.asarray(second, np.float64) - np.asarray(first, np.float64) if len(first) == len(second) else None
    if differences is None:
        raise ValueError("two systems are compared on the same questions")
    interval = interval_of(differences.tolist(), samples)
    if interval is None:
        return None
    null = _bootstrap_means(differences - differences.mean(), samples)
    extreme = int((np.abs(null) >= abs(differences.mean()) - 1e-12).sum())
    return PairedDifference(
        interval,
        (extreme + 1) / (samples + 1),
        wins=int((differences > 0).sum()),
        losses=int((differences < 0).sum()),
    )


def _bootstrap_means(values: NDArray[np.float64], samples: int) -> NDArray[np.float64]:
    """Means of samples drawn with replacement, in blocks, since a large dataset would take gigabytes at once."""
    import numpy as np

    random = np.random.default_rng(_SEED)
    block = max(1, 2_000_000 // len(values))
    parts = [
        values[random.integers(0, len(values), (min(block, samples - start), len(values)))].mean(axis=1)
        for start in range(0, samples, block)
    ]
    return np.concatenate(parts)
