"""A graph in Neo4j, emptied before a row and compared with what Postgres says it should hold after it."""

from __future__ import annotations

from dataclasses import asdict

import neo4j

from tests.bench.reports import Row
from tests.chaos.ground import WORKSPACE, Ground, Servers, until
from tests.graph_contents import expected_graph, held_graph

CATCH_UP_SECONDS = 120.0


async def empty_neo4j(servers: Servers) -> str:
    """Address of a Neo4j that holds nothing of the rows' workspace."""
    return await emptied(servers.shared_neo4j or servers.neo4j().uri)


async def emptied(uri: str) -> str:
    """The same of a given one."""
    key = f"{WORKSPACE.org_id}/{WORKSPACE.workspace_id}"
    async with neo4j.AsyncGraphDatabase.driver(uri, notifications_min_severity="OFF") as driver:
        await driver.execute_query("MATCH (n) WHERE n.workspaceId = $key OR n.id = $key DETACH DELETE n", key=key)
    return uri


async def graph_differences(ground: Ground) -> tuple[int, list[str]]:
    """(nodes held, where the graph differs from the rows of Postgres)."""
    wanted = asdict(await expected_graph(ground.database_url, ground.workspace))
    held = asdict(await held_graph(ground.variables["NEO4J_URI"], ground.workspace))
    nodes = len(held["sources"]) + len(held["chunks"]) + len(held["entities"])
    wrong = [
        f"{name}: {len(wanted[name].items() - held[name].items())} missing, "
        f"{len(held[name].items() - wanted[name].items())} too many"
        for name in wanted
        if wanted[name] != held[name]
    ]
    return nodes, wrong


async def caught_up(ground: Ground) -> None:
    """Wait until the graph says that it is where the corpus is, and nobody writes it.

    A GRAPH job that did not reach Neo4j in time (on a busy machine too) ends like any other: no unfinished job means
    only that upkeep will ask for the next.
    """

    async def there() -> bool:
        behind = await ground.value("SELECT max(corpus_version - graph_version) FROM rag_workspaces")
        return behind == 0 and not await ground.unfinished()

    await until(there, "the graph is where the corpus is", CATCH_UP_SECONDS, poll=0.1)


async def graph_row(name: str, ground: Ground) -> Row:
    """Whether the graph in Neo4j, once it says that it is up to date, equals what Postgres says."""
    await caught_up(ground)
    nodes, wrong = await graph_differences(ground)
    for line in wrong:
        print(f"    {name}: {line}")
    return Row(
        f"{name}: graph in Neo4j as Postgres says",
        f"{nodes} nodes, {len(wrong)} differences",
        "0 differences",
        nodes > 0 and not wrong,
    )
