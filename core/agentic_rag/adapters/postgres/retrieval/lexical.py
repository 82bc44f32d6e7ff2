"""`retrieval.ports.LexicalReader` on Postgres: fetches each segment once per process and searches in memory
(`VisiblePostings`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.adapters.postgres.retrieval.segments import (
    SEGMENTS,
    SegmentCache,
    read_moves,
    segment_from,
    segment_size,
    visible_size,
)
from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.retrieval.candidates import ArmHit, SearchScope
from agentic_rag.retrieval.lexical.bm25 import HeldTerms, TermProfile, VisiblePostings
from agentic_rag.retrieval.lexical.postings import Segment
from agentic_rag.tenancy.principals import WorkspaceRef

CLOSED = """
SELECT ordinal FROM rag_closed_ordinals WHERE org_id = $1 AND workspace_id = $2 AND closed_at <= $3 ORDER BY ordinal
"""


class PostgresLexicalReader:
    """Search inside one snapshot; no round trip once segments and closed ordinals are in memory."""

    def __init__(
        self,
        connection: PostgresConnection,
        workspace: WorkspaceRef,
        version: int,
        segment_ids: Sequence[UUID],
        cache: SegmentCache,
        access_version: int,
    ) -> None:
        self._connection = connection
        self._workspace = workspace
        self._key = workspace.key
        self._version = version
        self._segment_ids = segment_ids
        self._cache = cache
        self._access_version = access_version
        self._held: dict[tuple[int, ...], HeldTerms] = {}
        """By the access sets of their readers."""

    async def search(self, terms: Mapping[str, int], limit: int, scope: SearchScope) -> list[ArmHit]:
        allowed = None if scope.ordinals is None else np.fromiter(scope.ordinals, np.int32, len(scope.ordinals))
        visible, held = await self._look_up(terms, scope)
        return visible.search(terms, allowed, limit, held)

    async def rarity(self, terms: Sequence[str], scope: SearchScope) -> dict[str, float]:
        return (await self._visible(scope)).rarity(terms, self._held.get(scope.access_ids, {}))

    async def profile(self, terms: Mapping[str, int], ordinals: Sequence[int], scope: SearchScope) -> TermProfile:
        visible, held = await self._look_up(terms, scope)
        return visible.profile(terms, np.array(ordinals, np.int64), held)

    async def passages(self, scope: SearchScope) -> int:
        return (await self._visible(scope)).passages

    async def _look_up(self, terms: Collection[str], scope: SearchScope) -> tuple[VisiblePostings, HeldTerms]:
        """The postings, and those of the terms, which a question asks for again and again."""
        visible = await self._visible(scope)
        held = self._held[scope.access_ids] = visible.look_up(terms, self._held.get(scope.access_ids, {}))
        return visible, held

    async def _visible(self, scope: SearchScope) -> VisiblePostings:
        # The content of a version changes only by erasure, which creates new segments, and by access rights, which have
        # their own version.
        at = (self._version, self._access_version)
        key = (self._workspace.workspace_id, at, tuple(self._segment_ids), scope.access_ids)
        visible = self._cache.visible.get(key)
        if visible is None:
            moves = await read_moves(self._connection, *self._key)
            visible = VisiblePostings.of(
                await self._segments(), await self._load_tombstones(), self._version, scope.access_ids, moves
            )
            self._cache.visible.put(key, visible, visible_size(visible))
        return visible

    async def _segments(self) -> list[Segment]:
        workspace_id = self._workspace.workspace_id
        held = {segment_id: self._cache.segments.get((workspace_id, segment_id)) for segment_id in self._segment_ids}
        missing = [segment_id for segment_id, segment in held.items() if segment is None]
        if missing:
            for row in await self._connection.fetch(SEGMENTS, *self._key, missing):
                segment = segment_from(row)
                held[row["segment_id"]] = segment
                self._cache.segments.put((workspace_id, row["segment_id"]), segment, segment_size(segment))
        return [segment for segment in held.values() if segment is not None]

    async def _load_tombstones(self) -> NDArray[np.int32]:
        rows = await self._connection.fetch(CLOSED, *self._key, self._version)
        return np.array([row["ordinal"] for row in rows], np.int32)
