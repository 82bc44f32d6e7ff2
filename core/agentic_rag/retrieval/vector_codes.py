"""Vectors in eight bits a component, with bounds: which of them can be among the nearest is known after a pass over a
fourth of the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_LARGEST = 127
_BLOCK = 4096
"""Vectors that are written in codes at a time: the arithmetic takes eight bytes a component meanwhile."""

_SLACK = 1e-9
"""Of the product of two lengths: more than sums of up to a million terms in double precision can be wrong."""


@dataclass(frozen=True, slots=True, eq=False)
class VectorCodes:
    """n vectors, each a whole multiple of its scale and a rest that is left out. Arrays are not to be written to."""

    codes: NDArray[np.int8]
    """(n, dimensions) from −127 to 127."""
    scales: NDArray[np.float32]
    """(n,) what a code of 1 stands for."""
    lengths: NDArray[np.float32]
    """(n,) of the vector that the codes stand for, rounded up."""
    rests: NDArray[np.float32]
    """(n,) the length of what they leave out, rounded up."""

    @classmethod
    def of(
        cls, vectors: NDArray[np.float32], known: VectorCodes | None = None, rows: Rows | None = None
    ) -> VectorCodes:
        """The codes of (n, dimensions) vectors. Where `rows` (n,) is not negative, that row of `known`."""
        count = len(vectors)
        made = cls(np.empty(vectors.shape, np.int8), *(np.empty(count, np.float32) for _ in range(3)))
        missing = np.arange(count)
        if known is not None and rows is not None:
            kept = rows >= 0
            missing = np.flatnonzero(~kept)
            for array in fields(cls):
                getattr(made, array.name)[kept] = getattr(known, array.name)[rows[kept]]
        for start in range(0, len(missing), _BLOCK):
            block = missing[start : start + _BLOCK]
            exact = vectors[block].astype(np.float64)
            scales = (np.abs(exact).max(axis=1, initial=0.0) / _LARGEST).astype(np.float32)
            codes = _in_codes(exact, scales[:, None])
            told = codes * scales[:, None].astype(np.float64)
            made.codes[block], made.scales[block] = codes, scales
            made.lengths[block] = _rounded_up(np.linalg.norm(told, axis=1))
            made.rests[block] = _rounded_up(np.linalg.norm(exact - told, axis=1))
        return made

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return sum(getattr(self, array.name).nbytes for array in fields(self))

    def bounds(self, query: Floats) -> tuple[Floats, Floats]:
        """(n,) and (n,): the inner product of each vector with `query` lies between them, and so does that product
        computed in double precision, in whatever order its terms are added.
        """
        # At the first scan: a process that holds no vectors does without 2 MB and 7 ms of its start.
        import numkong

        if not len(self.codes):
            return np.zeros(0), np.zeros(0)
        scale = np.float32(np.abs(query).max(initial=0.0) / _LARGEST)
        asked = _in_codes(query[None], scale)
        told = asked[0] * float(scale)
        # Sums of whole numbers: the same on every processor.
        sums = np.asarray(numkong.cdist(asked, self.codes, metric="dot"), np.float64)[0]
        products = sums * self.scales * float(scale)
        length, rest = float(np.linalg.norm(query)), float(np.linalg.norm(query - told))
        margin = self.rests * (length * (1 + _SLACK)) + self.lengths * (rest + _SLACK * length)
        return products - margin, products + margin


def _in_codes(vectors: Floats, scales: NDArray[np.float32] | np.float32) -> NDArray[np.int8]:
    """The whole multiples of the scales nearest to the components; 0 of a null vector."""
    shares = np.divide(vectors, scales, out=np.zeros_like(vectors), where=np.asarray(scales) > 0)
    return np.clip(np.rint(shares), -_LARGEST, _LARGEST).astype(np.int8)


def _rounded_up(lengths: Floats) -> NDArray[np.float32]:
    """In single precision, none shorter."""
    return np.nextafter((lengths * (1 + _SLACK)).astype(np.float32), np.float32(np.inf))
