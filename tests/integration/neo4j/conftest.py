"""A workspace in Postgres whose graph is in Neo4j."""

from collections.abc import AsyncIterator

import pytest
from tests.integration.neo4j.world import GraphWorld
from tests.line import Line


@pytest.fixture
async def world(migrated_url: str, neo4j_url: str) -> AsyncIterator[GraphWorld]:
    """Wired through a line that the test can cut."""
    line = Line(neo4j_url)
    await line.mend()
    world = GraphWorld(migrated_url, neo4j_url, line)
    await world.prepare()
    yield world
    await world.aclose()
