"""The OpenAPI document: it covers what is served, and what is served keeps to it."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from starlette.routing import Route, WebSocketRoute

from agentic_rag.documents.document import document_id_for
from agentic_rag.ingestion.upload import UploadOptions
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.workspaces.workspace import agent, project
from agentic_rag_server.app import build_app
from agentic_rag_server.rest.api import operations
from agentic_rag_server.rest.http.openapi import document
from tests.api.builders import ORG, REF, WORKSPACE, WORKSPACE_ID, Container, client, schema_of
from tests.api.builders import TOKENS as CALLERS
from tests.api.rest_product import RestProduct, pieces, rest_product

EXAMPLES = settings().max_examples // 5
"""Requests per operation, each generated from the document: 10 of `make test`, 200 of the night."""

HANDBOOK = encode(NodeKind.DOCUMENT, WORKSPACE, document_id_for(REF, "handbook.md"))
TOKENS = ("admin-token", "admin-token", "viewer-token", "nobody")
KNOWN = {
    "documents": {"workspace": WORKSPACE_ID, "document": HANDBOOK, "id": HANDBOOK},
    "guidelines": {"id": "web-shop"},
    "files": {"document": HANDBOOK},
    "vector stores": {"workspace": WORKSPACE_ID, "document": HANDBOOK},
    "agent documents": {"orgId": str(ORG), "id": "brand-judge"},
}
"""Half of the requests name what is there, else none would come past the look-up."""


async def product() -> RestProduct:
    """Something of everything."""
    made = await rest_product()
    for holder in (project(ORG, "web-shop"), agent(ORG, "brand-judge")):
        workspace = await made.attachments.open(holder, "ada")
        await made.upload.run(
            workspace.ref, "tone.md", pieces(b"Short sentences."), UploadOptions(), CALLERS["admin-token"]
        )
    return made


def served() -> dict[str, Any]:
    return document(operations(Container()))


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


async def test_the_document_is_served_without_a_token() -> None:
    async with client(Container(), token=None) as http:
        response = await http.get("/openapi.json")

    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert response.json()["openapi"] == "3.1.0"


TAKES_NO_TOKEN = {
    "healthz", "readyz", "metrics", "openapi", "getResourceMetadata", "getMcpResourceMetadata",
}  # fmt: skip
"""`readyz` and `metrics` take one in production."""

OF_NO_OPERATION = {
    ("/graphql", None),
    ("/mcp", "POST"),
    ("/", "GET"),
    ("/console", "GET"),
    ("/console/{version}/{name:path}", "GET"),
    ("/console/sample", "GET"),
    ("/console/sample/{name}", "GET"),
    ("/console/sign-in", "POST"),
}
"""GraphQL and MCP, whose fields and tools have rules of their own; pages for people, the sample that anybody may have,
and the exchange of a code for a token.
"""


def test_every_route_and_method_that_is_served_is_described() -> None:
    described = {(path, method.upper()) for path, item in served()["paths"].items() for method in item}
    routes = [route for route in build_app(Container()).routes if isinstance(route, Route)]
    reachable = {(route.path, method) for route in routes for method in (route.methods or {None}) - {"HEAD"}}

    assert reachable == described | OF_NO_OPERATION


def test_every_other_operation_asks_for_a_token() -> None:
    parts: Any = Container()
    sockets = [one for one in build_app(parts).routes if not isinstance(one, Route)]

    assert {one.name for one in operations(parts) if one.rule is None} == TAKES_NO_TOKEN
    assert [one.path for one in sockets if isinstance(one, WebSocketRoute)] == ["/graphql"]
    assert len(sockets) == 1


def test_every_reference_leads_to_a_valid_schema() -> None:
    shown = served()
    schemas = shown["components"]["schemas"]

    assert {one.removeprefix("#/components/schemas/") for one in references(shown)} <= schemas.keys()
    for schema in schemas.values():
        jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


def test_operation_ids_are_unique_and_every_operation_says_what_it_refuses() -> None:
    shown = [one for item in served()["paths"].values() for one in item.values()]

    assert len({one["operationId"] for one in shown}) == len(shown)
    for one in shown:
        if one["security"]:
            assert {"401", "403", "500"} <= one["responses"].keys(), one["operationId"]
        assert re.fullmatch(r"\S.{3,80}", one["summary"])


def test_the_document_holds_nothing_of_this_machine() -> None:
    assert "localhost" not in msgspec.json.encode(served()).decode()


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("name", [one.name for one in operations(Container()) if one.name != "openapi"])
def test_generated_requests_get_no_answer_that_is_not_described(name: str) -> None:
    # Imported here: it takes a second in every worker, and one of them runs these tests.
    import schemathesis
    from schemathesis import checks

    schema = schemathesis.openapi.from_asgi("/openapi.json", build_app(asyncio.run(product()), schema_of()))
    operation = next(
        found.ok() for found in schema.get_all_operations() if found.ok().definition.raw["operationId"] == name
    )

    conformance = (
        checks.not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_headers_conformance,
        checks.response_schema_conformance,
    )

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), known=st.booleans(), token=st.sampled_from(TOKENS))
    def conforms(case: schemathesis.Case, known: bool, token: str) -> None:
        if known and case.path_parameters:
            names = KNOWN.get(operation.definition.raw["tags"][0], {})
            case.path_parameters.update({key: names[key] for key in case.path_parameters if key in names})
        case.call_and_validate(headers={"authorization": f"Bearer {token}"}, checks=conformance)

    conforms()
