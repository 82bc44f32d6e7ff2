"""`ports.GraphReader` on Postgres tables: the embedded backend, always at the snapshot's version."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from agentic_rag.adapters.postgres.connection import Connection
from agentic_rag.domain.retrieval import EntityMentions, Mention, Neighbour
from agentic_rag.domain.tenancy import WorkspaceRef

MENTIONS_OF = """
SELECT entity_id, ordinal, count, passages
FROM (
    SELECT entity_id, ordinal, count,
           count(*) OVER (PARTITION BY entity_id) AS passages,
           row_number() OVER (PARTITION BY entity_id ORDER BY ordinal) AS place
    FROM rag_mentions
    WHERE org_id = $1 AND workspace_id = $2 AND entity_id = ANY ($3::uuid[])
      AND visible_from <= $4 AND (visible_to IS NULL OR visible_to > $4)
) ranked
WHERE place <= $5
ORDER BY entity_id, ordinal
"""

MENTIONS_IN = """
SELECT entity_id, ordinal, count
FROM rag_mentions
WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($3::integer[])
  AND visible_from <= $4 AND (visible_to IS NULL OR visible_to > $4)
ORDER BY ordinal, entity_id
"""

NEIGHBOURS = """
SELECT entity_id, related, weight
FROM (
    SELECT m.entity_id, r.related, sum(r.weight)::integer AS weight,
           row_number() OVER (PARTITION BY m.entity_id ORDER BY sum(r.weight) DESC, r.related) AS place
    FROM rag_mentions m
    CROSS JOIN LATERAL unnest(m.related, m.weights) AS r(related, weight)
    WHERE m.org_id = $1 AND m.workspace_id = $2 AND m.entity_id = ANY ($3::uuid[])
      AND m.visible_from <= $4 AND (m.visible_to IS NULL OR m.visible_to > $4)
    GROUP BY m.entity_id, r.related
) ranked
WHERE place <= $5
ORDER BY entity_id, place
"""

NAMES = """
SELECT entity_id, name FROM rag_entities WHERE org_id = $1 AND workspace_id = $2 AND entity_id = ANY ($3::uuid[])
"""


class PostgresGraphReader:
    """Reads of one snapshot; one statement per frontier."""

    def __init__(self, connection: Connection, workspace: WorkspaceRef, version: int) -> None:
        self._connection = connection
        self._key = (workspace.org_id, workspace.workspace_id)
        self._version = version

    @property
    def version(self) -> int:
        """The corpus version the graph reflects."""
        return self._version

    async def mentions_of(self, entity_ids: Sequence[UUID], cap: int) -> list[EntityMentions]:
        """The visible passages of each entity, at most `cap` each, in the order asked; entities without any are left
        out.
        """
        if not entity_ids:
            return []
        rows = await self._connection.fetch(MENTIONS_OF, *self._key, entity_ids, self._version, cap)
        mentions: dict[UUID, list[Mention]] = {}
        passages: dict[UUID, int] = {}
        for row in rows:
            entity_id = row["entity_id"]
            passages[entity_id] = row["passages"]
            mentions.setdefault(entity_id, []).append(Mention(entity_id, row["ordinal"], row["count"]))
        return [
            EntityMentions(entity_id, passages[entity_id], tuple(mentions[entity_id]))
            for entity_id in entity_ids
            if entity_id in mentions
        ]

    async def mentions_in(self, ordinals: Sequence[int]) -> list[Mention]:
        """Every entity of these chunks, by ordinal, then entity id."""
        if not ordinals:
            return []
        rows = await self._connection.fetch(MENTIONS_IN, *self._key, ordinals, self._version)
        return [Mention(row["entity_id"], row["ordinal"], row["count"]) for row in rows]

    async def neighbours(self, entity_ids: Sequence[UUID], cap: int) -> list[Neighbour]:
        """The `cap` strongest related entities of each: weight descending, then id; in the order asked."""
        if not entity_ids:
            return []
        rows = await self._connection.fetch(NEIGHBOURS, *self._key, entity_ids, self._version, cap)
        found: dict[UUID, list[Neighbour]] = {}
        for row in rows:
            neighbour = Neighbour(row["entity_id"], row["related"], row["weight"])
            found.setdefault(neighbour.entity_id, []).append(neighbour)
        return [neighbour for entity_id in entity_ids for neighbour in found.get(entity_id, [])]

    async def names(self, entity_ids: Sequence[UUID]) -> dict[UUID, str]:
        """Display names of known entities."""
        if not entity_ids:
            return {}
        rows = await self._connection.fetch(NAMES, *self._key, entity_ids)
        return {row["entity_id"]: row["name"] for row in rows}
