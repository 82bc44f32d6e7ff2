"""Bad input says one code, by whatever interface it comes: GraphQL, REST, MCP, OpenAI's and the command line."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
import openai
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from openai import AsyncOpenAI

from agentic_rag_server.app import build_app
from tests.api.builders import WORKSPACE_ID, document_id, schema_of
from tests.api.rest_product import RestProduct, rest_product
from tests.unit.cli.product import Terminal

SITE = "http://127.0.0.1:8080"
TOKEN = "admin-token"


async def _graphql(http: httpx2.AsyncClient, query: str, variables: Mapping[str, Any]) -> str:
    body = (await http.post("/graphql", json={"query": query, "variables": variables})).json()
    errors = [one["extensions"]["code"] for one in body.get("errors", ())]
    for payload in (body.get("data") or {}).values():
        errors += [one["code"] for one in (payload or {}).get("userErrors", ())]
    return errors[0] if errors else f"none: {body}"


def by_graphql(query: str, **variables: Any) -> Asked:
    return lambda product: _with(product, lambda http: _graphql(http, query, variables))


def by_rest(path: str, **body: Any) -> Asked:
    async def ask(http: httpx2.AsyncClient) -> str:
        response = await (http.post(path, json=body) if body else http.get(path))
        return response.json()["error"]["code"]

    return lambda product: _with(product, ask)


def by_mcp(tool: str, **arguments: Any) -> Asked:
    async def ask(http: httpx2.AsyncClient) -> str:
        async with Client(streamable_http_client(f"{SITE}/mcp", http_client=http)) as client:
            result = await client.call_tool(tool, arguments)
        return json.loads(result.content[0].text)["error"]["code"]  # type: ignore[union-attr]

    return lambda product: _with(product, ask)


def by_openai(ask: Callable[[AsyncOpenAI], Awaitable[object]]) -> Asked:
    async def asked(http: httpx2.AsyncClient) -> str:
        client = AsyncOpenAI(base_url=f"{SITE}/v1", api_key=TOKEN, http_client=http, max_retries=0)
        with pytest.raises(openai.APIStatusError) as refused:
            await ask(client)
        return str(refused.value.code)

    return lambda product: _with(product, asked)


def by_command(*arguments: str) -> Asked:
    def ask(product: RestProduct) -> str:
        transport = httpx2.ASGITransport(app=build_app(product, schema_of()))
        shown = Terminal(environ={"AGENTIC_RAG_TOKEN": TOKEN}, transport=transport).rag(*arguments, "--url", SITE)
        assert shown.exit_code in (1, 2), shown.output
        return re.findall(r"error \[(\w+)\]", shown.stderr)[0]

    return ask


def _with(product: RestProduct, ask: Callable[[httpx2.AsyncClient], Awaitable[str]]) -> str:
    async def run() -> str:
        transport = httpx2.ASGITransport(app=build_app(product, schema_of()))
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(transport=transport, base_url=SITE, headers=headers) as http:
            return await ask(http)

    return asyncio.run(run())


Asked = Callable[[RestProduct], str]

SEARCH = "query($input: SearchPassagesInput!) { searchPassages(input: $input) { userErrors { code } } }"
CONTEXT = "query($input: ContextInput!) { context(input: $input) { userErrors { code } } }"
TEXT = "query($id: ID!) { document(id: $id) { text { text } } }"
BROKEN = "tag=a colour=red"
PARTS = [{"workspaceId": WORKSPACE_ID}]


@dataclass(frozen=True)
class Case:
    """What is wrong, and how each interface that can be told so is told."""

    code: str
    faces: Mapping[str, Asked]


def contexts(**wrong: Any) -> Mapping[str, Asked]:
    """A context with something wrong, by each interface that prepares one."""
    asked = {"query": "pump", "template": "team_guidelines", **wrong}
    options = [f"--{name}={value}" for name, value in (("template", asked["template"]),)]
    options += [f"--max-tokens={asked['maxTokens']}"] if "maxTokens" in asked else []
    return {
        "GraphQL": by_graphql(CONTEXT, input={**asked, "workspaces": PARTS}),
        "REST": by_rest("/v1/context", **asked, workspaces=PARTS),
        "MCP": by_mcp("retrieve_context", **asked),
        "command line": by_command("context", "pump", *options),
    }


CASES = {
    "an unknown template": Case("TEMPLATE_UNKNOWN", contexts(template="none")),
    "a budget below the heading": Case("CONTEXT_BUDGET_TOO_SMALL", contexts(maxTokens=1)),
    "a broken filter": Case(
        "FILTER_INVALID",
        {
            "GraphQL": by_graphql(
                SEARCH, input={"query": "pump", "workspaceId": WORKSPACE_ID, "filter": {"where": BROKEN}}
            ),
            "REST": by_rest("/v1/search", query="pump", workspaceId=WORKSPACE_ID, where=BROKEN),
            "MCP": by_mcp("search", query="pump", where=BROKEN),
            "OpenAI": by_openai(
                lambda client: client.vector_stores.search(
                    WORKSPACE_ID, query="pump", filters={"type": "ne", "key": "a", "value": 1}
                )
            ),
            "command line": by_command("search", "pump", "--where", BROKEN),
        },
    ),
    "an unknown workspace": Case(
        "WORKSPACE_NOT_FOUND",
        {
            "GraphQL": by_graphql(SEARCH, input={"query": "pump", "workspace": "none"}),
            "MCP": by_mcp("rag_answer", question="When?", workspace="none"),
            "OpenAI": by_openai(lambda client: client.responses.create(model="none", input="When?")),
            "command line": by_command("search", "pump", "--workspace", "none"),
        },
    ),
    "an id of nothing": Case(
        "DOCUMENT_NOT_FOUND",
        {
            "REST": by_rest(f"/v1/documents/{document_id(99)}/text"),
            "MCP": by_mcp("fetch", id=document_id(99)),
            "OpenAI": by_openai(lambda client: client.files.retrieve(document_id(99))),
            "command line": by_command("doc", "show", document_id(99)),
        },
    ),
    "a text that is no id": Case(
        "INVALID_ID",
        {
            "GraphQL": by_graphql(TEXT, id="nothing"),
            "REST": by_rest("/v1/documents/nothing/text"),
            "MCP": by_mcp("fetch", id="nothing"),
            "OpenAI": by_openai(lambda client: client.files.retrieve("nothing")),
            "command line": by_command("run", "show", "nothing"),
        },
    ),
    "a conversation without a question": Case(
        "INVALID_INPUT",
        {
            "OpenAI chat": by_openai(
                lambda client: client.chat.completions.create(
                    model="handbook", messages=[{"role": "assistant", "content": "x"}]
                )
            ),
            "OpenAI responses": by_openai(
                lambda client: client.responses.create(model="handbook", input=[{"role": "assistant", "content": "x"}])
            ),
        },
    ),
}


@pytest.mark.parametrize(
    ("case", "face"), [(name, face) for name, case in CASES.items() for face in case.faces], ids=str
)
def test_bad_input_says_its_code_by_every_interface(case: str, face: str) -> None:
    product = asyncio.run(rest_product())

    assert CASES[case].faces[face](product) == CASES[case].code
