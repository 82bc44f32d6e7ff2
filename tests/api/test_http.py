"""GraphQL over HTTP: media types, methods, bodies, credentials."""

import json

import pytest

from agentic_rag_server.parts import ServerOptions
from tests.api.builders import WORKSPACE_ID, Container, client, query

GRAPHQL = "application/graphql-response+json"
TYPENAME = {"query": "{ __typename }"}
CREATE = 'mutation { createWorkspace(input: {name: "new"}) { workspace { name } userErrors { code } } }'


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        (None, "application/json"),
        ("*/*", "application/json"),
        ("application/*", "application/json"),
        ("application/json", "application/json"),
        ("application/json; charset=utf-8", "application/json"),
        (GRAPHQL, GRAPHQL),
        (f"{GRAPHQL}, application/json;q=0.9", GRAPHQL),
        (f"{GRAPHQL};q=0.5, application/json;q=0.9", "application/json"),
        (f"application/json, {GRAPHQL}", GRAPHQL),
        (f"{GRAPHQL}, */*;q=0.1", GRAPHQL),
        ("text/html, */*", "application/json"),
    ],
)
async def test_the_answer_has_the_media_type_the_client_prefers(accept: str | None, media: str) -> None:
    async with client(Container()) as http:
        if accept is None:
            del http.headers["accept"]
        else:
            http.headers["accept"] = accept
        response = await http.post("/graphql", json=TYPENAME)

    assert response.status_code == 200
    assert response.headers["content-type"].split(";")[0] == media
    assert response.json() == {"data": {"__typename": "Query"}}


async def test_a_client_that_accepts_neither_type_is_told_so() -> None:
    async with client(Container()) as http:
        response = await http.post("/graphql", json=TYPENAME, headers={"accept": "image/png"})

    assert response.status_code == 406
    assert response.json()["errors"][0]["extensions"]["code"] == "NOT_ACCEPTABLE"


@pytest.mark.parametrize("document", ["{", "{ nonsense }", "query($a: Int!) { workspaces { id } }"])
async def test_documents_that_cannot_run_are_400_in_the_new_media_type_and_200_in_the_old(document: str) -> None:
    async with client(Container()) as http:
        new = await http.post("/graphql", json={"query": document}, headers={"accept": GRAPHQL})
        old = await http.post("/graphql", json={"query": document}, headers={"accept": "application/json"})

    assert (new.status_code, old.status_code) == (400, 200)
    assert "data" not in new.json()
    assert new.json()["errors"][0]["extensions"]["code"] in {"GRAPHQL_SYNTAX", "GRAPHQL_INVALID"}


async def test_wrong_variables_are_the_callers_fault() -> None:
    document = "query($first: Int!, $ws: ID!) { documents(workspaceId: $ws, first: $first) { nodes { id } } }"
    async with client(Container()) as http:
        response = await http.post(
            "/graphql",
            json={"query": document, "variables": {"first": "many", "ws": WORKSPACE_ID}},
            headers={"accept": GRAPHQL},
        )

    assert response.status_code == 400
    assert response.json()["errors"][0]["extensions"]["code"] == "GRAPHQL_INVALID"


