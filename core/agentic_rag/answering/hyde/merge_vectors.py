"""Merges the vector of a hypothetical passage with the question's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

HYPOTHETICAL_SHARE = 0.5
"""The published method averages the passages' vectors with the question's: with one passage, half and half (Gao et al.
2022, section 3.2)."""

MIN_LENGTH = 1e-6
"""A mean shorter than this has no direction, so the question's own vector is used."""


def merge_vectors(question: NDArray[np.float32], passage: NDArray[np.float32]) -> NDArray[np.float32]:
    """The direction between two vectors of unit length, of unit length."""
    mean = (1 - HYPOTHETICAL_SHARE) * question.astype(np.float64) + HYPOTHETICAL_SHARE * passage.astype(np.float64)
    length = float(np.sqrt(mean @ mean))
    return question if length < MIN_LENGTH else (mean / length).astype(np.float32)
