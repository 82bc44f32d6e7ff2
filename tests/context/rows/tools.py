"""Tenants call tools by the protocol's official client, each request to the next of two processes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any
from uuid import uuid4

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from agentic_rag.adapters.postgres.workspaces.organisation_register import PostgresOrganisationRegister
from agentic_rag.bootstrap import Container
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.tenancy.manage_api_keys import KeyWish
from agentic_rag.tenancy.principals import Role
from agentic_rag.workspaces.administer import NewWorkspace
from agentic_rag_server.app import build_app
from agentic_rag_server.main import server_parts
from tests.bench import processes
from tests.bench.reports import Row, exactly
from tests.context.ground import Ground

REVISIONS = ("2026-07-28", "legacy")
TENANTS, CALLS = 20, 500
FEW_TENANTS, FEW_CALLS = 3, 12
PIPED = 2
"""Tenants that call over standard input and output as well, each by a process of its own."""

QUESTION = "Which word is the secret of the house?"


@dataclass(frozen=True)
class Tenant:
    """An organisation with one document, whose secret word stands nowhere else."""

    token: str
    word: str
    document: str


@dataclass
class Balancer(httpx2.AsyncBaseTransport):
    """Hands each request to the next process, and notes what would bind a client to one."""

    processes: Sequence[tuple[httpx2.AsyncBaseTransport, int]]
    sessions: int = 0
    _next: Iterator[tuple[httpx2.AsyncBaseTransport, int]] = field(init=False)

    def __post_init__(self) -> None:
        self._next = cycle(self.processes)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answered by one process."""
        process, port = next(self._next)
        request.url = request.url.copy_with(port=port)
        response = await process.handle_async_request(request)
        self.sessions += "mcp-session-id" in response.headers or "set-cookie" in response.headers
        return response


async def tenants_of_tools(ground: Ground, short: bool) -> list[Row]:
    """Every reply is searched for the words and ids of all other tenants."""
    container = await ground.container()
    tenants = [await _tenant(container, ground.servers.database_url) for _ in range(FEW_TENANTS if short else TENANTS)]
    calls = FEW_CALLS if short else CALLS
    async with _balancer(ground, container, short=short) as (balancer, ports):
        told = await asyncio.gather(
            *[
                _over_http(balancer, one, tenants, calls, mode)
                for one, mode in zip(tenants, cycle(REVISIONS), strict=False)
            ]
        )
        if not short:
            told += await asyncio.gather(
                *[
                    _over_pipes(one, tenants, calls, port)
                    for one, port in zip(tenants[:PIPED], cycle(ports), strict=False)
                ]
            )
    callers = [*tenants, *tenants[:PIPED]]
    made = sum(len(replies) for replies in told)
    foreign = sum(_foreign(replies, one, tenants) for replies, one in zip(told, callers, strict=False))
    silent = sum(one.word not in "".join(replies) for replies, one in zip(told, callers, strict=False))
    return [
        exactly(f"replies of tools with a word or id of another tenant, of {made}", foreign, 0),
        exactly("tenants whose own word no tool found", silent, 0),
        exactly("replies that bind a client to a process", balancer.sessions, 0),
    ]


@asynccontextmanager
async def _balancer(ground: Ground, container: Container, *, short: bool) -> AsyncIterator[tuple[Balancer, list[int]]]:
    """Before two server processes; in the short form before two applications of this one."""
    async with AsyncExitStack() as stack:
        if short:
            apps = [build_app(server_parts(container)) for _ in range(2)]
            yield Balancer([(httpx2.ASGITransport(app=one), 80) for one in apps]), []
        else:
            ports = [stack.enter_context(processes.server(ground.servers, processes.PRODUCT)) for _ in range(2)]
            yield Balancer([(httpx2.AsyncHTTPTransport(), one) for one in ports]), ports


async def _over_http(balancer: Balancer, tenant: Tenant, tenants: Sequence[Tenant], calls: int, mode: str) -> list[str]:
    headers = {"authorization": f"Bearer {tenant.token}"}
    async with (
        httpx2.AsyncClient(transport=balancer, headers=headers, timeout=60) as http,
        Client(streamable_http_client("http://127.0.0.1/mcp", http_client=http), mode=mode, cache=None) as client,
    ):
        return await _replies(client, tenant, tenants, calls)


async def _over_pipes(tenant: Tenant, tenants: Sequence[Tenant], calls: int, port: int) -> list[str]:
    given = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    paths = os.pathsep.join([str(processes.ROOT), *processes.PATHS])
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "agentic_rag_cli", "mcp", "--url", f"http://127.0.0.1:{port}"],
        env={**given, "PYTHONPATH": paths, "AGENTIC_RAG_TOKEN": tenant.token},
    )
    async with Client(command, cache=None) as client:
        return await _replies(client, tenant, tenants, calls)


async def _replies(client: Client, tenant: Tenant, tenants: Sequence[Tenant], calls: int) -> list[str]:
    """What the tenant is told: half of the ids that it names are those of others."""
    others = cycle([one for one in tenants if one is not tenant])
    asked: list[tuple[str, dict[str, Any]]] = []
    for document in islice(cycle([tenant.document, None]), calls):
        of = document or next(others).document
        asked += [
            ("search", {"query": QUESTION}),
            ("fetch", {"id": of}),
            ("list_documents", {}),
            ("document_section", {"id": of}),
            ("retrieve_context", {"query": QUESTION, "template": "team_guidelines", "minSimilarity": 0}),
            ("rag_answer", {"question": QUESTION}),
            ("read", {"uri": f"rag://documents/{of}"}),
        ]
    return [await _reply(client, tool, given) for tool, given in asked[:calls]]


async def _reply(client: Client, tool: str, given: dict[str, Any]) -> str:
    try:
        if tool == "read":
            return (await client.read_resource(given["uri"])).model_dump_json()
        return (await client.call_tool(tool, given)).model_dump_json()
    except MCPError as refused:
        return json.dumps(refused.error.model_dump())


def _foreign(replies: Sequence[str], tenant: Tenant, tenants: Sequence[Tenant]) -> int:
    """Replies with a word of another tenant, or a passage of its document. An id that was asked for may be repeated."""
    words = [one.word for one in tenants if one is not tenant]
    return sum(any(word in reply for word in words) for reply in replies)


async def _tenant(container: Container, url: str) -> Tenant:
    org_id, word = uuid4(), f"quark{uuid4().hex}"
    await PostgresOrganisationRegister(url).create(org_id, word, word)
    made = await container.api_keys.create(org_id, KeyWish("agent", Role.MEMBER), "system:test")
    workspace = await container.administer.create_workspace(org_id, NewWorkspace("handbook"), "system:test")
    document = ChunkedDocument("house.md", f"House {word}", (f"The secret of the house is the word {word}.",))
    await container.ingest_chunks.run(workspace.ref, [document], "system:test")
    async with container.database.transaction(org_id) as transaction:
        ids = await resolve_ids(transaction.documents, workspace.ref, [document.source_path])
    return Tenant(made.token, word, encode(NodeKind.DOCUMENT, workspace.ref.workspace_id, ids[document.source_path]))


ROWS = {"tenants-of-tools": tenants_of_tools}