async def test_an_error_inside_a_field_is_200_with_partial_data() -> None:
    document = '{ ok: __typename document(id: "bad") { id } }'
    async with client(Container()) as http:
        response = await http.post("/graphql", json={"query": document}, headers={"accept": GRAPHQL})

    assert response.status_code == 200
    assert response.json()["data"] == {"ok": "Query", "document": None}
    assert response.json()["errors"][0]["extensions"]["code"] == "INVALID_ID"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "BAD_JSON"),
        (b"{", 400, "BAD_JSON"),
        (b"[]", 400, "BAD_REQUEST"),
        (b'[{"query":"{__typename}"}]', 400, "BAD_REQUEST"),
        (b"1", 400, "BAD_REQUEST"),
        (b"null", 400, "BAD_REQUEST"),
        (b'"text"', 400, "BAD_REQUEST"),
        (b"{}", 400, "BAD_REQUEST"),
        (b'{"query": {}}', 400, "BAD_REQUEST"),
        (b'{"query": "  "}', 400, "BAD_REQUEST"),
        (b'{"query": "{ __typename }", "variables": []}', 400, "BAD_REQUEST"),
        (b'{"query": "{ __typename }", "variables": 7}', 400, "BAD_REQUEST"),
        (b'{"query": "{ __typename }", "operationName": {}}', 400, "BAD_REQUEST"),
        (b'{"query": "{ __typename }", "operationName": "Other"}', 400, "UNKNOWN_OPERATION"),
        (b'{"query": "query A { __typename } query B { __typename }"}', 400, "UNKNOWN_OPERATION"),
        (b'{"query": "{ __typename }", "extensions": "x"}', 400, "BAD_REQUEST"),
        (b'{"query": "\xff\xfe"}', 400, "BAD_JSON"),
        (b'{"query": "{ __typename }", "variables": {"a": "\\ud800"}}', 400, "BAD_JSON"),
        (b'{"query": "{ __typename }", "variables": {"a": NaN}}', 400, "BAD_JSON"),
        (b"[" * 100_000, 400, "BAD_JSON"),
        (b'{"query": "{ __typename }", "variables": ' + b'{"a":' * 5000 + b"1" + b"}" * 5001, 400, "BAD_JSON"),
    ],
)
async def test_a_body_that_is_no_operation_is_refused_with_a_code(body: bytes, status: int, code: str) -> None:
    async with client(Container()) as http:
        response = await http.post("/graphql", content=body, headers={"content-type": "application/json"})

    assert (response.status_code, response.json()["errors"][0]["extensions"]["code"]) == (status, code)


async def test_the_named_one_of_several_operations_runs() -> None:
    document = "query A { a: __typename } query B { b: __typename }"
    async with client(Container()) as http:
        response = await http.post("/graphql", json={"query": document, "operationName": "B"})

    assert response.json() == {"data": {"b": "Query"}}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content-type": "text/plain"},
        {"content-type": "application/json; charset=latin-1"},
        {"content-type": "application/json", "content-encoding": "gzip"},
    ],
)
async def test_other_content_is_415(headers: dict[str, str]) -> None:
    async with client(Container()) as http:
        response = await http.post("/graphql", content=json.dumps(TYPENAME).encode(), headers=headers)

    assert response.status_code == 415


@pytest.mark.parametrize("declared", [True, False])
async def test_a_large_body_is_413_whether_its_length_is_declared_or_not(declared: bool) -> None:
    container = Container(options=ServerOptions(enabled=True, max_body_bytes=2048))

    async def pieces():
        for _ in range(10):
            yield b" " * 1000

    async with client(container) as http:
        content = b" " * 10_000 if declared else pieces()
        response = await http.post("/graphql", content=content, headers={"content-type": "application/json"})

    assert (response.status_code, response.json()["errors"][0]["extensions"]["code"]) == (413, "BODY_TOO_LARGE")


async def test_get_answers_queries_with_json_parameters() -> None:
    parameters = {
        "query": "query Q($name: String!) { workspaceByName(name: $name) { name } }",
        "variables": '{"name": "handbook"}',
        "operationName": "Q",
    }
    async with client(Container()) as http:
        response = await http.get("/graphql", params=parameters)

    assert response.json() == {"data": {"workspaceByName": {"name": "handbook"}}}
    assert response.headers["cache-control"] == "no-store"


async def test_get_never_changes_anything() -> None:
    container = Container()
    async with client(container) as http:
        response = await http.get("/graphql", params={"query": CREATE})

    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert len(container.database.workspaces) == 1


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_other_methods_are_405(method: str) -> None:
    async with client(Container()) as http:
        response = await http.request(method, "/graphql")

    assert (response.status_code, response.headers["allow"]) == (405, "GET, POST")


