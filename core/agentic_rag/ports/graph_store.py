"""The entity graph as primitives: whole frontiers in and out. Expansion and scoring live in `domain.bridge`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.access import Readable
from agentic_rag.domain.retrieval import EntityMentions, Neighbour, Vicinity
from agentic_rag.domain.tenancy import WorkspaceRef

Visible = Callable[[Sequence[int]], Awaitable[frozenset[int]]]
"""Of some ordinals, those whose chunks a snapshot shows its readers."""


class GraphReader(Protocol):
    """Reads of one snapshot (Postgres) or at the graph's watermark (Neo4j), for the snapshot's readers: what they may
    not read is as if it were not there. Errors: `DependencyUnavailable`.
    """

    @property
    def version(self) -> int:
        """The corpus version the graph reflects."""
        ...

    async def mentions_of(self, entity_ids: Sequence[UUID], cap: int) -> list[EntityMentions]:
        """The visible passages of each entity that has any, in the order asked; of one in more than `cap` passages only
        that it is.
        """
        ...

    async def vicinity(self, entity_ids: Sequence[UUID], ordinals: Sequence[int], cap: int) -> Vicinity:
        """One hop in one round trip: what these chunks mention, and the passages (as `mentions_of`) of that and of
        these entities.
        """
        ...

    async def neighbours(self, entity_ids: Sequence[UUID], cap: int) -> list[Neighbour]:
        """The `cap` strongest related entities of each: weight descending, then id; in the order asked."""
        ...

    async def names(self, entity_ids: Sequence[UUID]) -> dict[UUID, str]:
        """Display names of known entities."""
        ...


class GraphStore(Protocol):
    """A graph outside Postgres, which follows it."""

    def reader(self, workspace: WorkspaceRef, version: int, access: Readable, visible: Visible) -> GraphReader:
        """A reader for a snapshot at corpus version `version`. What it finds is cut to what is `visible` there;
        passages that `access` leaves out count nowhere.

        Its reads raise `DependencyUnavailable` (dependency "neo4j") when the graph does not answer in time, was never
        filled, or is too far behind; its `version` is then not the snapshot's.
        """
        ...

    async def check(self) -> None:
        """Answer, or raise `DependencyUnavailable` or `Misconfigured`."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...
