"""`retrieval.ports.VectorReader` on Postgres: an exact scan of the workspace's rows, in the database or, of those that
this process holds, here; or the workspace's approximate index where that is READY.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row
from agentic_rag.adapters.postgres.session.halfvec import from_query, to_matrix
from agentic_rag.models.embedding.space import EmbeddingSpace, RegisteredSpace
from agentic_rag.retrieval.candidates import SCORE_DIGITS, ArmHit, SearchScope
from agentic_rag.retrieval.ports import VectorSearch
from agentic_rag.retrieval.resident_vectors import ResidentVectors
from agentic_rag.tenancy.principals import WorkspaceRef

MARGIN = 16
"""Extra candidates beyond the limit: pgvector ranks by half-precision distances whose last bits differ by CPU, so rows
near the last rank may swap when they are scored again.
"""

WORTH_A_THREAD = 8_000_000
"""From this many components on, a scan in this process takes milliseconds, and another thread does it."""

# Exact: approximate indexes are built on an expression with the space's dimensions, which this ordering does not use.
# Vectors have unit length, so the inner product ranks like the cosine, for a third of the arithmetic. The candidates'
# vectors are fetched by key afterwards: a join would scan the workspace once per candidate while a new table has no
# statistics.
NEAREST = """
WITH candidates AS MATERIALIZED (
    SELECT ordinal
    FROM rag_embeddings
    WHERE org_id = $1 AND workspace_id = $2 AND space_id = $3 AND {access}
      AND visible_from <= $6 AND (visible_to IS NULL OR visible_to > $6)
    ORDER BY v <#> $4, ordinal
    LIMIT $7
)
SELECT c.ordinal, (
    SELECT v FROM rag_embeddings e
    WHERE e.org_id = $1 AND e.workspace_id = $2 AND e.space_id = $3 AND e.ordinal = c.ordinal
) AS v
FROM candidates c
"""

# A single access set, the usual case, is compared as a number: an array slows the scan by 5 %.
NEAREST_OF_ONE = NEAREST.replace("{access}", "access_id = $5::integer")
NEAREST_OF_MANY = NEAREST.replace("{access}", "access_id = ANY ($5::integer[])")
_AMONG = ("visible_from <= $6", "ordinal = ANY ($8::integer[]) AND visible_from <= $6")


BY_ORDINAL = """
SELECT asked.ordinal, (
    SELECT v FROM rag_embeddings e
    WHERE e.org_id = $1 AND e.workspace_id = $2 AND e.space_id = $3 AND e.ordinal = asked.ordinal
) AS v
FROM unnest($4::integer[]) AS asked(ordinal)
"""

NEAREST_BY_INDEX = "SELECT ordinal, v FROM rag_nearest_by_index($1, $2, $3, $4, $5, $6, $7, $8, $9)"

EF_SEARCH = 200
"""Candidates that an index search examines: 2.7 ms at 100,000 vectors, recall .95 of the exact hits."""

OVER_FETCH = 2
"""Candidates per requested hit, because the index returns them in a relaxed order."""


class PostgresVectorReader:
    """Search inside one snapshot."""

    def __init__(
        self,
        connection: PostgresConnection,
        workspace: WorkspaceRef,
        version: int,
        space: RegisteredSpace | None,
        is_indexed: bool = False,
        resident: ResidentVectors | None = None,
    ) -> None:
        self._connection = connection
        self._key = workspace.key
        self._version = version
        self._space = space
        self._is_indexed = is_indexed
        self._resident = resident
        self._known: dict[bytes, dict[int, float]] = {}
        """Cosines by ordinal, by the bytes of the query: within a snapshot a passage keeps its vector."""

    @property
    def is_at_hand(self) -> bool:
        held = self._resident
        return held is not None and not self._is_indexed and held.vectors.size < WORTH_A_THREAD

    async def nearest(
        self,
        query: NDArray[np.float32],
        space_id: int,
        limit: int,
        scope: SearchScope,
        search: VectorSearch = VectorSearch.SERVED,
    ) -> list[ArmHit]:
        if self._space is None or limit < 1:
            return []
        self._space.require(space_id, len(query))
        if not query.any():
            return []
        rows: Sequence[Row] = ()
        # A filter may leave few of the index's hits, and a limit above its candidates needs an exact search.
        by_index = search is VectorSearch.INDEXED or (search is VectorSearch.SERVED and self._is_indexed)
        if by_index and scope.ordinals is None and limit * OVER_FETCH <= EF_SEARCH:
            rows = await self._connection.fetch(
                NEAREST_BY_INDEX,
                *self._key,
                space_id,
                len(query),
                from_query(query),
                scope.access_ids,
                self._version,
                limit * OVER_FETCH,
                EF_SEARCH,
            )
        if len(rows) < limit and search is not VectorSearch.INDEXED:
            if self._resident is not None:
                return await self._scan_here(self._resident, self._space, query, limit, scope)
            rows = await self._scan(query, space_id, limit, scope)
        if not rows:
            return []
        ordinals = np.array([row["ordinal"] for row in rows], np.int64)
        vectors = to_matrix([row["v"] for row in rows])
        return _rank(query, ordinals, vectors, np.linalg.norm(vectors, axis=1), limit, self._space.space)

    async def cosines(self, query: NDArray[np.float32], space_id: int, ordinals: Sequence[int]) -> dict[int, float]:
        if self._space is None or not ordinals:
            return {}
        self._space.require(space_id, len(query))
        known = self._known.setdefault(query.tobytes(), {})
        unknown = [ordinal for ordinal in ordinals if ordinal not in known]
        if unknown:
            held, vectors, norms = await self._vectors_of(space_id, unknown)
            if held:
                cosines = _cosines(query.astype(np.float64), vectors, norms, self._space.space)
                known.update(zip(held, cosines.tolist(), strict=True))
        return {ordinal: known[ordinal] for ordinal in ordinals if ordinal in known}

    async def _vectors_of(
        self, space_id: int, ordinals: Sequence[int]
    ) -> tuple[list[int], NDArray[np.float64], NDArray[np.float64]]:
        """Those of the ordinals that have a vector, their vectors, and the lengths of these."""
        if self._resident is not None:
            rows = self._resident.rows_of(np.array(ordinals, np.int64))
            rows = rows[rows >= 0]
            vectors = self._resident.doubles(rows)
            return self._resident.ordinals[rows].tolist(), vectors, self._resident.codes.norms[rows]
        read = await self._connection.fetch(BY_ORDINAL, *self._key, space_id, ordinals)
        found = [(row["ordinal"], row["v"]) for row in read if row["v"] is not None]
        if not found:
            return [], np.zeros((0, 0)), np.zeros(0)
        vectors = to_matrix([vector for _, vector in found])
        return [ordinal for ordinal, _ in found], vectors, np.linalg.norm(vectors, axis=1)

    async def _scan_here(
        self,
        resident: ResidentVectors,
        registered: RegisteredSpace,
        query: NDArray[np.float32],
        limit: int,
        scope: SearchScope,
    ) -> list[ArmHit]:
        """As `_scan`, of vectors in this process."""
        version, space = self._version, registered.space

        def scan() -> list[ArmHit]:
            shown = resident.visible(version, scope.access_ids, scope.ordinals)
            rows = resident.nearest(query, limit + MARGIN, shown)
            ordinals = resident.ordinals[rows].astype(np.int64)
            vectors = resident.doubles(rows)
            return _rank(query, ordinals, vectors, resident.codes.norms[rows], limit, space)

        return scan() if resident.vectors.size < WORTH_A_THREAD else await asyncio.to_thread(scan)

    async def _scan(self, query: NDArray[np.float32], space_id: int, limit: int, scope: SearchScope) -> Sequence[Row]:
        only = scope.access_ids[0] if len(scope.access_ids) == 1 else None
        statement = NEAREST_OF_MANY if only is None else NEAREST_OF_ONE
        access = scope.access_ids if only is None else only
        arguments = (*self._key, space_id, from_query(query), access, self._version, limit + MARGIN)
        if scope.ordinals is None:
            return await self._connection.fetch(statement, *arguments)
        return await self._connection.fetch(statement.replace(*_AMONG), *arguments, sorted(scope.ordinals))


def _rank(
    query: NDArray[np.float32],
    ordinals: NDArray[np.int64],
    vectors: NDArray[np.float64],
    norms: NDArray[np.float64],
    limit: int,
    space: EmbeddingSpace,
) -> list[ArmHit]:
    """Candidates scored from their stored vectors, best first, ties by ordinal."""
    cosines = _cosines(query.astype(np.float64), vectors, norms, space)
    order = np.lexsort((ordinals, -cosines))[:limit]
    return [
        ArmHit(ordinal, cosine, max(0.0, cosine))
        for ordinal, cosine in zip(ordinals[order].tolist(), cosines[order].tolist(), strict=True)
    ]


def _cosines(
    query: NDArray[np.float64], vectors: NDArray[np.float64], norms: NDArray[np.float64], space: EmbeddingSpace
) -> NDArray[np.float64]:
    """Cosines counted from the space's floor, rounded to `SCORE_DIGITS`; those of a null vector are 0 before. `norms`
    are the lengths of the vectors.
    """
    lengths = norms * np.linalg.norm(query)
    # Each row by itself, in this thread: a score hangs neither on the rows beside it nor on the threads of BLAS.
    products: NDArray[np.float64] = np.einsum("ij,j->i", vectors, query)
    cosines = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    cosines = (cosines - space.floor) / (1.0 - space.floor)
    return np.round(cosines, SCORE_DIGITS).astype(np.float64) + 0.0
