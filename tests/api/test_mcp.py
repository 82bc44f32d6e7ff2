"""The protocol's official client, of both revisions, against the application in this process."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any
from uuid import UUID

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types.jsonrpc import UNSUPPORTED_PROTOCOL_VERSION

from agentic_rag.documents.document import PageSpan, TextLayout, TextSection
from agentic_rag.documents.read_text import TextPart
from agentic_rag.kernel.errors import DependencyUnavailable, NotFound, RateLimited
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.workspaces.rate_limits import Traffic
from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind
from agentic_rag_server.app import build_app
from agentic_rag_server.graphql.schema import build_schema
from agentic_rag_server.mcp.tools.table import TOOLS
from agentic_rag_server.parts import ServerOptions
from tests.api.builders import (
    NOW,
    ORG,
    REF,
    Container,
    FakeAnswer,
    FakeIdentity,
    FakeStores,
    a_document,
    a_run,
    document_id,
    numbered,
)
from tests.api.test_retrieved_text import FakeContext, FakeSearch

SCHEMA = build_schema()
SITE = "http://127.0.0.1:8080"
REVISIONS = ("2026-07-28", "legacy")
TEXT = "Boiler\n\nThe valve opens at 3 bar. Pump\n\nIt lifts water."
LAYOUT = TextLayout(
    numbered(101), len(TEXT), (PageSpan(1, 0, len(TEXT)),), (TextSection(("Boiler",), 0), TextSection(("Pump",), 34))
)


@dataclass
class FakeText:
    """Document 1 has a text, at version 7."""

    async def run(
        self,
        principal: Principal,
        workspace: WorkspaceRef,
        key: UUID,
        start: int = 0,
        end: int | None = None,
        as_of: int | None = None,
    ) -> TextPart:
        if key != numbered(1):
            raise NotFound("There is no published text of this document for you.", code="TEXT_NOT_PUBLISHED")
        return TextPart(TEXT[start:end], start, LAYOUT, 7)


@dataclass
class McpContainer(Container):
    search: Any = field(default_factory=FakeSearch)
    context: Any = field(default_factory=FakeContext)
    read_text: Any = field(default_factory=FakeText)


@asynccontextmanager
async def connected(
    container: Container, mode: str = "2026-07-28", token: str = "viewer-token", query: str = ""
) -> AsyncIterator[Client]:
    """The official client, connected."""
    transport = httpx2.ASGITransport(app=build_app(container, SCHEMA))
    async with (
        httpx2.AsyncClient(transport=transport, headers={"authorization": f"Bearer {token}"}) as http,
        Client(streamable_http_client(f"{SITE}/mcp{query}", http_client=http), mode=mode) as client,
    ):
        yield client


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool gives: the structured content, which its one text item says too."""
    result = await client.call_tool(tool, arguments)
    (item,) = result.content
    said = json.loads(item.text)  # type: ignore[union-attr]
    assert result.is_error or said == result.structured_content
    return said


@pytest.mark.parametrize("mode", REVISIONS)
async def test_connectors_search_and_fetch(mode: str) -> None:
    async with connected(McpContainer(), mode) as client:
        found = await called(client, "search", query="valve")
        fetched = await called(client, "fetch", id=found["results"][0]["id"])

    url = f"{SITE}/v1/documents/{document_id(1)}/text?start=10&end=35"
    assert found == {"results": [{"id": document_id(1), "title": "Document 1", "url": url}]}
    assert fetched["text"] == TEXT
    assert fetched.keys() == {"id", "title", "text", "url", "metadata"}
    assert fetched["metadata"]["truncated"] == "false"
    assert fetched["url"].startswith(f"{SITE}/v1/documents/{document_id(1)}/text")


async def test_a_search_says_where_words_were_recognised_in_a_picture() -> None:
    async with connected(McpContainer(search=FakeSearch(is_recognised=True))) as client:
        found = await called(client, "search", query="valve")
        context = await called(client, "retrieve_context", query="valve", workspaces=["handbook"])

    assert [one["recognised"] for one in found["results"]] == [True]
    assert [one["recognised"] for one in context["sources"]] == [True]


