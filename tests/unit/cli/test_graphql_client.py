"""The GraphQL client: its queries fit the schema, its errors are typed, and it names no address but the given one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from graphql import build_schema, parse, validate
from tests.unit.cli.product import Terminal

from agentic_rag.kernel.errors import (
    AgenticRagError,
    DependencyUnavailable,
    FeatureDisabled,
    InvalidInput,
    NotFound,
    Unauthenticated,
)
from agentic_rag_cli.client import deletion_queries, live_queries, operator_queries, proof_queries, queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_server import graphql

URL = "http://127.0.0.1:8080"

CITATION = {
    "marker": 1,
    "sourcePath": "policy.md",
    "title": "Policy",
    "page": None,
    "lineStart": 3,
    "lineEnd": 3,
    "headingPath": [],
    "snippet": "Signed by Oona.",
    "score": 0.5,
    "verified": True,
    "documentId": "RA==",
    "readAt": "2026-03-01T09:00:00+00:00",
    "path": [],
}
RUN = {
    "id": "Ug==",
    "threadId": None,
    "question": "Who?",
    "answer": "Oona. [1]",
    "outcome": "GROUNDED",
    "abstention": None,
    "citations": [CITATION],
    "degraded": [],
    "cache": "MISS",
    "seconds": 0.01,
    "stages": [{"stage": "retrieve", "started": 0.0, "seconds": 0.004, "outcome": "ok"}],
    "versions": {"corpusVersion": 7},
    "debug": {
        "standaloneQuestion": None,
        "candidates": [{"sourceId": "RA=="}, {"sourceId": "RA=="}, {"sourceId": "gone"}],
    },
}
ANSWER = {"run": RUN, "userErrors": []}

Respond = Callable[[dict[str, Any]], httpx2.Response]


def data(value: object) -> httpx2.Response:
    return httpx2.Response(200, json={"data": value})


def server(answer: object = ANSWER, stored: str = "Signed by Oona.") -> Respond:
    """Answers what the client asks of a server with one workspace and one document; `stored` stands where a citation's
    quote does.
    """

    def respond(request: dict[str, Any]) -> httpx2.Response:
        if "workspaces" in request["query"]:
            return data({"workspaces": [{"id": "Vw==", "name": "handbook"}]})
        if "documents" in request["query"]:
            page = {"hasNextPage": request["variables"]["after"] is None, "endCursor": "c"}
            nodes = [{"id": "RA==" if page["hasNextPage"] else "RB==", "sourcePath": "policy.md"}]
            return data({"documents": {"nodes": nodes, "pageInfo": page}})
        if "sourceSpan" in request["query"]:
            quoted = [{**CITATION, "sourceSpan": {"start": 3, "end": 3 + len(CITATION["snippet"])}}]
            return data({"run": {**RUN, "citations": quoted, "debug": {"fetchedPages": []}}})
        if "text(start" in request["query"]:
            return data({"document": {"text": {"text": stored}}})
        return data({"ragAnswer": answer})

    return respond


def carrying(respond: Respond, seen: list[httpx2.Request] | None = None) -> httpx2.MockTransport:
    def handle(request: httpx2.Request) -> httpx2.Response:
        if seen is not None:
            seen.append(request)
        return respond(json.loads(request.content))

    return httpx2.MockTransport(handle)


def client(respond: Respond, seen: list[httpx2.Request] | None = None) -> GraphQLClient:
    return GraphQLClient(URL, "secret", 1000, carrying(respond, seen))


@pytest.mark.slow
def test_every_query_is_valid_against_the_committed_schema() -> None:

    published = build_schema((Path(graphql.__file__).parent / "schema.graphql").read_text(encoding="utf-8"))

    named = {
        **vars(queries),
        **vars(operator_queries),
        **vars(deletion_queries),
        **vars(live_queries),
        **vars(proof_queries),
    }
    pieces = ("FAULTS", "ANSWERED", "CITATION")
    documents = [
        document for name, document in named.items() if name.isupper() and name[0] != "_" and name not in pieces
    ]

    assert len(documents) > 60
    assert [validate(published, parse(document)) for document in documents] == [[]] * len(documents)


async def test_a_question_names_its_workspace_and_brings_a_run() -> None:
    seen: list[httpx2.Request] = []
    async with client(server(), seen) as at:
        run = await at.ask("Who?", await at.workspace_id(None), options={"cache": "BYPASS"})

    assert run == RUN
    assert {request.headers["authorization"] for request in seen} == {"Bearer secret"}
    assert json.loads(seen[-1].content)["variables"]["input"] == {
        "question": "Who?",
        "workspaceId": "Vw==",
        "options": {"cache": "BYPASS"},
    }


async def test_a_list_is_read_page_by_page() -> None:
    seen: list[httpx2.Request] = []
    async with client(server(), seen) as at:
        rows = await at.nodes(queries.DOCUMENT_PATHS, workspaceId="Vw==")

    assert [row["id"] for row in rows] == ["RA==", "RB=="]
    assert [json.loads(request.content)["variables"]["after"] for request in seen] == [None, "c"]


def failing(error: Exception) -> Respond:
    def respond(request: dict[str, Any]) -> httpx2.Response:
        raise error

    return respond


def user_error(code: str) -> Respond:
    return server({"run": None, "userErrors": [{"code": code, "message": "Mend it.", "path": []}]})


def graphql_error(code: str, **more: str) -> Respond:
    body = {"data": None, "errors": [{"message": "No.", "extensions": {"code": code, "traceId": "t", **more}}]}
    return lambda request: httpx2.Response(200, json=body)


@pytest.mark.parametrize(
    ("respond", "kind", "code"),
    [
        (failing(httpx2.ConnectError("refused")), DependencyUnavailable, "SERVER_UNREACHABLE"),
        (failing(httpx2.ReadTimeout("late")), DependencyUnavailable, "SERVER_TIMEOUT"),
        (lambda request: httpx2.Response(502, text="<html>"), DependencyUnavailable, "SERVER_FAULT"),
        (lambda request: httpx2.Response(200, json=[1]), DependencyUnavailable, "SERVER_FAULT"),
        (lambda request: httpx2.Response(401, text="who?"), Unauthenticated, "UNAUTHENTICATED"),
        (user_error("QUESTION_TOO_LONG"), InvalidInput, "QUESTION_TOO_LONG"),
        (user_error("NOT_FOUND"), NotFound, "NOT_FOUND"),
        (graphql_error("FEATURE_DISABLED"), FeatureDisabled, "FEATURE_DISABLED"),
        (graphql_error("INTERNAL"), AgenticRagError, "INTERNAL"),
        (graphql_error("DB_AWAY", dependency="postgres"), DependencyUnavailable, "DB_AWAY"),
    ],
)
async def test_every_failure_is_a_typed_error(respond: Respond, kind: type[AgenticRagError], code: str) -> None:
    async with client(respond) as at:
        with pytest.raises(kind) as raised:
            await at.ask("Who?", "Vw==")

    assert raised.value.code == code


async def test_a_server_of_another_version_is_named_as_such() -> None:
    async with client(graphql_error("GRAPHQL_INVALID")) as at:
        with pytest.raises(AgenticRagError) as raised:
            await at.ask("Who?", "Vw==")

    assert raised.value.code == "GRAPHQL_INVALID"
    assert "of another version" in raised.value.message


async def test_an_unreachable_server_names_the_remedy() -> None:
    async with client(failing(httpx2.ConnectError("refused"))) as at:
        with pytest.raises(DependencyUnavailable, match="rag up"):
            await at.fetch(queries.WORKSPACES)


@pytest.mark.parametrize("where", ["option", "variable"])
def test_ask_goes_to_the_server_that_was_named(where: str) -> None:
    seen: list[httpx2.Request] = []
    environ = {"AGENTIC_RAG_TOKEN": "secret"} | ({"AGENTIC_RAG_URL": URL} if where == "variable" else {})
    at = Terminal(environ=environ, transport=carrying(server(), seen))

    shown = at.rag("ask", "Who?", "--json", *(["--url", URL] if where == "option" else []))

    assert shown.exit_code == 0, shown.stderr
    assert json.loads(shown.stdout)["answer"] == "Oona. [1]"
    assert {request.url.host for request in seen} == {"127.0.0.1"}


def test_without_a_token_the_remedy_is_named(tmp_path: Path) -> None:
    at = Terminal(environ={"AGENTIC_RAG_HOME": str(tmp_path)}, transport=carrying(server()))

    shown = at.rag("ask", "Who?", "--url", URL)

    assert shown.exit_code == 1
    assert "[TOKEN_MISSING]" in shown.stderr
    assert "AGENTIC_RAG_TOKEN" in shown.stderr


async def test_an_address_that_ends_in_the_path_of_the_api_means_the_same_server() -> None:
    seen: list[httpx2.Request] = []

    async with GraphQLClient(f"{URL}/graphql/", "t", 1000, carrying(server(), seen)) as at:
        await at.workspace_id(None)

    assert {request.url.path for request in seen} == {"/graphql"}


async def test_a_token_that_is_refused_names_the_remedy() -> None:
    async with client(graphql_error("UNAUTHENTICATED")) as at:
        with pytest.raises(Unauthenticated, match="AGENTIC_RAG_TOKEN"):
            await at.workspace_id(None)
