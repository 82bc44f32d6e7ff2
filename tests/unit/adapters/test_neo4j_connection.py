"""What answering sees of a graph that cannot be reached."""

import pytest

from agentic_rag.adapters.neo4j.connection import Neo4jConnection
from agentic_rag.kernel.errors import DependencyUnavailable, Misconfigured


async def test_an_address_that_is_none_costs_answers_the_graph_only_and_tells_the_operator_why() -> None:
    connection = Neo4jConnection("bolt://[::1", "neo4j", "")

    with pytest.raises(DependencyUnavailable):
        await connection.read("RETURN 1", {})

    with pytest.raises(Misconfigured, match="NEO4J_URI"):
        await connection.rows("RETURN 1")