@pytest.mark.parametrize("mode", REVISIONS)
async def test_every_tool_is_described_and_says_that_it_changes_nothing(mode: str) -> None:
    async with connected(McpContainer(), mode) as client:
        tools = (await client.list_tools()).tools

    assert [one.name for one in tools] == list(TOOLS)
    for one in tools:
        assert one.description
        assert one.annotations is not None
        assert one.annotations.read_only_hint is True
        assert one.input_schema["type"] == "object"
        assert one.output_schema is not None
        assert one.output_schema["type"] == "object"
    assert [list(one.input_schema["properties"]) for one in tools[:2]] == [["query", "where"], ["id"]]
    assert [one.input_schema["required"] for one in tools[:2]] == [["query"], ["id"]]


async def test_an_answer_comes_with_quotes_that_open() -> None:
    async with connected(McpContainer()) as client:
        said = await called(client, "rag_answer", question="When does the valve open?")

    assert said["answer"] == a_run().answer.text
    assert said["outcome"] == "GROUNDED"
    assert [one["marker"] for one in said["citations"]] == [1, 2]
    assert said["citations"][0]["url"].endswith("/text?start=10&end=114")
    assert [one["recognised"] for one in said["citations"]] == [False, False]


async def test_a_context_names_its_sources() -> None:
    container = McpContainer()
    async with connected(container) as client:
        said = await called(client, "retrieve_context", query="valve", template="team_guidelines")

    assert said["text"].startswith("## Team Guidelines")
    assert said["sources"][0]["sourceId"] == document_id(1)
    assert container.context.asked[0].parts[0].workspace == REF


async def test_code_is_searched_in_source_files_only() -> None:
    container = McpContainer()
    async with connected(container) as client:
        said = await called(client, "code_search", query="open the valve", pathPrefix="src/")

    asked = container.search.asked[0].options.filter
    assert (asked.media_types, asked.source_path_prefix) == (("text/x-source",), "src/")
    assert said["matches"][0]["startLine"] == 4


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "valve"}),
        ("code_search", {"query": "valve"}),
        ("retrieve_context", {"query": "valve"}),
        ("rag_answer", {"question": "When?"}),
        ("list_documents", {}),
    ],
)
async def test_a_filter_as_text_is_read_by_every_tool_that_retrieves(tool: str, arguments: dict[str, Any]) -> None:
    container = McpContainer()
    async with connected(container) as client:
        fitting = await client.call_tool(tool, {**arguments, "where": "tag=hr"})
        refused = await called(client, tool, **arguments, where="tag=hr colour=red")

    assert not fitting.is_error
    assert refused["error"]["code"] == "FILTER_INVALID"
    asked = [*container.search.asked, *container.context.asked, *(one for _, one in container.answer.asked)]
    assert {one.options.filter.tags for one in asked} == ({(("hr",),)} if tool != "list_documents" else set())


async def test_documents_are_listed_outlined_and_read_by_section() -> None:
    async with connected(McpContainer()) as client:
        listed = await called(client, "list_documents")
        outline = await called(client, "document_outline", id=document_id(1))
        section = await called(client, "document_section", id=document_id(1), section=2)

    assert [one["id"] for one in listed["documents"]] == [document_id(1)]
    assert [one["headingPath"] for one in outline["sections"]] == [["Boiler"], ["Pump"]]
    assert section["text"] == TEXT[34:]
    assert section["truncated"] is False


