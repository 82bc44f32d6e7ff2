"""The stored form of vectors: rows of little-endian half precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def encode_half(vectors: NDArray[np.float32]) -> list[bytes]:
    """Each row of an (n, dimensions) array as little-endian half-precision bytes, as vectors are stored.

    Errors: `ValueError` when a component is not finite or exceeds half precision (65,504).
    """
    with np.errstate(over="ignore"):
        halves = np.asarray(vectors).astype("<f2")
    if not np.isfinite(halves).all():
        raise ValueError("a vector has a component that half precision cannot hold")
    return [row.tobytes() for row in halves]
