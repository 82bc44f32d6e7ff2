"""Operations named by id, servers that run nothing else, and the headers that go with every answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag_server.graphql.http.persisted import load_persisted_operations
from agentic_rag_server.parts import ServerOptions
from tests.api.builders import Container, client

NAME = "query Name { __typename }"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "operations.json"
    path.write_text(json.dumps({"sha256:1": NAME}))
    return path


async def code_of(container: Container, body: dict[str, Any]) -> str:
    async with client(container) as http:
        answer = (await http.post("/graphql", json=body)).json()
    return answer["errors"][0]["extensions"]["code"] if "errors" in answer else answer["data"]["__typename"]


async def test_an_operation_runs_by_its_id_however_the_client_sends_it(file: Path) -> None:
    container = Container(options=ServerOptions(persisted_operations=file))

    assert await code_of(container, {"documentId": "sha256:1"}) == "Query"
    assert await code_of(container, {"extensions": {"persistedQuery": {"sha256Hash": "sha256:1"}}}) == "Query"
    assert await code_of(container, {"query": "{ __typename }"}) == "Query"
    assert await code_of(container, {"documentId": "sha256:2"}) == "PERSISTED_OPERATION_UNKNOWN"
    assert await code_of(container, {"documentId": 7}) == "BAD_REQUEST"


async def test_a_server_that_takes_persisted_operations_only_runs_no_other(file: Path) -> None:
    container = Container(options=ServerOptions(persisted_operations=file, persisted_only=True))

    assert await code_of(container, {"query": NAME}) == "Query"
    assert await code_of(container, {"query": "{ __typename }"}) == "PERSISTED_OPERATION_REQUIRED"
    smuggled = {"documentId": "sha256:1", "query": "{ workspaces { id } }"}
    assert await code_of(container, smuggled) == "PERSISTED_OPERATION_REQUIRED"


async def test_a_file_that_maps_no_ids_to_documents_stops_the_server(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text('["{ __typename }"]')
    for path in (wrong, tmp_path / "missing.json"):
        with pytest.raises(Misconfigured):
            load_persisted_operations(path, only=True)


@pytest.mark.parametrize("path", ["/healthz", "/graphql", "/nowhere"])
async def test_every_answer_tells_browsers_to_do_nothing_with_it(path: str) -> None:
    async with client(Container(options=ServerOptions(behind_tls=True))) as http:
        headers = (await http.get(path)).headers

    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "max-age" in headers["strict-transport-security"]
