"""Vectors of a model in a space of more dimensions than it has: zeros behind them change no cosine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def padded(vectors: NDArray[np.float32], dimensions: int) -> NDArray[np.float32]:
    """The rows with zeros up to `dimensions`, which is at least what they have."""
    return np.pad(vectors, ((0, 0), (0, dimensions - vectors.shape[1])))
