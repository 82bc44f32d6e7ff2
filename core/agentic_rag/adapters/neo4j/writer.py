"""`operations.graph.ports.GraphWriter` on Neo4j: every write compares its fence in the same statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, LiteralString
from uuid import UUID

import neo4j

from agentic_rag.adapters.neo4j import cypher
from agentic_rag.adapters.neo4j.connection import Neo4jConnection, Record
from agentic_rag.adapters.neo4j.graph import texts_of, workspace_key
from agentic_rag.kernel.errors import LeaseLost, Retryable
from agentic_rag.operations.graph.projection import (
    CLEARING_VERSION,
    GraphChange,
    GraphChunk,
    GraphCounts,
    GraphMention,
    GraphWatermark,
)
from agentic_rag.tenancy.principals import WorkspaceRef


class Neo4jGraphWriter:
    """Applies the changes of Postgres, one transaction per change."""

    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection
        self._has_schema = False

    async def watermark(self, workspace: WorkspaceRef) -> GraphWatermark:
        rows = await self._connection.rows(cypher.WATERMARK, _key(workspace))
        return _watermark(rows[0]) if rows else GraphWatermark(0, 0, 0)

    async def claim(self, workspace: WorkspaceRef, fence: int) -> GraphWatermark:
        await self._ensure_schema()
        rows = await self._connection.rows(cypher.CLAIM, {**_key(workspace), "fence": fence})
        if not rows:
            raise _lease_error()
        return _watermark(rows[0])

    async def clear(self, workspace: WorkspaceRef, fence: int, limit: int) -> int:
        guarded = {**_key(workspace), "fence": fence}
        async with self._connection.transaction() as transaction:
            await _run_with_fence(transaction, cypher.BEGIN, {**guarded, "target": CLEARING_VERSION})
            gone = await _count_changes(
                transaction, cypher.CLEAR, {**guarded, "clearing": CLEARING_VERSION, "limit": limit}
            )
            if gone == 0:
                await _run_with_fence(transaction, cypher.REACHED, {**guarded, "version": 0, "target": 0})
        return gone

    async def document_ordinals(
        self, workspace: WorkspaceRef, document_ids: Sequence[UUID]
    ) -> dict[UUID, frozenset[int]]:
        asked = {**_key(workspace), "documentIds": texts_of(document_ids)}
        rows = await self._connection.rows(cypher.HELD, asked)
        return {UUID(row["id"]): frozenset(row["ordinals"]) for row in rows}

    async def chunks(self, workspace: WorkspaceRef, ordinals: Sequence[int]) -> list[GraphChunk]:
        rows = await self._connection.rows(cypher.CHUNKS, {**_key(workspace), "ordinals": list(ordinals)})
        return [_chunk(row) for row in rows]

    async def entities_first_seen_in(self, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> list[UUID]:
        asked = {**_key(workspace), "documentIds": texts_of(document_ids)}
        return [UUID(row["id"]) for row in await self._connection.rows(cypher.HOMED, asked)]

    async def apply(self, workspace: WorkspaceRef, fence: int, target: int, change: GraphChange) -> None:
        guarded = {**_key(workspace), "fence": fence}
        async with self._connection.transaction() as transaction:
            await _run_with_fence(transaction, cypher.BEGIN, {**guarded, "target": target})
            for statement, name, rows, must_match in _steps(change):
                if not rows:
                    continue
                if must_match:
                    changed = await _count_changes(transaction, statement, {**guarded, name: rows})
                    if changed != len(rows):
                        raise Retryable("The graph changed while it was being written.", code="GRAPH_CONFLICT")
                else:
                    result = await transaction.run(statement, {**guarded, name: rows})
                    await result.consume()

    async def set_watermark(self, workspace: WorkspaceRef, fence: int, version: int, target: int) -> None:
        wanted = {**_key(workspace), "fence": fence, "version": version, "target": target}
        if not await self._connection.rows(cypher.REACHED, wanted):
            raise _lease_error()

    async def counts(self, workspace: WorkspaceRef) -> GraphCounts:
        [row] = await self._connection.rows(cypher.COUNTS, _key(workspace))
        return GraphCounts(**dict(row))

    async def _ensure_schema(self) -> None:
        if not self._has_schema:
            async with self._connection.transaction() as transaction:
                for statement in cypher.SCHEMA:
                    await (await transaction.run(statement)).consume()
            self._has_schema = True


def _steps(change: GraphChange) -> Sequence[tuple[LiteralString, str, list[Any], bool]]:
    """Statement, name of its rows, rows, and whether each row must match something."""
    mentions = [
        [chunk.ordinal, str(mention.entity_id), mention.count, texts_of(mention.related), list(mention.weights)]
        for chunk in change.added
        for mention in chunk.mentions
    ]
    return (
        (cypher.DROP_CHUNKS, "ordinals", list(change.removed), True),
        (
            cypher.PUT_SOURCES,
            "sources",
            [[str(one.document_id), one.title, str(one.revision_id), one.access_id] for one in change.sources],
            True,
        ),
        (
            cypher.PUT_ENTITIES,
            "entities",
            [[str(one.entity_id), one.name, one.kind, str(one.source_id)] for one in change.entities],
            True,
        ),
        (
            cypher.ADD_CHUNKS,
            "chunks",
            [[one.ordinal, str(one.chunk_id), str(one.document_id)] for one in change.added],
            True,
        ),
        (cypher.ADD_MENTIONS, "mentions", mentions, True),
        (cypher.COUNT_SOURCES, "counts", [[str(one), str(other), by] for one, other, by in change.counts], False),
        (cypher.RELATE, "weights", [[str(one), str(other), by] for one, other, by in change.weights], False),
        (cypher.DROP_SOURCES, "gone", texts_of(change.erased_sources), False),
        (cypher.DROP_ORPHANS, "touched", texts_of(change.touched), False),
    )


async def _run_with_fence(
    transaction: neo4j.AsyncTransaction, statement: LiteralString, parameters: Mapping[str, Any]
) -> None:
    """Run a statement that returns a row unless a newer fence exists."""
    result = await transaction.run(statement, dict(parameters))
    if await result.single() is None:
        raise _lease_error()


async def _count_changes(
    transaction: neo4j.AsyncTransaction, statement: LiteralString, parameters: Mapping[str, Any]
) -> int:
    result = await transaction.run(statement, dict(parameters))
    row = await result.single(strict=True)
    changed: int = row["changed"]
    return changed


def _key(workspace: WorkspaceRef) -> dict[str, Any]:
    return {"workspaceId": workspace_key(workspace)}


def _watermark(row: Record) -> GraphWatermark:
    return GraphWatermark(row["version"], row["target"], row["fence"])


def _chunk(row: Record) -> GraphChunk:
    mentions = tuple(
        GraphMention(UUID(entity_id), count, tuple(UUID(one) for one in related), tuple(weights))
        for entity_id, count, related, weights in row["mentions"]
    )
    return GraphChunk(row["ordinal"], UUID(row["id"]), UUID(row["source"]), mentions)


def _lease_error() -> LeaseLost:
    return LeaseLost("Another worker writes this workspace's graph now.")
