"""Operations named by id, servers that run nothing else, and the headers that go with every answer."""

import hashlib
import json
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag_server.graphql.http.persisted import MOST_REGISTERED, PersistedOperations, load_persisted_operations
from agentic_rag_server.graphql.http.responses import RequestFault, operation_from
from agentic_rag_server.parts import ServerOptions
from tests.api.builders import ORG, Container, client

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


def named_by_hash(document: str, *, send: bool) -> dict[str, Any]:
    persisted = {"version": 1, "sha256Hash": hashlib.sha256(document.encode()).hexdigest()}
    return {"extensions": {"persistedQuery": persisted}} | ({"query": document} if send else {})


async def test_a_client_registers_a_document_by_sending_it_once_with_its_hash() -> None:
    async with client(Container()) as http:
        unknown = await http.post("/graphql", json=named_by_hash(NAME, send=False))
        registered = await http.post("/graphql", json=named_by_hash(NAME, send=True))
        again = await http.post("/graphql", json=named_by_hash(NAME, send=False))

    assert (unknown.status_code, unknown.json()["errors"][0]["message"]) == (200, "PersistedQueryNotFound")
    assert unknown.json()["errors"][0]["extensions"]["code"] == "PERSISTED_QUERY_NOT_FOUND"
    assert registered.json() == again.json() == {"data": {"__typename": "Query"}}


async def test_a_document_under_the_hash_of_another_is_not_registered() -> None:
    forged = named_by_hash(NAME, send=True) | {"query": "{ workspaces { id } }"}

    assert await code_of(Container(), forged) == "PERSISTED_QUERY_HASH"


async def test_a_server_of_persisted_operations_only_registers_none(file: Path) -> None:
    container = Container(options=ServerOptions(persisted_operations=file, persisted_only=True))

    assert await code_of(container, named_by_hash("{ __typename }", send=True)) == "PERSISTED_OPERATION_REQUIRED"
    assert await code_of(container, named_by_hash("{ __typename }", send=False)) == "PERSISTED_OPERATION_UNKNOWN"


def is_known(operations: PersistedOperations, document: str, org_id: UUID) -> bool:
    try:
        operations.resolve_document(operation_from(named_by_hash(document, send=False)), org_id)
    except RequestFault:
        return False
    return True


def test_what_an_organisation_registers_is_unknown_to_others_and_the_longest_unused_goes() -> None:
    operations = load_persisted_operations(None, only=False)
    documents = [f"query Q{n} {{ __typename }}" for n in range(MOST_REGISTERED + 1)]
    for document in documents:
        operations.resolve_document(operation_from(named_by_hash(document, send=True)), ORG)

    assert is_known(operations, documents[-1], ORG)
    assert not is_known(operations, documents[-1], uuid4())
    assert is_known(operations, documents[1], ORG)
    assert not is_known(operations, documents[0], ORG)


def test_an_organisation_that_registers_without_end_drives_out_its_own_documents_only() -> None:
    operations, greedy = load_persisted_operations(None, only=False), uuid4()
    operations.resolve_document(operation_from(named_by_hash(NAME, send=True)), ORG)
    for n in range(2 * MOST_REGISTERED):
        document = f"query Q{n} {{ __typename }}"
        operations.resolve_document(operation_from(named_by_hash(document, send=True)), greedy)

    assert is_known(operations, NAME, ORG)
    assert is_known(operations, document, greedy)
    assert not is_known(operations, f"query Q{MOST_REGISTERED} {{ __typename }}", greedy)


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