@pytest.mark.parametrize(("recognised", "is_told"), [("", False), ("3:1-2", True), ("3:2-3", False)])
async def test_a_text_says_whether_words_of_it_were_recognised_in_pictures(recognised: str, is_told: bool) -> None:
    container = McpContainer()
    container.database.documents[numbered(1)] = a_document(provenance={"recognised_pages": recognised})

    async with connected(container) as client:
        fetched = await called(client, "fetch", id=document_id(1))
        section = await called(client, "document_section", id=document_id(1), section=2)

    assert fetched["metadata"]["recognised"] == str(is_told).lower()
    assert section["recognised"] is is_told


async def test_documents_are_resources_page_by_page() -> None:
    stores = FakeStores(documents={numbered(it): a_document(it) for it in range(1, 121)})
    async with connected(McpContainer(database=stores)) as client:
        uris, cursor = list[str](), None
        while True:
            page = await client.list_resources(cursor=cursor)
            uris += [one.uri for one in page.resources]
            assert (page.cache_scope, page.ttl_ms) == ("private", 0)
            if (cursor := page.next_cursor) is None:
                break
        templates = (await client.list_resource_templates()).resource_templates
        (text,) = (await client.read_resource(f"{uris[0]}?start=8&end=33")).contents

    assert uris == [f"rag://documents/{document_id(it)}" for it in range(1, 121)]
    assert [one.uri_template for one in templates] == ["rag://documents/{id}", "rag://documents/{id}{?start,end}"]
    assert text.text == TEXT[8:33]  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", REVISIONS)
@pytest.mark.parametrize("of", [document_id(99), "D" * 44, "not an id"])
async def test_a_resource_that_is_not_there_is_refused_with_a_code(mode: str, of: str) -> None:
    async with connected(McpContainer(), mode) as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(f"rag://documents/{of}")

    assert refused.value.data["code"] in ("DOCUMENT_NOT_FOUND", "INVALID_ID", "RESOURCE_NOT_FOUND")


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("search", {}, "INVALID_INPUT"),
        ("search", {"query": 7}, "INVALID_INPUT"),
        ("search", {"query": "valve", "secret": True}, "INVALID_INPUT"),
        ("search", {"query": "a\0b"}, "INVALID_INPUT"),
        ("fetch", {"id": "nothing"}, "INVALID_ID"),
        ("fetch", {"id": document_id(99)}, "DOCUMENT_NOT_FOUND"),
        ("rag_answer", {"question": "x", "workspace": "none"}, "WORKSPACE_NOT_FOUND"),
        ("document_section", {"id": document_id(1), "section": 9}, "OPTION_OUT_OF_RANGE"),
    ],
)
async def test_a_refusal_is_a_result_with_a_code(tool: str, arguments: dict[str, Any], code: str) -> None:
    async with connected(McpContainer()) as client:
        result = await client.call_tool(tool, arguments)

    assert result.is_error
    error = json.loads(result.content[0].text)["error"]  # type: ignore[union-attr]
    assert error["code"] == code
    assert len(error["traceId"]) == 32


async def test_an_unknown_tool_is_an_error_of_the_protocol() -> None:
    async with connected(McpContainer()) as client:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("drop_tables", {})

    assert refused.value.data == {"code": "TOOL_UNKNOWN"}


@pytest.mark.tells("request_failed")
async def test_a_fault_of_ours_says_nothing_of_itself() -> None:
    container = McpContainer(answer=FakeAnswer(ValueError("password=hunter2")))
    async with connected(container) as client:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("rag_answer", {"question": "When?"})

    assert refused.value.data["code"] == "INTERNAL"
    assert "hunter2" not in str(refused.value.error)


async def test_a_caller_over_its_limit_reads_when_to_come_back() -> None:
    class Full:
        async def admit(self, principal: Principal, demand: Any) -> None:
            if Traffic.ASK in demand:
                raise RateLimited("Too many.", retry_after_seconds=3.5)

    async with connected(McpContainer(admission=Full())) as client:
        said = await called(client, "search", query="valve")
        listed = await called(client, "list_documents")

    assert said["error"]["retryAfterSeconds"] == 3.5
    assert listed["documents"]


