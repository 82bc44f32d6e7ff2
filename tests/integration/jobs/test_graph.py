"""Workers bring Neo4j to what they publish and erase, and make up for its outages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.graph_contents import expected_graph, held_graph
from tests.integration.jobs.data_plane import QUICK, DataPlane, paragraphs, until
from tests.line import Line

from agentic_rag.documents.document import DocumentStatus

pytestmark = [pytest.mark.integration, pytest.mark.network]


@pytest.fixture
async def line(neo4j_url: str) -> AsyncIterator[Line]:
    """The way to Neo4j."""
    line = Line(neo4j_url)
    await line.mend()
    yield line
    await line.cut()


@pytest.fixture
async def followed(migrated_database: str, fresh_redis: str, line: Line, tmp_path: Path) -> AsyncIterator[DataPlane]:
    """The data plane with its graph in Neo4j."""
    plane = DataPlane(migrated_database, fresh_redis, tmp_path / "blobs", neo4j_uri=line.url)
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
    followed.missing_grace = timedelta(0)
    (folder / "one.md").write_text(paragraphs("Kelpie one", "Otter Voe"))

    await followed.ingest_folder(folder)

    held = await held_graph(neo4j_url, followed.workspace)
    assert held == await expected_graph(followed.database_url, followed.workspace)
    assert len(held.sources) == 2
    assert (await followed.graph_sync.status(followed.workspace)).is_equal


@pytest.mark.tells("rag_graph_unreachable", "job_id", "workspace_id")
async def test_an_outage_of_neo4j_delays_no_document_and_is_made_up_for(
    followed: DataPlane, line: Line, neo4j_url: str, folder: Path
) -> None:
    await line.cut()
    (folder / "one.md").write_text(paragraphs("Kelpie", "Brannoch", "Otter"))

    await followed.ingest_folder(folder)
    document = await followed.document("one.md")
    behind = await followed.graph_sync.status(followed.workspace)
    await line.mend()
    async with followed.worker(timings=replace(QUICK, upkeep=0.1)):
        await until(lambda: _is_equal(followed), "the graph is equal")

    assert document is not None
    assert (document.status, behind.lag, behind.is_equal) == (DocumentStatus.READY, 1, False)
    assert _unreachable(followed)
    assert await held_graph(neo4j_url, followed.workspace) == await expected_graph(
        followed.database_url, followed.workspace
    )


def _unreachable(plane: DataPlane) -> bool:
    return any(event.name == "rag_graph_unreachable" for event in plane.telemetry.events)


async def _is_equal(plane: DataPlane) -> bool:
    return (await plane.graph_sync.status(plane.workspace)).is_equal
