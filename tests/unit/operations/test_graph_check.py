"""What `rag verify` says of a graph outside Postgres that changes while it is looked at."""

from dataclasses import replace
from typing import Any, cast
from uuid import uuid4

import pytest
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.operations.graph.projection import GraphCounts, GraphPosition, GraphWatermark
from agentic_rag.operations.graph.sync import GraphCheck, GraphSync
from agentic_rag.tenancy.principals import WorkspaceRef

WORKSPACE = WorkspaceRef(uuid4(), uuid4())


class Stores:
    """Postgres and the graph. Every count of Postgres comes after a publish that the graph follows at once."""

    def __init__(self, *, publishes: int, lost: int = 0) -> None:
        self.publishes = publishes
        self.counted = GraphCounts(sources=10)
        self.version = 10
        self.lost = lost

    async def position(self, _: object) -> GraphPosition:
        return GraphPosition(self.version, self.version)

    async def watermark(self, _: object) -> GraphWatermark:
        return GraphWatermark(self.version, self.version, 1)

    async def counts(self, _: object) -> GraphCounts:
        before = self.counted
        if self.publishes:
            self.publishes -= 1
            self.version += 1
            self.counted = replace(before, sources=before.sources + 1)
        return before


class Graph(Stores):
    def __init__(self, postgres: Stores) -> None:
        self._postgres = postgres

    async def watermark(self, _: object) -> GraphWatermark:
        return await self._postgres.watermark(_)

    async def counts(self, _: object) -> GraphCounts:
        counted = self._postgres.counted
        return replace(counted, sources=counted.sources - self._postgres.lost)


@pytest.mark.parametrize(
    ("publishes", "lost", "kinds"), [(0, 0, []), (2, 0, []), (99, 0, ["GRAPH_BEHIND"]), (0, 1, ["GRAPH_DIFFERS"])]
)
async def test_a_publish_between_two_counts_is_no_difference(publishes: int, lost: int, kinds: list[str]) -> None:
    postgres = Stores(publishes=publishes, lost=lost)
    sync = GraphSync(cast("Any", postgres), cast("Any", Graph(postgres)), RecordingTelemetry())

    found = await GraphCheck(sync).run(WORKSPACE)

    assert [one.kind for one in found] == kinds
