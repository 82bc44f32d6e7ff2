"""The entity graph as primitives: whole frontiers in and out. Expansion and scoring live in `domain.graph_walk`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.retrieval import EntityMentions, Mention, Neighbour


class GraphReader(Protocol):
    """Reads of one snapshot (Postgres) or at the graph's watermark (Neo4j). Errors: `DependencyUnavailable`."""

    @property
    def version(self) -> int:
        """The corpus version the graph reflects."""
        ...

    async def mentions_of(self, entity_ids: Sequence[UUID], cap: int) -> list[EntityMentions]:
        """The visible passages of each entity that has any, in the order asked; of one in more than `cap` passages only
        that it is.
        """
        ...

    async def mentions_in(self, ordinals: Sequence[int]) -> list[Mention]:
        """Every entity of these chunks, by ordinal, then entity id."""
        ...

    async def neighbours(self, entity_ids: Sequence[UUID], cap: int) -> list[Neighbour]:
        """The `cap` strongest related entities of each: weight descending, then id; in the order asked."""
        ...

    async def names(self, entity_ids: Sequence[UUID]) -> dict[UUID, str]:
        """Display names of known entities."""
        ...
