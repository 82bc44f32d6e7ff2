"""What is said of documents: given with an upload, changed by PATCH and GraphQL, and asked for by filters."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from agentic_rag.documents.document import document_id_for
from agentic_rag.kernel.public_ids import NodeKind, encode
from tests.api.builders import REF, WORKSPACE, WORKSPACE_ID, client, query
from tests.api.rest_product import rest_product

UPDATE = """mutation($id: ID!, $title: String, $metadata: DocumentMetadataInput) {
  updateDocument(id: $id, title: $title, metadata: $metadata) {
    document { title metadata { tags domain language date fields { name type value } } }
    userErrors { code path } } }"""
SEARCH = """query($input: SearchPassagesInput!) { searchPassages(input: $input) {
  corpusVersion userErrors { code path message } } }"""
HANDBOOK = encode(NodeKind.DOCUMENT, WORKSPACE, document_id_for(REF, "handbook.md"))
SAID = {"tags": ["HR", "hr"], "domain": "People", "language": "de_AT", "date": "2024-03-01", "fields": {"n": 2.0}}
SHOWN = {"tags": ["hr"], "domain": "people", "language": "de-at", "date": "2024-03-01", "fields": {"n": 2}}


async def upload(product: Any, name: str, metadata: str, token: str = "admin-token") -> Any:
    form = {"files": {"file": (name, b"# Valve\n\nIt opens.", "text/markdown")}, "data": {"metadata": metadata}}
    async with client(product, token) as http:
        return await http.post(f"/v1/workspaces/{WORKSPACE_ID}/documents", **form)


async def test_metadata_comes_with_an_upload_and_again_with_the_same_bytes() -> None:
    product: Any = await rest_product()

    first = await upload(product, "valve.md", json.dumps(SAID))
    again = await upload(product, "valve.md", '{"tags": ["new"]}')
    async with client(product) as http:
        shown = (await http.get(first.json()["statusUrl"])).json()

    assert (first.status_code, again.status_code) == (202, 202)
    assert shown["metadata"] == {**SHOWN, "tags": ["new"]}


async def test_metadata_that_does_not_fit_is_refused_and_leaves_nothing() -> None:
    product: Any = await rest_product()
    wrong = ("{", "[]", '{"colour": 1}', '{"tags": "hr"}', '{"language": "german"}', '{"fields": {"a b": 1}}')

    refused = [await upload(product, "valve.md", text) for text in wrong]

    assert [one.status_code for one in refused] == [400] * len(wrong)
    assert {one.json()["error"]["code"] for one in refused} == {"INVALID_INPUT", "METADATA_INVALID"}
    assert len(await product.blobs.keys("")) == 1


async def test_patch_renames_and_describes_and_removes() -> None:
    product: Any = await rest_product()
    async with client(product) as http:
        path = f"/v1/documents/{HANDBOOK}"
        named = await http.patch(path, json={"title": "The handbook", "metadata": SAID})
        less = await http.patch(
            path, json={"metadata": {"tags": None, "domain": None, "fields": {"n": None, "m": "x"}}}
        )
        odd = await http.patch(path, json={"metadata": {"date": "soon"}})

    assert (named.status_code, named.json()["title"], named.json()["metadata"]) == (200, "The handbook", SHOWN)
    assert less.json()["metadata"] == {
        "tags": [], "domain": None, "language": "de-at", "date": "2024-03-01", "fields": {"m": "x"}
    }  # fmt: skip
    assert less.json()["title"] == "The handbook"
    assert odd.status_code == 400


async def test_graphql_says_the_same_and_refuses_with_a_path() -> None:
    product: Any = await rest_product()
    fields = [
        {"name": "team", "value": {"string": "core"}},
        {"name": "due", "value": {"date": "2024-06-30"}},
        {"name": "open", "value": {"boolean": False}},
        {"name": "share", "value": {"number": 0.5}},
    ]
    two = [{"name": "team", "value": {"string": "a", "number": 1}}]

    said = await query(product, UPDATE, {"id": HANDBOOK, "title": "H", "metadata": {"tags": ["b"], "fields": fields}})
    odd = await query(product, UPDATE, {"id": HANDBOOK, "metadata": {"fields": two}})

    document = said["data"]["updateDocument"]["document"]
    assert (document["title"], document["metadata"]["tags"]) == ("H", ["b"])
    assert [(one["name"], one["type"], one["value"]) for one in document["metadata"]["fields"]] == [
        ("due", "DATE", "2024-06-30"),
        ("open", "BOOLEAN", "false"),
        ("share", "NUMBER", "0.5"),
        ("team", "STRING", "core"),
    ]
    [error] = odd["data"]["updateDocument"]["userErrors"]
    assert error["path"] == ["metadata", "fields", "0", "value"]


async def test_a_broken_filter_is_refused_by_both_with_its_place() -> None:
    product: Any = await rest_product()
    asked = {"query": "pump", "workspaceId": WORKSPACE_ID}

    by_graphql = await query(product, SEARCH, {"input": {**asked, "filter": {"where": "tag=a colour=red"}}})
    async with client(product) as http:
        by_rest = await http.post("/v1/search", json={**asked, "where": "tag=a colour=red"})
        fitting = await http.post("/v1/search", json={**asked, "where": "tag=a path=*.md"})

    [error] = by_graphql["data"]["searchPassages"]["userErrors"]
    assert (error["code"], error["path"]) == ("FILTER_INVALID", ["filter", "where"])
    assert "at character 7" in error["message"]
    assert by_rest.json()["error"]["code"] == "FILTER_INVALID"
    assert (fitting.status_code, fitting.json()["passages"]) == (200, [])


TYPED = {
    "tagsAny": ["HR"], "languages": ["de"], "dateFrom": "2024-01-01", "pathGlobs": ["*.md"],
}  # fmt: skip


async def test_graphql_and_rest_read_a_typed_filter_alike() -> None:
    asked = {"query": "pump", "workspaceId": WORKSPACE_ID}
    over_graphql = [{"name": "pages", "values": [{"number": 7}], "comparison": "AT_LEAST"}]
    over_rest = [{"name": "pages", "values": [7], "comparison": "AT_LEAST"}]
    filters = list[Any]()
    product: Any = await rest_product()
    search = product.search.run

    async def run(principal: Any, question: Any) -> Any:
        filters.append(question.options.filter)
        return await search(principal, question)

    product.search = SimpleNamespace(run=run)
    await query(product, SEARCH, {"input": {**asked, "filter": {**TYPED, "fields": over_graphql, "where": "tag=a"}}})
    async with client(product) as http:
        found = await http.post(
            "/v1/search", json={**asked, "filter": {**TYPED, "fields": over_rest}, "where": "tag=a"}
        )

    assert found.status_code == 200
    assert filters[0] == filters[1]
    assert (filters[0].tags, filters[0].languages) == ((("hr",), ("a",)), ("de",))


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"fields": [{"name": "a b", "values": [1]}]}, "METADATA_INVALID"),
        ({"fields": [{"name": "a", "values": ["x"], "comparison": "ABOVE"}]}, "FILTER_INVALID"),
        ({"languages": ["german!"]}, "METADATA_INVALID"),
        ({"documentIds": ["nothing"]}, "INVALID_ID"),
        ({"colour": "red"}, "INVALID_INPUT"),
    ],
)
async def test_a_typed_filter_that_does_not_fit_is_refused(wrong: dict[str, Any], code: str) -> None:
    product: Any = await rest_product()
    async with client(product) as http:
        searched = await http.post("/v1/search", json={"query": "pump", "workspaceId": WORKSPACE_ID, "filter": wrong})
        prepared = await http.post(
            "/v1/context",
            json={"query": "pump", "workspaces": [{"workspaceId": WORKSPACE_ID}], "template": "x", "filter": wrong},
        )

    assert [one.status_code for one in (searched, prepared)] == [400, 400]
    assert [one.json()["error"]["code"] for one in (searched, prepared)] == [code, code]


async def test_a_workspace_is_renamed_and_keeps_its_id() -> None:
    product: Any = await rest_product()
    rename = """mutation($id: ID!, $name: String!) { renameWorkspace(workspaceId: $id, name: $name) {
      workspace { id name } userErrors { code path } } }"""

    renamed = await query(product, rename, {"id": WORKSPACE_ID, "name": " staff "})
    odd = await query(product, rename, {"id": WORKSPACE_ID, "name": "\n"})

    assert renamed["data"]["renameWorkspace"]["workspace"] == {"id": WORKSPACE_ID, "name": "staff"}
    assert odd["data"]["renameWorkspace"]["userErrors"] == [{"code": "INVALID_INPUT", "path": ["name"]}]


async def test_documents_are_listed_by_words_of_their_titles() -> None:
    product: Any = await rest_product()
    async with client(product) as http:
        await http.patch(f"/v1/documents/{HANDBOOK}", json={"title": "The Staff Guide"})
    document = """query($ws: ID!, $words: String) { documents(workspaceId: $ws, filter: {words: $words}) {
        totalCount nodes { title } } }"""

    async def listed(words: str) -> Any:
        return (await query(product, document, {"ws": WORKSPACE_ID, "words": words}))["data"]["documents"]

    assert await listed("guide STAFF") == {"totalCount": 1, "nodes": [{"title": "The Staff Guide"}]}
    assert await listed("handbook") == await listed("")
    assert await listed("guide other") == {"totalCount": 0, "nodes": []}
    refused = await query(product, document, {"ws": WORKSPACE_ID, "words": "x" * 201})
    assert refused["errors"][0]["extensions"]["code"] == "FILTER_INVALID"
