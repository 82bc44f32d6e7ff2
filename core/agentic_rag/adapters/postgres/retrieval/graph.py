"""`retrieval.ports.GraphReader` on Postgres tables, or on mentions that this process holds: the embedded backend,
always at the snapshot's version.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.adapters.postgres.retrieval.resident import ResidentCorpus
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row
from agentic_rag.retrieval.candidates import EntityPassages, MentionCount, Neighbour
from agentic_rag.retrieval.graph.subgraph import Subgraph
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.tenancy.principals import WorkspaceRef

# {readable}: the condition that the caller may read the passage; `true` for unrestricted callers.
# One bounded index scan per entity, whatever the planner's statistics: an entity that half the corpus mentions costs no
# more than `cap` + 1 rows.
_PASSAGES = """
    SELECT array_agg(ordinal ORDER BY ordinal) AS ordinals, array_agg(count ORDER BY ordinal) AS counts
    FROM (
        SELECT m.ordinal, m.count
        FROM rag_mentions m
        WHERE m.org_id = $1 AND m.workspace_id = $2 AND m.entity_id = asked.entity_id
          AND m.visible_from <= $4 AND (m.visible_to IS NULL OR m.visible_to > $4)
          AND {readable}
        ORDER BY m.org_id, m.workspace_id, m.entity_id, m.ordinal
        LIMIT $5 + 1
    ) first
