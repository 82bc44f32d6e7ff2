"""`operations.graph.ports.GraphFeed` on Postgres: changes for a graph outside Postgres, and its watermark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from agentic_rag.adapters.postgres.jobs.jobs import PostgresJobStore
from agentic_rag.adapters.postgres.operations import graph_feed_sql as sql
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.adapters.postgres.tenancy.audit import PostgresAuditLog
from agentic_rag.erasure.certificate import ErasedStore
from agentic_rag.jobs.job import JobRef, Lease, graph_job
from agentic_rag.kernel.errors import LeaseLost, NotFound
from agentic_rag.operations.graph.projection import (
    ChangedDocument,
    DocumentBatch,
    GraphCounts,
    GraphCursor,
    GraphEntity,
    GraphMention,
    GraphPosition,
    GraphSource,
)
from agentic_rag.tenancy.audit import AuditEntry
from agentic_rag.tenancy.principals import WorkspaceRef

LAST_ID = UUID(int=2**128 - 1)
"""A cursor without a document comes after every document of its version."""

Payload = tuple[Mapping[int, tuple[GraphMention, ...]], Mapping[UUID, GraphEntity]]


class _PublishedMeanwhileError(Exception):
    """Rolls back the transaction that finishes a job."""


class PostgresGraphFeed:
    """Every call opens its own transaction."""

    def __init__(self, pool: PostgresPool, home: str) -> None:
        """`home` names the graph outside Postgres."""
        self._pool = pool
        self._home = home

    async def position(self, workspace: WorkspaceRef) -> GraphPosition:
        async with self._pool.snapshot(workspace.org_id) as connection:
            row = await connection.fetchrow(sql.POSITION, *workspace.key)
        if row is None:
            raise _no_workspace(workspace)
        return value_from(GraphPosition, row)

    async def claim(self, lease: Lease, above: int) -> int:
        workspace = lease.job.workspace
        async with self._pool.transaction(workspace.org_id) as connection:
            await _hold(connection, lease)
            fence: int | None = await connection.fetchval(sql.CLAIM, *workspace.key, above, self._home)
        if fence is None:
            raise _no_workspace(workspace)
        return fence

    async def next_changes(self, workspace: WorkspaceRef, after: GraphCursor, limit: int) -> DocumentBatch:
        last = LAST_ID if after.document_id is None else after.document_id
        async with self._pool.snapshot(workspace.org_id) as connection:
            rows = await connection.fetch(sql.CHANGED, *workspace.key, after.version, last, limit)
        if not rows:
            raise _no_workspace(workspace)
        documents = tuple(_document(row) for row in rows if row["document_id"] is not None)
        return DocumentBatch(documents, rows[0]["corpus_version"], len(documents) < limit)

    async def payload(self, workspace: WorkspaceRef, ordinals: Sequence[int], entity_ids: Sequence[UUID]) -> Payload:
        mentions: dict[int, list[GraphMention]] = {}
        async with self._pool.snapshot(workspace.org_id) as connection:
            for row in await connection.fetch(sql.MENTIONS, *workspace.key, ordinals):
                mentions.setdefault(row["ordinal"], []).append(_mention(row))
            wanted = {*entity_ids, *(one.entity_id for held in mentions.values() for one in held)}
            rows = await connection.fetch(sql.ENTITIES, *workspace.key, sorted(wanted))
        entities = {row["entity_id"]: value_from(GraphEntity, row) for row in rows}
        return {ordinal: tuple(held) for ordinal, held in mentions.items()}, entities

    async def losing(self, workspace: WorkspaceRef, nodes: Mapping[UUID, int]) -> None:
        async with self._pool.transaction(workspace.org_id) as connection:
            await connection.execute(sql.COUNT_ERASURES, *workspace.key, list(nodes), list(nodes.values()))

    async def record_watermark(self, workspace: WorkspaceRef, fence: int, version: int) -> None:
        async with self._pool.transaction(workspace.org_id) as connection:
            await _reach(connection, workspace, fence, version)

    async def complete_job(self, lease: Lease, fence: int, version: int) -> bool:
        workspace = lease.job.workspace
        try:
            async with self._pool.transaction(workspace.org_id) as connection:
                if not await PostgresJobStore(connection, workspace.org_id).finish(lease.ref, lease.fence):
                    raise _lease_error()
                if await _reach(connection, workspace, fence, version) != version:
                    raise _PublishedMeanwhileError
        except _PublishedMeanwhileError:
            return False
        return True

    async def settle(self, lease: Lease) -> None:
        workspace = lease.job.workspace
        async with self._pool.transaction(workspace.org_id) as connection:
            await _hold(connection, lease)
            await connection.execute(sql.SETTLE, *workspace.key)

    async def restart(self, workspace: WorkspaceRef, entry: AuditEntry) -> JobRef:
        """Reset the watermark and have the graph filled anew; returns the job that does it. A running job loses its
        fence and starts again when its lease has expired.
        """
        async with self._pool.transaction(workspace.org_id) as connection:
            ref, _ = await PostgresJobStore(connection, workspace.org_id).enqueue(graph_job(workspace))
            if await connection.fetchval(sql.RESTART, *workspace.key) is None:
                raise _no_workspace(workspace)
            await PostgresAuditLog(connection, workspace.org_id).record(entry)
        return ref

    async def counts(self, workspace: WorkspaceRef) -> GraphCounts:
        async with self._pool.snapshot(workspace.org_id) as connection:
            row = await connection.fetchrow(sql.COUNTS, *workspace.key)
        return GraphCounts() if row is None else GraphCounts(**row)


async def _hold(connection: PostgresConnection, lease: Lease) -> None:
    """Keep the lease current until the transaction ends. Errors: `LeaseLost`."""
    if not await PostgresJobStore(connection, lease.job.workspace.org_id).holds(lease.ref, lease.fence):
        raise _lease_error()


async def _reach(connection: PostgresConnection, workspace: WorkspaceRef, fence: int, version: int) -> int:
    """Move the watermark; returns the corpus version. Errors: `LeaseLost`."""
    newest: int | None = await connection.fetchval(sql.REACHED, *workspace.key, fence, version)
    if newest is None:
        raise _lease_error()
    await connection.execute(sql.FORGET_ERASURES, *workspace.key, version, ErasedStore.GRAPH.value)
    return newest


def _lease_error() -> LeaseLost:
    return LeaseLost("Another worker writes this workspace's graph now.")


def _no_workspace(workspace: WorkspaceRef) -> NotFound:
    return NotFound(f"There is no workspace {workspace.workspace_id}.", code="WORKSPACE_NOT_FOUND")


def _document(row: Row) -> ChangedDocument:
    if row["revision_id"] is None:
        return ChangedDocument(row["version"], row["document_id"], None)
    ordinals, chunk_ids = row["ordinals"] or (), row["chunk_ids"] or ()
    return value_from(ChangedDocument, row, source=value_from(GraphSource, row), ordinals=ordinals, chunk_ids=chunk_ids)


def _mention(row: Row) -> GraphMention:
    """A mention from a row, without related entities of lower id: their rows hold the pair."""
    pairs = zip(row["related"], row["weights"], strict=True)
    higher = sorted((related, weight) for related, weight in pairs if related > row["entity_id"])
    return GraphMention(
        row["entity_id"],
        row["count"],
        tuple(related for related, _ in higher),
        tuple(weight for _, weight in higher),
    )