def _two_workspaces() -> FakeStores:
    other = numbered(2)
    second = Workspace(WorkspaceRef(ORG, other), "atlas", WorkspaceKind.GENERAL, None, 7, 7, 1, NOW)
    return FakeStores(workspaces={**FakeStores().workspaces, other: second})


async def test_a_search_goes_through_every_workspace_and_counts_each() -> None:
    container = McpContainer(database=_two_workspaces())
    async with connected(container) as client:
        found = await called(client, "search", query="valve")

    assert len(found["results"]) == 2
    assert len(container.search.asked) == 2
    assert sum(one.get(Traffic.ASK, 0) for one in container.admission.demands) == 2


async def test_where_there_are_several_a_workspace_is_named_by_argument_or_address() -> None:
    container = McpContainer(database=_two_workspaces())
    async with connected(container) as client:
        unnamed = await called(client, "rag_answer", question="When?")
        by_argument = await called(client, "rag_answer", question="When?", workspace="handbook")
    async with connected(container, query="?workspace=handbook") as client:
        by_address = await called(client, "rag_answer", question="When?")

    assert unnamed["error"]["code"] == "WORKSPACE_UNNAMED"
    assert "atlas, handbook" in unnamed["error"]["message"]
    assert by_argument["outcome"] == by_address["outcome"] == "GROUNDED"


async def test_an_address_that_names_a_workspace_narrows_every_tool_to_it() -> None:
    async with connected(McpContainer(database=_two_workspaces()), query="?workspace=atlas") as client:
        refused = [
            await called(client, "rag_answer", question="When?", workspace="handbook"),
            await called(client, "retrieve_context", query="When?", workspaces=["atlas", "handbook"]),
            await called(client, "list_documents", workspace="handbook"),
            await called(client, "fetch", id=document_id(1)),
            await called(client, "document_outline", id=document_id(1)),
        ]
        with pytest.raises(MCPError, match="no such document"):
            await client.read_resource(f"rag://documents/{document_id(1)}")
    async with connected(McpContainer(database=_two_workspaces()), query="?workspace=handbook") as client:
        fetched = await called(client, "fetch", id=document_id(1))

    found = [one["error"]["code"] for one in refused]
    assert found == ["WORKSPACE_NOT_FOUND"] * 3 + ["DOCUMENT_NOT_FOUND"] * 2
    assert fetched["id"] == document_id(1)


def _post(container: Container, method: str = "tools/list", **headers: str) -> Any:
    http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=build_app(container, SCHEMA)), base_url=SITE)
    meta = {
        "io.modelcontextprotocol/protocolVersion": headers.get("mcp-protocol-version", "2026-07-28"),
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta}}
    sent = {
        "accept": "application/json, text/event-stream",
        "authorization": "Bearer viewer-token",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        **headers,
    }
    return http.post("/mcp", json=body, headers=sent)


async def test_nothing_is_served_but_tools_and_resources() -> None:
    """Each of them has a rule, which the matrix of rights asks; prompts, logging and the like would need ones too."""
    served = (await _post(McpContainer(), "server/discover")).json()["result"]["capabilities"]

    assert served.keys() == {"tools", "resources"}


async def test_without_a_token_the_refusal_says_where_tokens_come_from() -> None:
    options = ServerOptions(enabled=True, issuer="https://login.example")
    container = McpContainer(options=options)
    refused = await _post(container, authorization="Bearer nobody")
    challenge = refused.headers["www-authenticate"]
    address = challenge.rpartition('resource_metadata="')[2].removesuffix('"')

    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=build_app(container, SCHEMA))) as http:
        metadata = (await http.get(address)).json()

    assert refused.status_code == 401
    assert metadata["resource"] == f"{SITE}/mcp"
    assert metadata["authorization_servers"] == ["https://login.example"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://localhost:6274"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[x"}, 403),
        ({"host": "[x", "origin": "http://localhost"}, 403),
        ({"host": "evil.example", "origin": "http://evil.example"}, 403),
        ({"mcp-protocol-version": "1999-01-01"}, 400),
        ({"mcp-method": "tools/call"}, 400),
    ],
)
async def test_pages_of_other_sites_and_wrong_revisions_are_refused(headers: dict[str, str], status: int) -> None:
    assert (await _post(McpContainer(), **headers)).status_code == status


