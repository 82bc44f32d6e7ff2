"""Workers bring Neo4j to what they publish and erase, whoever dies on the way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.graph_contents import expected_graph, held_graph
from tests.integration.jobs.data_plane import QUICK, DataPlane, paragraphs, until

pytestmark = [pytest.mark.integration, pytest.mark.network]


@pytest.fixture
async def followed(
    migrated_database: str, fresh_redis: str, neo4j_url: str, tmp_path: Path
) -> AsyncIterator[DataPlane]:
    """The data plane with its graph in Neo4j."""
    plane = DataPlane(migrated_database, fresh_redis, tmp_path / "blobs", neo4j_uri=neo4j_url)
    await plane.prepare()
    yield plane
    await plane.aclose()


async def test_what_workers_ingest_and_erase_is_in_the_graph_when_no_job_is_left(
    followed: DataPlane, neo4j_url: str, folder: Path
) -> None:
    for name in ("one", "two", "three"):
        (folder / f"{name}.md").write_text(paragraphs(f"Kelpie {name}", "Brannoch", "Isla Munro"))
    await followed.ingest_folder(folder)
    (folder / "two.md").unlink()
    (folder / "one.md").write_text(paragraphs("Kelpie one", "Otter Voe"))

    await followed.ingest_folder(folder)

    held = await held_graph(neo4j_url, followed.workspace)
    assert held == await expected_graph(followed.database_url, followed.workspace)
    assert len(held.sources) == 2
    assert (await followed.graph_sync.status(followed.workspace)).is_equal


async def test_a_worker_lost_while_it_writes_the_graph_is_made_up_for_by_the_next(
    followed: DataPlane, neo4j_url: str, folder: Path
) -> None:
    (folder / "one.md").write_text(paragraphs("Kelpie", "Brannoch", "Otter"))
    assert followed.neo4j is not None
    connection, followed.neo4j.options = followed.neo4j, type(followed.neo4j.options)(write_seconds=0.001)
    await followed.sync(folder)
    async with followed.worker(timings=QUICK):
        await until(lambda: _unreachable(followed), "a graph job met an outage")
        connection.options = type(connection.options)(write_seconds=20.0)
        (folder / "two.md").write_text(paragraphs("Selkie", "Brannoch"))
        await followed.sync(folder)
        await until(lambda: _is_equal(followed), "the graph is equal")

    assert await held_graph(neo4j_url, followed.workspace) == await expected_graph(
        followed.database_url, followed.workspace
    )


def _unreachable(plane: DataPlane) -> bool:
    return any(event.name == "rag_graph_unreachable" for event in plane.telemetry.events)


async def _is_equal(plane: DataPlane) -> bool:
    return (await plane.graph_sync.status(plane.workspace)).is_equal
