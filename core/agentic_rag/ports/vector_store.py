"""Dense retrieval: narrow rows of half-precision vectors."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agentic_rag.domain.retrieval import ArmHit, Scope


class VectorSearch(enum.Enum):
    """How vectors are searched."""

    SERVED = "served"
    """As questions are: by the index where it is READY and finds enough, else exactly."""
    EXACT = "exact"
    INDEXED = "indexed"
    """By the index, complete or not, to measure it; a store without one searches exactly."""


class VectorReader(Protocol):
    """Search inside one snapshot."""

    async def nearest(
        self,
        query: NDArray[np.float32],
        space_id: int,
        limit: int,
        scope: Scope,
        search: VectorSearch = VectorSearch.SERVED,
    ) -> list[ArmHit]:
        """The `limit` visible chunks nearest to `query` by cosine, best first, ties by ordinal.

        The store proposes; `raw` is the cosine computed in float64 from the stored half-precision vector and rounded
        to 1e-6, `score` is max(0, raw).
        Errors: `SpaceMismatch` when the query's dimensions differ from the stored ones.
        """
        ...

    async def cosines(self, query: NDArray[np.float32], space_id: int, ordinals: Sequence[int]) -> dict[int, float]:
        """`raw` of `nearest` for each of these chunks; none for a chunk without a vector. The caller knows that they
        are visible. Errors: `SpaceMismatch`.
        """
        ...
