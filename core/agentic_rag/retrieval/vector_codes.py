"""Vectors in eight bits a component, with bounds: which of them can be among the nearest is known after a pass over a
fourth of the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Vectors = NDArray[np.floating[Any]]

_LARGEST = 127
_BLOCK = 4096
"""Vectors that are written in codes at a time: the arithmetic takes eight bytes a component meanwhile."""

_SLACK = 1e-9
"""Of the product of two lengths: more than two sums of up to a million terms in double precision can be wrong."""

_SINGLE_SLACK = 4e-6
"""Of the greatest bound: more than the few roundings to single precision behind a bound can be wrong, each by 6e-8 of
what it rounds.
"""

_WORTH_A_PASS = 512
"""Vectors from which a second pass over their codes may save time. An estimate from timings of its parts."""

_BY_ROW = ("codes", "scales", "lengths", "rests", "norms")
"""The arrays that have an entry for each vector."""


@dataclass(frozen=True, slots=True, eq=False)
class VectorCodes:
    """n vectors, each the mean, a whole multiple of its scale and a rest that is left out. Arrays are not to be written
    to.
    """

    mean: NDArray[np.float32]
    """(dimensions,) of the vectors for which it was made, or near it: what vectors share takes no bits of their
    codes. Any mean gives bounds that hold.
    """

    codes: NDArray[np.int8]
    """(n, dimensions) from −127 to 127."""
    scales: NDArray[np.float32]
    """(n,) what a code of 1 stands for."""
    lengths: NDArray[np.float32]
    """(n,) of the vector that the codes stand for, without the mean, rounded up."""
    rests: NDArray[np.float32]
    """(n,) the length of what they leave out, rounded up."""
    norms: Floats
    """(n,) the length of the vector itself, for its cosines: to work it out for the passages around a question takes as
    long as their products.
    """

    @classmethod
    def of(cls, vectors: Vectors, known: VectorCodes | None = None, rows: Rows | None = None) -> VectorCodes:
        """The codes of (n, dimensions) vectors. Where `rows` (n,) is not negative, that row of `known`, whose mean
        stays.
        """
        count = len(vectors)
        missing = np.arange(count)
        if known is None or rows is None:
            sums = vectors.sum(axis=0, dtype=np.float64)
            made = cls._empty((sums / max(count, 1)).astype(np.float32), count)
        else:
            made = cls._empty(known.mean, count)
            kept = rows >= 0
            missing = np.flatnonzero(~kept)
            for name in _BY_ROW:
                getattr(made, name)[kept] = getattr(known, name)[rows[kept]]
        for start in range(0, len(missing), _BLOCK):
            block = missing[start : start + _BLOCK]
            whole = vectors[block].astype(np.float64)
            made.norms[block] = np.linalg.norm(whole, axis=1)
            exact = whole - made.mean
            scales = (np.abs(exact).max(axis=1, initial=0.0) / _LARGEST).astype(np.float32)
            codes = _in_codes(exact, scales[:, None])
            told = codes * scales[:, None].astype(np.float64)
            made.codes[block], made.scales[block] = codes, scales
            made.lengths[block] = _rounded_up(np.linalg.norm(told, axis=1))
            made.rests[block] = _rounded_up(np.linalg.norm(exact - told, axis=1))
        return made

    @classmethod
    def _empty(cls, mean: NDArray[np.float32], count: int) -> VectorCodes:
        codes = np.empty((count, len(mean)), np.int8)
        scales, lengths, rests = (np.empty(count, np.float32) for _ in range(3))
        return cls(mean, codes, scales, lengths, rests, np.empty(count))

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return self.mean.nbytes + sum(getattr(self, name).nbytes for name in _BY_ROW)

    def contenders(self, query: Floats, limit: int, among: Rows) -> Rows:
        """Those of the rows whose vector may be one of the `limit` with the greatest inner products with `query`: all
        of these are in it.

        The first pass reads the codes of all vectors, the second, with a query of twice the precision, those that are
        left if they are many.
        """
        if len(among) <= limit:
            return among
        among = self._near(query, limit, among)
        if len(among) <= max(limit, _WORTH_A_PASS):
            return among
        return _reaching(*self.bounds(query, among, levels=2), limit, among)

    def _near(self, query: Floats, limit: int, among: Rows) -> Rows:
        """The rows whose `bounds` let them be among the `limit` nearest. In single precision, and without what all
        products share: a process reads and writes half as much for each of all vectors.
        """
        import numkong

        asked, scale, left = _next_level(query)
        if not scale:
            return among
        products = np.asarray(numkong.cdist(asked[None], self.codes, metric="dot", out_dtype="float32"))[0]
        products *= self.scales
        margin = self.rests * np.float32(float(np.linalg.norm(query)) / scale)
        margin += self.lengths * np.float32(float(np.linalg.norm(left)) / scale)
        if len(among) < len(products):
            products, margin = products[among], margin[among]
        least = products - margin
        most = np.add(products, margin, out=margin)
        slack = _SINGLE_SLACK * max(abs(float(least.min())), float(most.max()))
        return among[most >= np.float32(_nth_greatest(least, limit) - slack)]

    def bounds(self, query: Floats, rows: Rows | None = None, levels: int = 1) -> tuple[Floats, Floats]:
        """(n,) and (n,): the inner product of each vector, or of each of the rows, with `query` lies between them, and
        so does that product computed in double precision, in whatever order its terms are added.

        `levels`: of how many codes the query is the sum, each of what those before leave out.
        """
        # At the first scan: a process that holds no vectors does without 2 MB and 7 ms of its start.
        import numkong

        part = slice(None) if rows is None else rows
        codes = self.codes[part]
        products = np.zeros(len(codes))
        if not len(codes):
            return products, products
        left = query
        for _ in range(levels):
            asked, scale, left = _next_level(left)
            # Sums of whole numbers: the same on every processor.
            products += np.asarray(numkong.cdist(asked[None], codes, metric="dot"), np.float64)[0] * scale
        products *= self.scales[part]
        mean = self.mean.astype(np.float64)
        products += float(np.einsum("i,i->", mean, query))
        length, rest = float(np.linalg.norm(query)), float(np.linalg.norm(left))
        # In double precision: an array of single precision stays so beside a number, and rounds by more than the slack.
        margin = self.rests[part].astype(np.float64)
        margin *= length * (1 + _SLACK)
        margin += self.lengths[part].astype(np.float64) * (rest + _SLACK * length)
        margin += _SLACK * length * float(np.linalg.norm(mean))
        least = products - margin
        return least, np.add(products, margin, out=margin)


def _reaching(least: Floats, most: Floats, limit: int, rows: Rows) -> Rows:
    """The rows whose upper bound reaches the `limit`-th greatest of the lower bounds."""
    return rows[most >= _nth_greatest(least, limit)]


def _nth_greatest(numbers: Vectors, place: int) -> float:
    """The one of which `place` are as great or greater, itself included."""
    return float(np.partition(numbers, len(numbers) - place)[len(numbers) - place])


def _next_level(query: Floats) -> tuple[NDArray[np.int8], float, Floats]:
    """The codes of a query, what a code of 1 stands for, and what they leave out."""
    scale = np.float32(np.abs(query).max(initial=0.0) / _LARGEST)
    asked = _in_codes(query[None], scale)[0]
    return asked, float(scale), query - asked * float(scale)


def _in_codes(vectors: Floats, scales: NDArray[np.float32] | np.float32) -> NDArray[np.int8]:
    """The whole multiples of the scales nearest to the components; 0 of a null vector."""
    shares = np.divide(vectors, scales, out=np.zeros_like(vectors), where=np.asarray(scales) > 0)
    return np.clip(np.rint(shares), -_LARGEST, _LARGEST).astype(np.int8)


def _rounded_up(lengths: Floats) -> NDArray[np.float32]:
    """In single precision, none shorter."""
    return np.nextafter((lengths * (1 + _SLACK)).astype(np.float32), np.float32(np.inf))
