"""Ports for keeping a graph outside Postgres in step: the feed from Postgres and the writer of the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from agentic_rag.jobs.job import JobRef, Lease
from agentic_rag.kernel.errors import Retryable
from agentic_rag.operations.graph.projection import (
    DocumentBatch,
    GraphChange,
    GraphChunk,
    GraphCounts,
    GraphCursor,
    GraphEntity,
    GraphMention,
    GraphPosition,
    GraphWatermark,
)
from agentic_rag.tenancy.audit import AuditEntry
from agentic_rag.tenancy.principals import WorkspaceRef


class TransactionEnded(Retryable):
    """The graph ended a transaction before it was done, as by its time-out: a smaller one may pass, or the same later.
    Nothing is known of what it wrote.
    """

    code = "GRAPH_CONFLICT"


class GraphFeed(Protocol):
    """The feed of graph changes from Postgres. Each call is a transaction of its own. Errors: `DependencyUnavailable`,
    `NotFound` (workspace).
    """

    async def position(self, workspace: WorkspaceRef) -> GraphPosition:
        """The corpus version, and the version that the graph has reached."""
        ...

    async def claim(self, lease: Lease, above: int) -> int:
        """A fencing token for the graph, higher than every earlier one and than `above`. If the graph was replaced by
        another, its version is reset to 0. Errors: `LeaseLost`.
        """
        ...

    async def next_changes(self, workspace: WorkspaceRef, after: GraphCursor, limit: int) -> DocumentBatch:
        """The next `limit` documents published or erased after the cursor, ordered by version, then id."""
        ...

    async def payload(
        self, workspace: WorkspaceRef, ordinals: Sequence[int], entity_ids: Sequence[UUID]
    ) -> tuple[Mapping[int, tuple[GraphMention, ...]], Mapping[UUID, GraphEntity]]:
        """The mentions in these chunks, and the entities that they mention or that have these ids, read at one
        instant.
        """
        ...

    async def losing(self, workspace: WorkspaceRef, nodes: Mapping[UUID, int]) -> None:
        """Record how many nodes of erased documents the graph has, before it deletes any; the erasure certificates
        count them. The highest recorded number counts.
        """
        ...

    async def record_watermark(self, workspace: WorkspaceRef, fence: int, version: int) -> None:
        """Record the version that the graph has reached, and complete the certificates of documents erased up to it.
        Errors: `LeaseLost` after a later claim.
        """
        ...

    async def complete_job(self, lease: Lease, fence: int, version: int) -> bool:
        """Record the version as `record_watermark` does and complete the job, unless something was published meanwhile
        (False: nothing was written).

        A publish first looks for an unfinished job, so its changes are either seen here or get a job of their own.
        Errors: `LeaseLost`.
        """
        ...

    async def settle(self, lease: Lease) -> None:
        """Without a graph outside Postgres: record that the graph is at the corpus version."""
        ...

    async def restart(self, workspace: WorkspaceRef, entry: AuditEntry) -> JobRef:
        """Reset the graph's version, enqueue a job that refills it, and record the entry; returns that job."""
        ...

    async def counts(self, workspace: WorkspaceRef) -> GraphCounts:
        """The expected counts of the graph."""
        ...


class GraphWriter(Protocol):
    """The graph that follows Postgres. Writes require the newest fence. Errors of every call: `DependencyUnavailable`
    (dependency "neo4j"), `TransactionEnded`, `Retryable`.
    """

    async def watermark(self, workspace: WorkspaceRef) -> GraphWatermark:
        """The graph's watermark; zeros for an unknown workspace."""
        ...

    async def claim(self, workspace: WorkspaceRef, fence: int) -> GraphWatermark:
        """Make `fence` the newest and return the watermark. Errors: `LeaseLost` if there is a newer fence."""
        ...

    async def clear(self, workspace: WorkspaceRef, fence: int, limit: int) -> int:
        """Delete at most `limit` nodes of the workspace's graph; returns their number. The watermark is `CLEARING`
        until nothing is left, then 0. Errors: `LeaseLost`.
        """
        ...

    async def document_ordinals(
        self, workspace: WorkspaceRef, document_ids: Sequence[UUID]
    ) -> dict[UUID, frozenset[int]]:
        """The ordinals of the chunks in the graph, for each document it knows."""
        ...

    async def chunks(self, workspace: WorkspaceRef, ordinals: Sequence[int]) -> list[GraphChunk]:
        """Chunks as the graph stores them."""
        ...

    async def entities_first_seen_in(self, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> list[UUID]:
        """Entities whose first source is one of these documents."""
        ...

    async def apply(self, workspace: WorkspaceRef, fence: int, target: int, change: GraphChange) -> None:
        """Apply a change atomically. Errors: `LeaseLost`."""
        ...

    async def set_watermark(self, workspace: WorkspaceRef, fence: int, version: int, target: int) -> None:
        """Set the watermark. Errors: `LeaseLost`."""
        ...

    async def counts(self, workspace: WorkspaceRef) -> GraphCounts:
        """The counts of the graph."""
        ...
