"""What commands are given instead of reaching for it: settings, servers, the system. Tests give others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from agentic_rag.settings import Settings, load_settings

if TYPE_CHECKING:
    import httpx2

    from agentic_rag_cli.client.graphql_client import GraphQLClient
    from agentic_rag_cli.in_process import System
    from agentic_rag_cli.processes.children import Children

T = TypeVar("T")


def _servers(settings: Settings) -> AbstractContextManager[Settings]:
    from agentic_rag_cli.processes.servers import reachable

    return reachable(settings)


def _system(settings: Settings) -> AbstractAsyncContextManager[System]:
    from agentic_rag_cli.in_process import open_system

    return open_system(settings)


async def _start_worker(children: Children, settings: Settings) -> None:
    from agentic_rag_cli.processes.servers import child_variables

    variables = child_variables(settings, AGENTIC_RAG_WORKER_METRICS_PORT="0")
    await children.start("worker", ("worker",), variables)


@dataclass(frozen=True, slots=True)
class Wiring:
    """Where a command gets its surroundings from."""

    settings: Callable[[], Settings] = load_settings
    servers: Callable[[Settings], AbstractContextManager[Settings]] = _servers
    """Settings with addresses of servers that run while the block lasts."""
    system: Callable[[Settings], AbstractAsyncContextManager[System]] = _system
    start_worker: Callable[[Children, Settings], Awaitable[None]] = _start_worker
    """Add a worker for as long as the children live."""
    transport: httpx2.AsyncBaseTransport | None = None
    """What carries HTTP requests; None means the network."""

    def remote(self, settings: Settings, address: str) -> GraphQLClient:
        """A client of a server, with the token of the settings. Errors: `Unauthenticated` code TOKEN_MISSING."""
        from agentic_rag_cli.client.access import token_of
        from agentic_rag_cli.client.graphql_client import GraphQLClient

        return GraphQLClient(address, token_of(settings), settings.answering.timeout_ms, self.transport)


def wiring_of(context: typer.Context) -> Wiring:
    """The wiring a command was started with; the real one unless a test gave another."""
    given = context.find_root().obj
    return given if isinstance(given, Wiring) else Wiring()


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on a loop of its own; asyncio is loaded only by commands that come here."""
    import asyncio

    return asyncio.run(work)


def in_process(context: typer.Context, work: Callable[[System], Coroutine[Any, Any, T]]) -> T:
    """Run `work` against the system of the settings, its embedded servers started when nobody runs them."""
    wiring = wiring_of(context)

    async def with_system(settings: Settings) -> T:
        async with wiring.system(settings) as system:
            return await work(system)

    with wiring.servers(wiring.settings()) as settings:
        return run_async(with_system(settings))


def on_graphql(
    context: typer.Context,
    work: Callable[[GraphQLClient], Coroutine[Any, Any, T]],
    *,
    tenant: str | None = None,
    address: str = "",
) -> T:
    """Run `work` with a GraphQL client: of the server at the address, else of the application in this process, there in
    the organisation `tenant` when one is named.
    """
    wiring = wiring_of(context)

    async def with_server() -> T:
        async with wiring.remote(wiring.settings(), address) as client:
            return await work(client)

    async def with_system(system: System) -> T:
        org_id = None if tenant is None else (await system.organisation(tenant)).org_id
        async with system.client(org_id) as client:
            return await work(client)

    return run_async(with_server()) if address else in_process(context, with_system)
