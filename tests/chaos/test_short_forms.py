"""The short form of every row of `make chaos`: real processes, real servers, few documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.chaos import corpus
from tests.chaos.children import crew
from tests.chaos.ground import Servers, new_ground, started_servers
from tests.chaos.neo4j_graph import empty_neo4j, graph_row
from tests.chaos.table import TABLE

pytestmark = [pytest.mark.integration, pytest.mark.network, pytest.mark.timeout(300)]


NIGHTLY = {
    # Judged by its time alone, and short forms judge none.
    "throughput",
    # The kills of `random-kills` over the graph writers of `graph-kills-neo4j`.
    "random-kills-neo4j",
    # The kills of `random-kills`, the stops of `sigstop` and the restarts of `postgres-away`, with three attempts.
    "random-faults",
    # The stops of `sigstop` over the graph writers of `graph-kills-neo4j`.
    "sigstop-neo4j",
    # A graph away is in tests/integration/jobs/test_graph.py; the row adds a longer outage.
    "neo4j-down",
    # Smaller slices are in tests/integration/neo4j/test_slow_server.py; the row waits for time-outs of Neo4j itself.
    "neo4j-slow",
    # A restart is an outage shorter than those of `postgres-away`.
    "postgres",
    # Its stops and outages are in other rows, its sources in tests/integration/jobs/test_missing_files.py.
    "mixed-files-neo4j",
    # Seventeen places one after the other; `random-kills` and the kills of tests/integration/jobs strike between them.
    "step-kills",
}


ALONE = frozenset({"crash-to-rerun", "hung", "sigterm", "redis"})
"""Rows with a limit in seconds: more tests than cores beside them would be measured with them."""


def _marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.nightly] * (name in NIGHTLY) + [pytest.mark.alone] * (name in ALONE)


def _rows() -> list[Any]:
    return [pytest.param(name, marks=_marks(name)) for name in TABLE]


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    """Servers of their own: some rows stop them."""
    with started_servers() as servers:
        yield servers


@pytest.fixture
def with_neo4j(servers: Servers, request: pytest.FixtureRequest, name: str) -> Servers:
    """With the session's Neo4j for the rows that leave it alone: its start takes longer than they do."""
    if "neo4j" in name and not servers.shared_neo4j:
        servers.shared_neo4j = request.getfixturevalue("neo4j_url")
    return servers


@pytest.mark.parametrize("name", _rows())
async def test_the_short_form_of_a_row_holds(with_neo4j: Servers, name: str) -> None:
    rows = await TABLE[name](with_neo4j, True)

    # What hangs on the clock is judged by the full run, on a machine that does nothing else.
    assert [row for row in rows if not row.ok and not row.timed] == []
    assert rows


# It judges `graph_row` itself, which the nightly rows wait with.
@pytest.mark.nightly
async def test_a_graph_that_could_not_be_reached_in_time_is_compared_once_it_caught_up(servers: Servers) -> None:
    uri = await empty_neo4j(servers)
    async with new_ground(servers, NEO4J_URI=uri) as ground, crew(ground) as workers:
        await ground.sync(corpus.small(ground.home / "source", 4))
        cut_off = workers.start(NEO4J_URI="bolt://127.0.0.1:9")
        await ground.until_idle()
        cut_off.kill()
        workers.start()

        row = await graph_row("out of reach", ground)

    assert row.ok, row
