"""How a graph outside Postgres follows it: what Postgres tells, and what the graph is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from agentic_rag.jobs.job import JobRef, Lease
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
from agentic_rag.tenancy.principals import WorkspaceRef


class GraphFeed(Protocol):
    """Postgres as the one who is followed. Every call is a transaction of its own. Errors: `DependencyUnavailable`,
    `NotFound` (workspace).
    """

    async def position(self, workspace: WorkspaceRef) -> GraphPosition:
        """The corpus version, and the one that the graph has reached."""
        ...

    async def claim(self, lease: Lease, above: int) -> int:
        """A fencing token for the graph, higher than every earlier one and than `above`. A graph that is another than
        the one followed before stands at version 0. Errors: `LeaseLost`.
        """
        ...

    async def next_changes(self, workspace: WorkspaceRef, after: GraphCursor, limit: int) -> DocumentBatch:
        """The next `limit` documents that were published or erased after the cursor, by version, then id."""
        ...

    async def payload(
        self, workspace: WorkspaceRef, ordinals: Sequence[int], entity_ids: Sequence[UUID]
    ) -> tuple[Mapping[int, tuple[GraphMention, ...]], Mapping[UUID, GraphEntity]]:
        """The mentions in these chunks, and all entities of those and with these ids, at one instant."""
        ...

    async def losing(self, workspace: WorkspaceRef, nodes: Mapping[UUID, int]) -> None:
        """Note how many nodes the graph held of erased documents, before it loses any: their certificates tell. Of
        several numbers the highest counts.
        """
        ...

    async def record_watermark(self, workspace: WorkspaceRef, fence: int, version: int) -> None:
        """Note how far the graph is, and on the certificates of what was erased up to there that it is gone. Errors:
        `LeaseLost` when a later claim was made.
        """
        ...

    async def complete_job(self, lease: Lease, fence: int, version: int) -> bool:
        """The same, and end the job with it, unless something was published meanwhile (False: nothing was written).

        Publishing looks for the job first, so what it publishes is either seen here or gets a job of its own.
        Errors: `LeaseLost`.
        """
        ...

    async def settle(self, lease: Lease) -> None:
        """Without a graph outside Postgres: note that the one inside is where the corpus is."""
        ...

    async def restart(self, workspace: WorkspaceRef) -> JobRef:
        """Forget how far the graph is and have it filled anew; the job that does it."""
        ...

    async def counts(self, workspace: WorkspaceRef) -> GraphCounts:
        """What the graph should hold."""
        ...


class GraphWriter(Protocol):
    """The graph that follows. Nothing is written under a fence that is not the newest. Errors of every call:
    `DependencyUnavailable` (dependency "neo4j"), `Retryable`.
    """

    async def watermark(self, workspace: WorkspaceRef) -> GraphWatermark:
        """Where the graph stands; zeros for a workspace it does not know."""
        ...

    async def claim(self, workspace: WorkspaceRef, fence: int) -> GraphWatermark:
        """Make `fence` the newest; where the graph stands. Errors: `LeaseLost` when a newer one is there."""
        ...

    async def clear(self, workspace: WorkspaceRef, fence: int) -> int:
        """Remove some of the workspace's graph; how many nodes went. The watermark is `CLEARING` until none was left,
        then 0. Errors: `LeaseLost`.
        """
        ...

    async def document_ordinals(
        self, workspace: WorkspaceRef, document_ids: Sequence[UUID]
    ) -> dict[UUID, frozenset[int]]:
        """The ordinals that the graph holds of each document it knows."""
        ...

    async def chunks(self, workspace: WorkspaceRef, ordinals: Sequence[int]) -> list[GraphChunk]:
        """Chunks as the graph holds them."""
        ...

    async def entities_first_seen_in(self, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> list[UUID]:
        """Entities whose first source is one of these documents."""
        ...

    async def apply(self, workspace: WorkspaceRef, fence: int, target: int, change: GraphChange) -> None:
        """Carry out a change whole or not at all. Errors: `LeaseLost`."""
        ...

    async def set_watermark(self, workspace: WorkspaceRef, fence: int, version: int, target: int) -> None:
        """Set the watermark. Errors: `LeaseLost`."""
        ...

    async def counts(self, workspace: WorkspaceRef) -> GraphCounts:
        """What the graph holds."""
        ...