"""

MENTIONS_OF = f"""
SELECT asked.entity_id, held.ordinals, held.counts
FROM unnest($3::uuid[]) AS asked(entity_id)
CROSS JOIN LATERAL ({_PASSAGES}) held
WHERE held.ordinals IS NOT NULL
"""  # noqa: S608 - a constant condition

# One row per entity that was asked for or is mentioned in the given chunks: its mentions in those chunks, and its
# passages as in MENTIONS_OF. OFFSET 0 keeps the index scan by ordinal while a new table has no statistics.
VICINITY = f"""
WITH held AS MATERIALIZED (
    SELECT m.entity_id, array_agg(m.ordinal ORDER BY m.ordinal) AS ordinals,
           array_agg(m.count ORDER BY m.ordinal) AS counts
    FROM unnest($6::integer[]) AS given(ordinal)
    CROSS JOIN LATERAL (
        SELECT entity_id, ordinal, count
        FROM rag_mentions
        WHERE org_id = $1 AND workspace_id = $2 AND ordinal = given.ordinal
          AND visible_from <= $4 AND (visible_to IS NULL OR visible_to > $4)
          AND {{readable}}
        OFFSET 0
    ) m
    GROUP BY m.entity_id
), asked AS (
    SELECT entity_id FROM unnest($3::uuid[]) AS given(entity_id)
    UNION
    SELECT entity_id FROM held
)
SELECT asked.entity_id, found.ordinals, found.counts, held.ordinals AS held_ordinals, held.counts AS held_counts
FROM asked
LEFT JOIN held USING (entity_id)
CROSS JOIN LATERAL ({_PASSAGES}) found
WHERE found.ordinals IS NOT NULL
ORDER BY asked.entity_id
"""  # noqa: S608 - a constant condition

NEIGHBOURS = """
SELECT entity_id, related, weight
FROM (
    SELECT m.entity_id, r.related, sum(r.weight)::integer AS weight,
           row_number() OVER (PARTITION BY m.entity_id ORDER BY sum(r.weight) DESC, r.related) AS place
    FROM rag_mentions m
    CROSS JOIN LATERAL unnest(m.related, m.weights) AS r(related, weight)
    WHERE m.org_id = $1 AND m.workspace_id = $2 AND m.entity_id = ANY ($3::uuid[])
      AND m.visible_from <= $4 AND (m.visible_to IS NULL OR m.visible_to > $4)
      AND {readable}
    GROUP BY m.entity_id, r.related
) ranked
WHERE place <= $5
ORDER BY entity_id, place
"""

NAMES = """
SELECT entity_id, name FROM rag_entities WHERE org_id = $1 AND workspace_id = $2 AND entity_id = ANY ($3::uuid[])
"""


class PostgresGraphReader:
    """Reads of one snapshot; one statement per frontier. Passages that the caller may not read do not count."""

    def __init__(
        self,
        connection: PostgresConnection,
        workspace: WorkspaceRef,
        version: int,
        access: ReadScope,
        resident: ResidentCorpus | None = None,
        names: dict[UUID, str | None] | None = None,
    ) -> None:
        """`names` are those of entities that others have read; None for one that is not stored."""
        self._connection = connection
        self._key = workspace.key
        self._version = version
        self._access = access
        self._resident = resident
        self._names = {} if names is None else names

    @property
    def version(self) -> int:
        return self._version

    async def mentions_of(self, entity_ids: Sequence[UUID], cap: int) -> list[EntityPassages]:
        if not entity_ids:
            return []
        rows = await self._fetch(MENTIONS_OF, *self._key, entity_ids, self._version, cap)
        found = {row["entity_id"]: (row["ordinals"], row["counts"]) for row in rows}
        return [_mentions(one, *found[one], cap) for one in entity_ids if one in found]

    async def vicinity(self, entity_ids: Sequence[UUID], ordinals: Sequence[int], cap: int) -> Subgraph:
        if not entity_ids and not ordinals:
            return Subgraph.of((), ())
        if self._resident is not None and self._resident.mentions is not None:
            return self._resident.mentions.vicinity(entity_ids, ordinals, cap, self._visible)
        rows = await self._fetch(VICINITY, *self._key, entity_ids, self._version, cap, sorted(set(ordinals)))
        held = [
            MentionCount(row["entity_id"], ordinal, count)
            for row in rows
            if row["held_ordinals"] is not None
            for ordinal, count in zip(row["held_ordinals"], row["held_counts"], strict=True)
        ]
        return Subgraph.of(held, [_mentions(row["entity_id"], row["ordinals"], row["counts"], cap) for row in rows])

    async def neighbours(self, entity_ids: Sequence[UUID], cap: int) -> list[Neighbour]:
        if not entity_ids:
            return []
        rows = await self._fetch(NEIGHBOURS, *self._key, entity_ids, self._version, cap)
        found: dict[UUID, list[Neighbour]] = {}
        for row in rows:
            neighbour = Neighbour(row["entity_id"], row["related"], row["weight"])
            found.setdefault(neighbour.entity_id, []).append(neighbour)
        return [neighbour for entity_id in entity_ids for neighbour in found.get(entity_id, [])]

    async def names(self, entity_ids: Sequence[UUID]) -> dict[UUID, str]:
        unknown = [one for one in entity_ids if one not in self._names]
        if unknown:
            rows = await self._connection.fetch(NAMES, *self._key, unknown)
            self._names |= dict.fromkeys(unknown)
            self._names |= {row["entity_id"]: row["name"] for row in rows}
        return {one: name for one in entity_ids if (name := self._names[one]) is not None}

    @cached_property
    def _visible(self) -> NDArray[np.bool_]:
        """Of each ordinal of the resident corpus, whether the snapshot shows its chunk to the readers."""
        if self._resident is None or self._resident.mentions is None:
            return np.zeros(0, np.bool_)
        access_ids = None if self._access.is_unrestricted else self._access.access_ids
        return self._resident.shown_below(self._resident.mentions.span, self._version, access_ids)

    async def _fetch(self, statement: str, *arguments: object) -> Sequence[Row]:
        if self._access.is_unrestricted:
            return await self._connection.fetch(statement.replace("{readable}", "true"), *arguments)
        readable = f"access_id = ANY (${len(arguments) + 1}::integer[])"
        return await self._connection.fetch(
            statement.replace("{readable}", readable), *arguments, self._access.access_ids
        )


def _mentions(entity_id: UUID, ordinals: Sequence[int], counts: Sequence[int], cap: int) -> EntityPassages:
    if len(ordinals) > cap:
        return EntityPassages(entity_id, cap + 1, (), ())
    return EntityPassages(entity_id, len(ordinals), tuple(ordinals), tuple(counts))
