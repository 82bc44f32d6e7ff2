"""The Neo4j of the tests themselves."""

from pathlib import Path

import neo4j
import pytest
from tests.neo4j_server import USER, Neo4jServer, answers

pytestmark = pytest.mark.integration


# Only rows of `make chaos` that run by night stop a Neo4j and start it again.
@pytest.mark.nightly
@pytest.mark.slow
def test_a_server_keeps_its_data_over_a_stop_and_asks_for_its_password(tmp_path: Path) -> None:
    server = Neo4jServer(tmp_path, "a password of this test")
    try:
        uri = server.start()
        with neo4j.GraphDatabase.driver(uri, auth=(USER, server.password or "")) as driver:
            driver.execute_query("CREATE (:Kept {id: 1})")
        server.stop()
        assert not answers(uri, server.password)

        server.start()

        with neo4j.GraphDatabase.driver(uri, auth=(USER, server.password or "")) as driver:
            kept = driver.execute_query("MATCH (n:Kept) RETURN count(n) AS n").records[0]["n"]
        assert (server.uri, kept) == (uri, 1)
        assert not answers(uri, None)
    finally:
        server.stop()
