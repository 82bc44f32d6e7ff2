"""The number of occurrences of each term in a text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_COUNT = 65_535
"""Counts are stored in 16 bits; above this, BM25's saturation makes no difference."""


@dataclass(frozen=True, slots=True)
class TermCounts:
    """A chunk's postings: term hashes (little-endian uint64, ascending), their counts (uint16), and the chunk's length
    in terms.
    """

    hashes: bytes
    counts: bytes
    length: int


def count_terms(keys: NDArray[np.uint64], further: NDArray[np.uint64]) -> TermCounts:
    """A chunk's postings from the keys of its terms, in any order and with repeats. `further` are other forms of them:
    they are found too, and are not counted in the length.
    """
    length = len(keys)
    if not length:
        return TermCounts(b"", b"", 0)
    ordered = np.sort(np.concatenate((keys, further))) if len(further) else np.sort(keys)
    first = np.empty(len(ordered), np.bool_)
    first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    starts = first.nonzero()[0]
    counts = np.empty(len(starts), np.intp)
    counts[-1] = len(ordered) - starts[-1]
    np.subtract(starts[1:], starts[:-1], out=counts[:-1])
    np.minimum(counts, MAX_COUNT, out=counts)
    return TermCounts(ordered[starts].astype("<u8").tobytes(), counts.astype("<u2").tobytes(), length)
