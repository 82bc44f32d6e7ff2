"""What answering sees of a graph that cannot be reached."""

import pytest
from neo4j.exceptions import Neo4jError

from agentic_rag.adapters.neo4j.connection import Neo4jConnection, translate
from agentic_rag.kernel.errors import DependencyUnavailable, Misconfigured, Retryable


async def test_an_address_that_is_none_costs_answers_the_graph_only_and_tells_the_operator_why() -> None:
    connection = Neo4jConnection("bolt://[::1", "neo4j", "")

    with pytest.raises(DependencyUnavailable):
        await connection.read("RETURN 1", {})

    with pytest.raises(Misconfigured, match="NEO4J_URI"):
        await connection.rows("RETURN 1")


@pytest.mark.parametrize(
    "code",
    [
        "Neo.ClientError.Transaction.TransactionTimedOut",
        "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
        "Neo.ClientError.Transaction.TransactionTerminated",
        "Neo.TransientError.Transaction.Terminated",
        "Neo.DatabaseError.Transaction.TransactionCommitFailed",
    ],
)
def test_a_transaction_that_neo4j_ended_is_tried_again(code: str) -> None:
    fault = translate(Neo4jError._hydrate_neo4j(code=code, message="ended"))

    assert isinstance(fault, Retryable)
    assert fault.code == "GRAPH_CONFLICT"
