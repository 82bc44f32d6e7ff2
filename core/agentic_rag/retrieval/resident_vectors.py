"""The vectors of one workspace and embedding space as arrays in this process: what a scan of the table finds, without
the table.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from agentic_rag.retrieval.vector_codes import VectorCodes

Mask = NDArray[np.bool_]

_BLOCK = 1024
"""Contenders that are compared at a time: their copies take 10 bytes a component, however many there are."""

STILL_VISIBLE = 2**31 - 1
"""In the place of `visible_to` of a chunk that no version has closed."""


@dataclass(frozen=True, eq=False)
class ResidentVectors:
    """Every stored vector with the versions and the access set that show it, ascending by ordinal. Arrays are not to be
    written to.
    """

    ordinals: NDArray[np.int32]
    """(n,) ascending, no repeats."""
    access: NDArray[np.int32]
    """(n,)"""
    visible_from: NDArray[np.int32]
    """(n,)"""
    visible_to: NDArray[np.int32]
    """(n,) the version that closed the chunk, else `STILL_VISIBLE`."""
    vectors: NDArray[np.float16]
    """(n, dimensions) as they are stored."""
    codes: VectorCodes
    """Of the vectors, for the scan."""

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return sum(getattr(self, held.name).nbytes for held in fields(self))

    def visible(
        self,
        version: int,
        access_ids: Sequence[int] | None,
        among: Collection[int] | None = None,
        rows: NDArray[np.int64] | None = None,
    ) -> Mask:
        """(n,) which chunks a reader of `access_ids` (None: of all sets) sees at a version, if `among` is given only of
        these ordinals. With `rows` only these are looked at, in their order.
        """
        part = slice(None) if rows is None else rows
        shown = (self.visible_from[part] <= version) & (self.visible_to[part] > version)
        if access_ids is not None and len(access_ids) == 1:
            shown &= self.access[part] == access_ids[0]
        elif access_ids is not None:
            shown &= np.isin(self.access[part], np.array(access_ids, np.int32))
        if among is not None:
            shown &= np.isin(self.ordinals[part], np.fromiter(among, np.int32, len(among)))
        return shown

    def nearest(self, query: NDArray[np.float32], limit: int, shown: Mask) -> NDArray[np.int64]:
        """The rows of the `limit` greatest inner products with `query` rounded to half precision, as pgvector compares
        them; best first, ties by ordinal.

        The bounds of the codes choose the contenders, which hold all of the best. These are compared in double
        precision.
        """
        rounded = query.astype(np.float16).astype(np.float64)
        contenders = self.codes.contenders(rounded, limit, np.flatnonzero(shown))
        # Row by row, so that equal vectors have equal products wherever they stand; not by BLAS, whose threads take
        # longer to wake up than the work.
        exact = np.empty(len(contenders))
        for start in range(0, len(contenders), _BLOCK):
            block = contenders[start : start + _BLOCK]
            exact[start : start + _BLOCK] = np.einsum("ij,j->i", self.doubles(block), rounded)
        return contenders[np.lexsort((contenders, -exact))[:limit]]

    def doubles(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(k, dimensions) the vectors of these rows in double precision."""
        # As `vector_codes` does: not before the first scan.
        import numkong

        halves = self.vectors[rows]
        if not halves.size:
            return halves.astype(np.float64)
        # By way of single precision, which holds each of them: numpy takes four times as long from half precision.
        return np.asarray(numkong.astype(halves, "f32")).astype(np.float64)

    def rows_of(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """(m,) the row of each ordinal; −1 for those that have no vector."""
        if not len(self.ordinals):
            return np.full(len(ordinals), -1, np.int64)
        rows = np.minimum(self.ordinals.searchsorted(ordinals), len(self.ordinals) - 1)
        return np.where(self.ordinals[rows] == ordinals, rows, -1)
