"""Workspaces, documents, runs and jobs through GraphQL."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.documents.document import DocumentFault, DocumentStatus
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode, encode, encode_in_organisation, encode_workspace
from tests.api.builders import (
    ORG,
    WORKSPACE,
    WORKSPACE_ID,
    Container,
    FakeStores,
    a_document,
    a_run,
    document_id,
    numbered,
    query,
)

RUN_ID = encode(NodeKind.RUN, WORKSPACE, numbered(500))
JOB_ID = encode(NodeKind.JOB, WORKSPACE, numbered(900))
DELETE = """mutation($id: ID!) {
  deleteDocument(id: $id) { deletedId corpusVersion unfinished erased %s userErrors { code } }
}"""
CREATE = "mutation($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { workspace { id name } %s } }"

DELETE_RUN = "mutation($id: ID!) { deleteRun(id: $id) { deletedId userErrors { code } } }"

OF_ORGANISATION = (NodeKind.WORKSPACE, NodeKind.API_KEY)
uuids = st.uuids()


@given(st.sampled_from([kind for kind in NodeKind if kind not in OF_ORGANISATION]), uuids, uuids)
def test_an_id_read_back_is_what_was_encoded(kind: NodeKind, workspace_id, key) -> None:
    node = decode(encode(kind, workspace_id, key), kind)

    assert (node.kind, node.workspace_id, node.key) == (kind, workspace_id, key)


@given(st.sampled_from(OF_ORGANISATION), uuids)
def test_an_id_of_a_thing_of_the_organisation_read_back_is_what_was_encoded(kind: NodeKind, key) -> None:
    assert decode(encode_in_organisation(kind, key), kind).key == key


@given(st.one_of(st.text(max_size=50), st.text("ABCDEFabcdef0123456789-_=", min_size=20, max_size=48)))
def test_a_text_is_one_id_in_one_spelling_or_refused(text: str) -> None:
    try:
        node = decode(text)
    except InvalidInput as error:
        assert error.code == "INVALID_ID"  # noqa: PT017
        return
    if node.kind is NodeKind.WORKSPACE:
        assert encode_workspace(node.key) == text
    else:
        assert encode(node.kind, node.workspace_id, node.key) == text


def test_ids_never_hold_the_organisation() -> None:
    for text in (WORKSPACE_ID, document_id(1), RUN_ID):
        assert ORG not in (decode(text).workspace_id, decode(text).key)


@pytest.mark.parametrize(
    ("id", "kind"), [(WORKSPACE_ID, "Workspace"), (document_id(1), "Document"), (RUN_ID, "Run"), (JOB_ID, "Job")]
)
async def test_node_finds_anything_by_its_id(id: str, kind: str) -> None:
    body = await query(Container(), "query($id: ID!) { node(id: $id) { id __typename } }", {"id": id})

    assert body["data"]["node"] == {"id": id, "__typename": kind}


@pytest.mark.parametrize("id", [WORKSPACE_ID, document_id(1), RUN_ID, JOB_ID])
async def test_another_organisation_finds_nothing_under_the_same_ids(id: str) -> None:
    body = await query(Container(), "query($id: ID!) { node(id: $id) { id } }", {"id": id}, token="other-token")

    assert body == {"data": {"node": None}}


async def test_another_organisation_gets_the_error_of_a_missing_workspace() -> None:
    document = "query($ws: ID!) { documents(workspaceId: $ws) { nodes { id } } }"
    mine_missing = await query(Container(), document, {"ws": encode_workspace(numbered(77))})
    foreign = await query(Container(), document, {"ws": WORKSPACE_ID}, token="other-token")

    assert mine_missing["errors"][0]["message"] == foreign["errors"][0]["message"]
    assert foreign["errors"][0]["extensions"]["code"] == "WORKSPACE_NOT_FOUND"


async def test_pages_follow_each_other_by_cursor() -> None:
    stores = FakeStores(documents={numbered(it): a_document(it) for it in range(1, 6)})
    document = """query($ws: ID!, $after: String) { documents(workspaceId: $ws, first: 2, after: $after) {
        edges { cursor node { title } } nodes { id } pageInfo { hasNextPage endCursor } } }"""
    seen, after, page = [], None, dict[str, Any]()

    for _ in range(3):
        body = await query(Container(database=stores), document, {"ws": WORKSPACE_ID, "after": after})
        page = body["data"]["documents"]
        seen += [edge["node"]["title"] for edge in page["edges"]]
        after = page["pageInfo"]["endCursor"]

    assert seen == [f"Document {it}" for it in range(1, 6)]
    assert page["pageInfo"]["hasNextPage"] is False


@pytest.mark.parametrize("first", [0, -1, 101])
async def test_a_page_has_one_to_a_hundred_rows(first: int) -> None:
    document = "query($ws: ID!, $n: Int!) { runs(workspaceId: $ws, first: $n) { nodes { id } } }"

    body = await query(Container(), document, {"ws": WORKSPACE_ID, "n": first})

    assert body["errors"][0]["extensions"]["argument"] == ["first"]


async def test_documents_are_filtered_by_status_and_say_why_they_failed() -> None:
    fault = DocumentFault("PARSE_ENCRYPTED", "The file has a password.", 1, False)
    broken = a_document(2, status=DocumentStatus.FAILED, fault=fault)
    stores = FakeStores(documents={numbered(1): a_document(1), numbered(2): broken})
    document = """query($ws: ID!) { documents(workspaceId: $ws, statuses: [FAILED]) {
        nodes { status error { code message attempts retryable } provenance { name value } downloadPath
        embedding { space chunks tokens reusedChunks costUsd estimatedCostUsd } } } }"""

    body = await query(Container(database=stores), document, {"ws": WORKSPACE_ID})

    (node,) = body["data"]["documents"]["nodes"]
    assert node["error"] == {
        "code": "PARSE_ENCRYPTED",
        "message": "The file has a password.",
        "attempts": 1,
        "retryable": False,
    }
    assert node["embedding"] == {
        "space": "s",
        "chunks": 2,
        "tokens": 40,
        "reusedChunks": 1,
        "costUsd": 8e-07,
        "estimatedCostUsd": 1e-06,
    }
    assert node["provenance"] == [{"name": "source", "value": "directory"}]
    assert node["downloadPath"] == f"/v1/documents/{document_id(2)}/source"


async def test_jobs_show_their_fault_and_keep_their_arguments() -> None:
    document = """query($ws: ID!) { jobs(workspaceId: $ws, states: [DEAD], kinds: [INGEST]) {
        nodes { id kind state attempts errorCode documentId } } }"""

    body = await query(Container(), document, {"ws": WORKSPACE_ID})

    (node,) = body["data"]["jobs"]["nodes"]
    assert (node["id"], node["state"], node["errorCode"]) == (JOB_ID, "DEAD", "PARSE_CORRUPT")
    assert node["documentId"] == document_id(1)
    assert "secret-path" not in str(body)


async def test_runs_show_their_answers() -> None:
    document = "query($ws: ID!) { runs(workspaceId: $ws) { nodes { id answer citations { page } stages { stage } } } }"

    body = await query(Container(), document, {"ws": WORKSPACE_ID})

    (node,) = body["data"]["runs"]["nodes"]
    assert (node["id"], node["citations"][0]["page"], node["stages"]) == (RUN_ID, 2, [{"stage": "gate"}])


async def test_a_list_of_documents_tells_how_many_all_its_pages_show() -> None:
    document = (
        "query($ws: ID!, $s: [DocumentStatus!]) { documents(workspaceId: $ws, first: 1, statuses: $s) { totalCount } }"
    )
    container = Container(database=FakeStores(documents={numbered(n): a_document(n) for n in (1, 2, 3)}))

    counted = [
        (await query(container, document, {"ws": WORKSPACE_ID, "s": statuses}))["data"]["documents"]["totalCount"]
        for statuses in (None, ["FAILED"])
    ]

    assert counted == [3, 0]


async def test_a_list_of_runs_is_narrowed_and_counted() -> None:
    document = "query($ws: ID!, $f: RunFilterInput) { runs(workspaceId: $ws, filter: $f) { totalCount nodes { id } } }"

    async def found(**wanted: Any) -> tuple[int, list[str]]:
        runs = (await query(Container(), document, {"ws": WORKSPACE_ID, "f": wanted}))["data"]["runs"]
        return runs["totalCount"], [one["id"] for one in runs["nodes"]]

    assert await found() == await found(words=a_run().question.upper()[:5]) == (1, [RUN_ID])
    assert await found(outcomes=["ABSTAINED"]) == await found(before="2020-01-01T00:00:00") == (0, [])

    for wrong in ("x" * 201, "crane\0"):
        refused = await query(Container(), document, {"ws": WORKSPACE_ID, "f": {"words": wrong}})
        assert refused["errors"][0]["extensions"]["code"] == "FILTER_INVALID"


async def test_a_workspace_is_made_once() -> None:
    container = Container()
    made = await query(container, CREATE % "userErrors { code }", {"input": {"name": "policies", "kind": "PROJECT"}})
    again = await query(container, CREATE % "userErrors { code path }", {"input": {"name": "policies"}})
    found = await query(container, '{ workspaceByName(name: "policies") { id kind } workspaces { name } }')

    assert made["data"]["createWorkspace"]["userErrors"] == []
    assert again["data"]["createWorkspace"] == {
        "workspace": None,
        "userErrors": [{"code": "WORKSPACE_EXISTS", "path": ["name"]}],
    }
    assert found["data"]["workspaceByName"] == {
        "id": made["data"]["createWorkspace"]["workspace"]["id"],
        "kind": "PROJECT",
    }
    assert found["data"]["workspaces"] == [{"name": "handbook"}, {"name": "policies"}]


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\nb", "a\0b"])
async def test_a_workspace_has_a_printable_name(name: str) -> None:
    body = await query(Container(), CREATE % "userErrors { code path }", {"input": {"name": name}})

    assert body["data"]["createWorkspace"]["userErrors"] == [{"code": "INVALID_INPUT", "path": ["input", "name"]}]


async def test_deleting_a_document_returns_the_counts_of_its_erasure() -> None:
    container = Container()
    shown = (
        "{ revisions chunks vectors postings mentions entities staged runsRedacted jobsRedacted cacheEntries blobs }"
    )
    first = await query(container, DELETE % shown, {"id": document_id(1)})
    second = await query(container, DELETE % "{ chunks }", {"id": document_id(1)})

    assert first["data"]["deleteDocument"] == {
        "deletedId": document_id(1),
        "corpusVersion": 8,
        "unfinished": [],
        "erased": {
            "revisions": 1,
            "chunks": 3,
            "vectors": 3,
            "postings": 3,
            "mentions": 5,
            "entities": 2,
            "staged": 0,
            "runsRedacted": 1,
            "jobsRedacted": 2,
            "cacheEntries": 6,
            "blobs": 1,
        },
        "userErrors": [],
    }
    assert second["data"]["deleteDocument"]["userErrors"] == [{"code": "DOCUMENT_NOT_FOUND"}]


async def test_another_organisation_deletes_nothing() -> None:
    container = Container()

    body = await query(container, DELETE % "{ chunks }", {"id": document_id(1)}, token="other-token")

    assert body["data"]["deleteDocument"]["userErrors"] == [{"code": "DOCUMENT_NOT_FOUND"}]
    assert numbered(1) in container.database.documents


@pytest.mark.parametrize(
    ("document", "variables"),
    [(DELETE % "{ chunks }", {"id": document_id(1)}), (CREATE % "userErrors { code }", {"input": {"name": "new"}})],
)
async def test_a_viewer_changes_nothing(document: str, variables: dict[str, object]) -> None:
    container = Container()

    body = await query(container, document, variables, token="viewer-token")

    assert body["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert numbered(1) in container.database.documents
    assert len(container.database.workspaces) == 1


async def test_a_database_that_is_down_takes_only_the_fields_that_need_it() -> None:
    stores = FakeStores(failure=DependencyUnavailable("Postgres does not answer.", dependency="postgres"))

    document = "query($ws: ID!, $run: ID!) { workspace(id: $ws) { id } run(id: $run) { id } }"
    body = await query(Container(database=stores), document, {"ws": WORKSPACE_ID, "run": RUN_ID})

    assert body["data"] == {"workspace": None, "run": {"id": RUN_ID}}
    assert body["errors"][0]["extensions"]["dependency"] == "postgres"


async def test_a_run_is_deleted_in_the_name_of_the_caller_by_its_id() -> None:
    container, deleted = Container(), list[Any]()

    async def delete_run(principal: Any, workspace: Any, run_id: Any) -> None:
        deleted.append((principal.subject_id, workspace.workspace_id, run_id))

    container.threads = SimpleNamespace(delete_run=delete_run)
    data = await query(container, DELETE_RUN, {"id": RUN_ID}, token="viewer-token")

    assert data["data"]["deleteRun"] == {"deletedId": RUN_ID, "userErrors": []}
    assert [one[1:] for one in deleted] == [(WORKSPACE, numbered(500))]
