"""`retrieval.ports.GraphStore` and its `GraphReader` on Neo4j: one round trip per frontier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, LiteralString
from uuid import UUID

from agentic_rag.adapters.neo4j import cypher
from agentic_rag.adapters.neo4j.connection import DEPENDENCY, Neo4jConnection, Record
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.operations.graph.projection import GraphWatermark, is_usable, visible_version
from agentic_rag.retrieval.candidates import EntityPassages, MentionCount, Neighbour
from agentic_rag.retrieval.graph.subgraph import Subgraph
from agentic_rag.retrieval.ports import Visible
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.tenancy.principals import WorkspaceRef


def workspace_key(workspace: WorkspaceRef) -> str:
    """The value of `workspaceId`. A workspace's id is unique within its organisation only."""
    return f"{workspace.org_id}/{workspace.workspace_id}"


def texts_of(ids: Sequence[UUID]) -> list[str]:
    """Ids as the graph stores them."""
    return [str(one) for one in ids]


class Neo4jGraph:
    """The graph for snapshots of the newest version. `max_lag` is in corpus versions."""

    def __init__(self, connection: Neo4jConnection, max_lag: int) -> None:
        self._connection = connection
        self._max_lag = max_lag

    def reader(self, workspace: WorkspaceRef, version: int, access: ReadScope, visible: Visible) -> Neo4jGraphReader:
        return Neo4jGraphReader(self._connection, workspace, version, access, visible, self._max_lag)

    async def check(self) -> None:
        """Run a query without results, so that the server has planned it and answers the first real one in time."""
        nobody: dict[str, Any] = {"workspaceId": "", "entityIds": [], "ordinals": [], "accessIds": None, "cap": 1}
        await self._connection.rows(cypher.VICINITY, nobody)

    async def aclose(self) -> None:
        await self._connection.aclose()


class Neo4jGraphReader:
    """Reads for one snapshot. If the graph is not exactly at the snapshot's version, or the caller is restricted,
    ordinals that are not visible in the snapshot are filtered out with one more round trip to Postgres.
    """

    def __init__(
        self,
        connection: Neo4jConnection,
        workspace: WorkspaceRef,
        version: int,
        access: ReadScope,
        visible: Visible,
        max_lag: int,
    ) -> None:
        self._connection = connection
        self._key = workspace_key(workspace)
        self._asked = version
        self._seen = version
        self._access_ids = None if access.is_unrestricted else list(access.access_ids)
        self._visible = visible
        self._max_lag = max_lag

    @property
    def version(self) -> int:
        """The corpus version that the graph reflected: the snapshot's only if every read found it exactly there."""
        return self._seen

    async def mentions_of(self, entity_ids: Sequence[UUID], cap: int) -> list[EntityPassages]:
        if not entity_ids:
            return []
        row = await self._read(cypher.MENTIONS_OF, entityIds=texts_of(entity_ids), cap=cap)
        found = {one.entity_id: one for one in await self._mentions(row["reached"], cap)}
        return [found[one] for one in entity_ids if one in found]

    async def vicinity(self, entity_ids: Sequence[UUID], ordinals: Sequence[int], cap: int) -> Subgraph:
        """The mentions of these chunks, and the passages of the mentioned entities and of `entity_ids`."""
        if not entity_ids and not ordinals:
            return Subgraph.of((), ())
        row = await self._read(cypher.VICINITY, entityIds=texts_of(entity_ids), ordinals=sorted(set(ordinals)), cap=cap)
        shown = await self._filter_readable({ordinal for _, ordinal, _ in row["held"]})
        held = [
            MentionCount(UUID(entity_id), ordinal, count)
            for entity_id, ordinal, count in row["held"]
            if ordinal in shown
        ]
        return Subgraph.of(held, await self._mentions(row["reached"], cap))

    async def neighbours(self, entity_ids: Sequence[UUID], cap: int) -> list[Neighbour]:
        if not entity_ids:
            return []
        neighbours = cypher.NEIGHBOURS if self._access_ids is None else cypher.NEIGHBOURS_IN_READABLE
        row = await self._read(neighbours, entityIds=texts_of(entity_ids), cap=cap)
        found: dict[UUID, list[Any]] = {UUID(entity_id): related for entity_id, related in row["found"]}
        return [
            Neighbour(entity_id, UUID(other), weight)
            for entity_id in entity_ids
            for other, weight in found.get(entity_id, [])
        ]

    async def names(self, entity_ids: Sequence[UUID]) -> dict[UUID, str]:
        if not entity_ids:
            return {}
        row = await self._read(cypher.NAMES, entityIds=texts_of(entity_ids))
        return {UUID(entity_id): name for entity_id, name in row["found"]}

    async def _read(self, statement: LiteralString, **parameters: Any) -> Record:
        try:
            row = await self._connection.read(
                statement, {"workspaceId": self._key, "accessIds": self._access_ids, **parameters}
            )
        except DependencyUnavailable:
            self._seen = 0
            raise
        watermark = None if row["version"] is None else GraphWatermark(row["version"], row["target"], 0)
        seen = 0 if watermark is None else max(0, visible_version(watermark, self._asked))
        if seen != self._asked:
            self._seen = seen
        if not is_usable(watermark, self._asked, self._max_lag):
            raise DependencyUnavailable(
                f"The graph stands at corpus version {seen} of {self._asked}: `rag graph status` says more.",
                dependency=DEPENDENCY,
                code="GRAPH_BEHIND",
            )
        return row

    async def _mentions(self, reached: Iterable[tuple[str, list[list[int]]]], cap: int) -> list[EntityPassages]:
        """The mentions of each entity, reduced to passages visible in the snapshot."""
        passages: Mapping[UUID, list[list[int]]] = {UUID(entity_id): sorted(found) for entity_id, found in reached}
        ordinals = {ordinal for found in passages.values() for ordinal, _ in found}
        shown = await self._filter_readable(ordinals)
        passages = {
            # The passages of an entity above `cap` are incomplete, so none is removed.
            entity_id: found if len(found) > cap else [pair for pair in found if pair[0] in shown]
            for entity_id, found in passages.items()
        }
        return [_entity_mentions(entity_id, found, cap) for entity_id, found in passages.items() if found]

    async def _filter_readable(self, ordinals: Set[int]) -> Set[int]:
        """The ordinals visible to the snapshot's readers. The graph applies access changes as late as it applies
        publishes, so Postgres decides for restricted readers.
        """
        if self._seen == self._asked and self._access_ids is None:
            return ordinals
        return await self._visible(sorted(ordinals))


def _entity_mentions(entity_id: UUID, found: list[list[int]], cap: int) -> EntityPassages:
    if len(found) > cap:
        return EntityPassages(entity_id, cap + 1, (), ())
    return EntityPassages(
        entity_id, len(found), tuple(ordinal for ordinal, _ in found), tuple(count for _, count in found)
    )