@pytest.mark.parametrize(
    "header", [None, "Bearer wrong", "Bearer ", "Basic YWRtaW4=", "admin-token", "Bearer " + "x" * 9000]
)
async def test_without_a_valid_token_nothing_runs(header: str | None) -> None:
    container = Container()
    async with client(container, token=None) as http:
        headers = {"authorization": header} if header else {}
        response = await http.post("/graphql", json={"query": "{ workspaces { id } }"}, headers=headers)

    assert response.status_code == 401
    assert response.headers["www-authenticate"].startswith("Bearer")
    assert response.json()["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
    assert container.database.transactions == 0


async def test_a_trace_that_came_with_the_request_goes_on() -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"
    async with client(Container()) as http:
        response = await http.post(
            "/graphql", json={"query": "{ nope }"}, headers={"traceparent": f"00-{trace}-b7ad6b7169203331-01"}
        )

    assert response.headers["x-trace-id"] == trace
    assert response.json()["errors"][0]["extensions"]["traceId"] == trace


async def test_every_request_is_counted_under_a_route_pattern() -> None:
    container = Container()
    async with client(container) as http:
        await http.post("/graphql", json=TYPENAME)
        await http.get("/v1/documents/abc/source")
        await http.get("/wp-admin/setup.php")

    labels = [
        dict(labels) for name, labels, _ in container.telemetry.observations if name == "rag_http_request_seconds"
    ]
    assert labels == [
        {"route": "/graphql", "status": "200"},
        {"route": "/v1/documents/{id}/source", "status": "400"},
        {"route": "other", "status": "404"},
    ]


async def test_switched_off_means_feature_disabled_for_every_field() -> None:
    container = Container(options=ServerOptions(enabled=False))
    async with client(container) as http:
        response = await http.post("/graphql", json={"query": "{ workspaces { id } }"})
        mutation = await http.post("/graphql", json={"query": CREATE})

    assert response.json()["errors"][0]["extensions"]["code"] == "FEATURE_DISABLED"
    assert "AGENTIC_RAG_ENABLED" in response.json()["errors"][0]["message"]
    assert mutation.json()["errors"][0]["extensions"]["code"] == "FEATURE_DISABLED"


@pytest.mark.tells("request_refused")
async def test_introspection_can_be_switched_off() -> None:
    document = {"query": "{ __schema { types { name } } }"}
    async with client(Container()) as http:
        allowed = await http.post("/graphql", json=document)
    async with client(Container(options=ServerOptions(enabled=True, introspection=False))) as http:
        refused = await http.post("/graphql", json=document)
        other = await http.post("/graphql", json=TYPENAME)

    assert allowed.json()["data"]["__schema"]["types"]
    assert refused.json()["data"] is None
    assert refused.json()["errors"][0]["extensions"]["code"] == "INTROSPECTION_DISABLED"
    assert other.json()["data"] == {"__typename": "Query"}


async def test_a_trailing_slash_is_no_redirect_to_a_host_the_client_chose() -> None:
    async with client(Container()) as http:
        response = await http.get("/graphql/", headers={"host": "evil.example"})

    assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")
    assert "location" not in response.headers


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/v1/documents/x/source"])
async def test_a_wrong_method_is_a_typed_405(path: str) -> None:
    async with client(Container()) as http:
        response = await http.delete(path)

    assert (response.status_code, response.json()["error"]["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert "GET" in response.headers["allow"]


async def test_no_message_repeats_a_huge_request_or_the_words_of_python() -> None:
    huge = await query(
        Container(), 'query ($n: Int!) { runs(workspaceId: "x", first: $n) { nodes { id } } }', {"n": "Z" * 10**5}
    )
    digits = await query(Container(), '{ runs(workspaceId: "x", first: ' + "9" * 5000 + ") { nodes { id } } }")

    assert len(huge["errors"][0]["message"]) < 1100
    assert "set_int_max_str_digits" not in str(digits)
    assert digits["errors"][0]["extensions"]["code"] == "GRAPHQL_INVALID"
