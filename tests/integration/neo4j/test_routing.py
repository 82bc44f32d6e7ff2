"""NEO4J_URI as `neo4j://`: the driver asks the server for its routing table and goes where that says."""

from __future__ import annotations

import uuid
from contextlib import aclosing

import neo4j
import pytest
from neo4j.exceptions import ForbiddenOnReadOnlyDatabase, NotALeader

from agentic_rag.adapters.neo4j.connection import Neo4jConnection, Neo4jOptions, translate
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.operations.graph.ports import TransactionEnded
from agentic_rag.settings.addresses import parse_neo4j
from agentic_rag_cli.commands.operations.doctor import check_neo4j

pytestmark = [pytest.mark.integration, pytest.mark.network]


def connection(url: str) -> Neo4jConnection:
    address = parse_neo4j(url)
    return Neo4jConnection(address.uri, address.user, address.password, Neo4jOptions(read_seconds=20.0))


async def test_reads_and_writes_go_by_the_routing_table(neo4j_url: str) -> None:
    routed = neo4j_url.replace("bolt://", "neo4j://")
    mark = str(uuid.uuid4())

    async with aclosing(connection(routed)) as graph:
        async with graph.transaction() as transaction:
            await transaction.run("CREATE (:RoutedOfATest {id: $id})", {"id": mark})
        found = await graph.read("MATCH (n:RoutedOfATest {id: $id}) RETURN count(n) AS n", {"id": mark})
        await graph.rows("MATCH (n:RoutedOfATest {id: $id}) DELETE n", {"id": mark})

    assert found["n"] == 1
    assert (await check_neo4j(parse_neo4j(routed))).status == "ok"


async def test_a_server_without_tls_is_away_for_an_address_with_it(neo4j_url: str) -> None:
    async with aclosing(connection(neo4j_url.replace("bolt://", "neo4j+s://"))) as graph:
        with pytest.raises(DependencyUnavailable):
            await graph.rows("RETURN 1")


@pytest.mark.parametrize("kind", [NotALeader, ForbiddenOnReadOnlyDatabase])
def test_a_leader_that_is_one_no_more_is_tried_again(kind: type[neo4j.exceptions.Neo4jError]) -> None:
    assert isinstance(translate(kind("moved")), TransactionEnded)
