"""Certificates, proofs and re-ingestion through GraphQL and REST."""

import pytest

from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from tests.api.builders import (
    NOW,
    WORKSPACE,
    WORKSPACE_ID,
    Container,
    FakeStores,
    a_document,
    client,
    document_id,
    numbered,
    query,
)

OWN = (numbered(1), numbered(2))
CERTIFICATE = "{ corpusVersion complete stores { store count done } notCovered { place takenAt } }"
DELETE = f"mutation($id: ID!) {{ deleteDocument(id: $id) {{ certificate {CERTIFICATE} }} }}"
PROVE = f"query($id: ID!) {{ proveErased(documentId: $id) {{ erased certificate {CERTIFICATE} findings {{ kind }} }} }}"
REINGEST = """mutation($id: ID!, $force: Boolean!) {
  reingest(documentId: $id, force: $force) { jobId new document { status } userErrors { code } } }"""
JOB = encode(NodeKind.JOB, WORKSPACE, numbered(901))


def path(number: int = 1, tail: str = "", workspace: str = WORKSPACE_ID) -> str:
    return f"/v1/workspaces/{workspace}/documents/{document_id(number)}{tail}"


async def test_deleting_gives_a_certificate_that_says_what_it_does_not_cover() -> None:
    body = await query(Container(), DELETE, {"id": document_id(1)})

    shown = body["data"]["deleteDocument"]["certificate"]
    assert shown["complete"] is True
    assert {"store": "chunks", "count": 3, "done": True} in shown["stores"]
    assert shown["notCovered"][-1] == {"place": "snapshot", "takenAt": NOW.isoformat()}


@pytest.mark.parametrize(("token", "of_others"), [("member-token", [None] * 3), ("admin-token", [2, 1, 6])])
async def test_an_owner_is_told_no_count_that_depends_on_others(token: str, of_others: list[int | None]) -> None:
    counts = "chunks entities runsRedacted cacheEntries"
    deletion = f"mutation($id: ID!) {{ deleteDocument(id: $id) {{ erased {{ {counts} }} certificate {CERTIFICATE} }} }}"
    stores = FakeStores(documents={one: a_document(1, document_id=one, uploaded_by="user:mona") for one in OWN})
    container = Container(database=stores)

    shown = (await query(container, deletion, {"id": document_id(1)}, token))["data"]["deleteDocument"]
    async with client(container, token) as http:
        by_rest = (await http.delete(path(2))).json()["certificate"]

    assert [shown["erased"][name] for name in counts.split()] == [3, *of_others]
    entities, _, cached = of_others
    for certificate in (shown["certificate"], by_rest):
        told = {one["store"]: one["count"] for one in certificate["stores"]}
        assert told == {"chunks": 3, "entities": entities, "cache": cached, "originals": 1}
        assert certificate["complete"] is True


async def test_an_erased_document_can_be_proven_and_a_live_one_is_told_apart() -> None:
    gone = await query(Container(), PROVE, {"id": document_id(9)})
    live = await query(Container(), PROVE, {"id": document_id(1)})
    never = await query(Container(), PROVE, {"id": document_id(55)})

    assert gone["data"]["proveErased"]["erased"] is True
    assert live["data"]["proveErased"] == {
        "erased": False, "certificate": None, "findings": [{"kind": "DOCUMENT_LIVE"}],
    }  # fmt: skip
    assert never["errors"][0]["extensions"]["code"] == "DOCUMENT_NOT_FOUND"


async def test_a_document_is_queued_again() -> None:
    body = await query(Container(), REINGEST, {"id": document_id(1), "force": False})

    assert body["data"]["reingest"] == {
        "jobId": JOB, "new": True, "document": {"status": "PENDING"}, "userErrors": [],
    }  # fmt: skip


async def test_a_document_without_an_original_says_so() -> None:
    stores = FakeStores(documents={numbered(1): a_document(1, content_hash=None)})

    body = await query(Container(database=stores), REINGEST, {"id": document_id(1), "force": False})

    assert body["data"]["reingest"]["userErrors"] == [{"code": "ORIGINAL_MISSING"}]


@pytest.mark.parametrize(("document", "more"), [(DELETE, {}), (PROVE, {}), (REINGEST, {"force": False})])
async def test_a_viewer_neither_deletes_nor_proves_nor_ingests(document: str, more: dict[str, object]) -> None:
    body = await query(Container(), document, {"id": document_id(1), **more}, token="viewer-token")

    assert body["errors"][0]["extensions"]["code"] == "FORBIDDEN"


async def test_rest_deletes_with_the_same_certificate() -> None:
    container = Container()
    async with client(container) as http:
        first = await http.delete(path())
        second = await http.delete(path())

    assert first.status_code == 200
    assert first.json()["deletedId"] == document_id(1)
    assert first.json()["certificate"]["stores"][0] == {"store": "chunks", "count": 3, "done": True}
    assert second.status_code == 404
    assert second.json()["error"]["code"] == "DOCUMENT_NOT_FOUND"


async def test_whoever_deletes_is_named_over_rest_as_over_graphql() -> None:
    over_rest, over_graphql = Container(), Container()

    async with client(over_rest) as http:
        await http.delete(path())
    await query(over_graphql, DELETE, {"id": document_id(1)})

    assert over_rest.database.deleted_by == over_graphql.database.deleted_by == ["user:ada"]


async def test_rest_queues_a_document_again() -> None:
    async with client(Container()) as http:
        plain = await http.post(path(tail="/reingest"))
        forced = await http.post(path(tail="/reingest"), params={"force": "true"})
        odd = await http.post(path(tail="/reingest"), params={"force": "perhaps"})

    assert plain.status_code == 202
    assert plain.json() == {"documentId": document_id(1), "status": "PENDING", "jobId": JOB, "new": True}
    assert forced.json()["new"] is False
    assert odd.status_code == 400


@pytest.mark.parametrize("token", ["viewer-token", "other-token", None])
async def test_rest_changes_nothing_for_those_who_may_not(token: str | None) -> None:
    container = Container()
    async with client(container, token) as http:
        deleted = await http.delete(path())
        queued = await http.post(path(tail="/reingest"))

    expected = {"viewer-token": 403, "other-token": 404, None: 401}[token]
    assert (deleted.status_code, queued.status_code) == (expected, expected)
    assert numbered(1) in container.database.documents


async def test_a_document_is_not_found_under_another_workspace() -> None:
    async with client(Container()) as http:
        response = await http.delete(path(workspace=encode_workspace(numbered(77))))

    assert response.status_code == 404