class AwayIdentity(FakeIdentity):
    """The database that tokens are looked up in does not answer."""

    async def authenticate(self, token: str) -> Principal:
        raise DependencyUnavailable("Postgres does not answer.", dependency="postgres")


@pytest.mark.parametrize("mode", REVISIONS)
@pytest.mark.parametrize(
    ("container", "token", "code"),
    [
        (McpContainer(identity=AwayIdentity()), "viewer-token", "DEPENDENCY_UNAVAILABLE"),
        (McpContainer(), "nobody", "UNAUTHENTICATED"),
    ],
)
async def test_a_client_reads_why_its_request_did_not_come_to_a_tool(
    container: McpContainer, token: str, code: str, mode: str
) -> None:
    told = pytest.RaisesExc(MCPError, check=lambda one: one.data["code"] == code)

    with pytest.RaisesGroup(told, flatten_subgroups=True):
        async with connected(container, mode, token) as client:
            await client.call_tool("search", {"query": "valve"})


async def test_a_wrong_revision_is_told_which_ones_there_are() -> None:
    refused = (await _post(McpContainer(), **{"mcp-protocol-version": "1999-01-01"})).json()["error"]

    assert refused["code"] == UNSUPPORTED_PROTOCOL_VERSION
    assert "2026-07-28" in refused["data"]["supported"]


async def test_behind_a_proxy_a_page_of_the_same_site_is_served() -> None:
    container = McpContainer(options=ServerOptions(enabled=True, behind_tls=True))

    own = await _post(container, host="rag.example", origin="https://rag.example")
    other = await _post(container, host="rag.example", origin="https://evil.example")

    assert (own.status_code, other.status_code) == (200, 403)
    assert other.json()["error"]["data"]["code"] == "ORIGIN_REFUSED"


async def test_a_switched_off_product_refuses_tools_and_resources() -> None:
    container = McpContainer(options=replace(Container().options, enabled=False))
    async with connected(container) as client:
        said = await called(client, "search", query="valve")
        with pytest.raises(MCPError) as refused:
            await client.list_resources()

    assert said["error"]["code"] == refused.value.data["code"] == "FEATURE_DISABLED"


async def test_the_endpoint_keeps_no_session() -> None:
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=build_app(McpContainer(), SCHEMA)), base_url=SITE
    ) as http:
        responses = [await http.request(method, "/mcp") for method in ("GET", "DELETE")]

    assert [one.status_code for one in responses] == [405, 405]


class RoundRobin(httpx2.AsyncBaseTransport):
    """Each request goes to the next process."""

    def __init__(self, *processes: Container) -> None:
        self._next = cycle([httpx2.ASGITransport(app=build_app(one, SCHEMA)) for one in processes])

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answered by one process alone."""
        return await next(self._next).handle_async_request(request)


@pytest.mark.parametrize("mode", REVISIONS)
async def test_processes_behind_a_balancer_share_nothing_and_tenants_see_their_own(mode: str) -> None:
    processes = [McpContainer(), McpContainer()]
    for token, hidden in (("viewer-token", False), ("other-token", True)) * 2:
        headers = {"authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(transport=RoundRobin(*processes), headers=headers) as http,
            Client(streamable_http_client(f"{SITE}/mcp", http_client=http), mode=mode) as client,
        ):
            fetched = await called(client, "fetch", id=document_id(1))
            answered = await called(client, "rag_answer", question="When?", workspace="handbook")
            listed = (await client.list_resources()).resources

        assert ("error" in fetched, "error" in answered, not listed) == (hidden, hidden, hidden)
