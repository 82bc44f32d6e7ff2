"""The dependencies of commands: settings, servers, the system. Tests replace them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.settings import Settings, load_settings
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID
from agentic_rag_cli.client.access import asked_server, token_of
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import require_address
from agentic_rag_cli.in_process import System, open_system
from agentic_rag_cli.output import terminal
from agentic_rag_cli.processes.children import Children

if TYPE_CHECKING:
    import asyncio

    import httpx2


T = TypeVar("T")


def _servers(settings: Settings) -> AbstractContextManager[Settings]:
    from agentic_rag_cli.processes.servers import reachable

    return reachable(settings)


def _bare_servers(settings: Settings) -> AbstractContextManager[Settings]:
    from agentic_rag_cli.processes.servers import reachable

    return reachable(settings, makes_schema=False)


async def _start_worker(children: Children, settings: Settings) -> None:
    from agentic_rag_cli.processes.servers import child_variables

    variables = child_variables(settings, AGENTIC_RAG_WORKER_METRICS_PORT="0")
    await children.start("worker", ("worker",), variables)


def _settings() -> Settings:
    settings = load_settings().prefer_local_model()
    _tell(settings.warnings)
    return settings


@cache
def _tell(warnings: tuple[str, ...]) -> None:
    """Name the variables that are ignored, once a process."""
    for warning in warnings:
        terminal.note(f"warning: {warning}")


@dataclass(frozen=True, slots=True)
class Wiring:
    """The factories that a command gets its dependencies from."""

    settings: Callable[[], Settings] = _settings
    servers: Callable[[Settings], AbstractContextManager[Settings]] = _servers
    """Settings with the addresses of servers that run until the block ends."""
    bare_servers: Callable[[Settings], AbstractContextManager[Settings]] = _bare_servers
    """The same, and an empty embedded database stays empty."""
    system: Callable[[Settings], AbstractAsyncContextManager[System]] = open_system
    start_worker: Callable[[Children, Settings], Awaitable[None]] = _start_worker
    """Start a worker that lives as long as the children."""
    transport: httpx2.AsyncBaseTransport | None = None
    """The HTTP transport; None: the network."""
    address: str = ""
    """The server of `--url`; empty: this process."""

    def remote(self, settings: Settings, address: str) -> GraphQLClient:
        """A client of a server, with the token from the settings. Errors: `InvalidInput` code URL_INVALID, else
        `Unauthenticated` code TOKEN_MISSING.
        """
        address = require_address(address)
        return GraphQLClient(address, token_of(settings), settings.answering.budget_ms[1], self.transport)


def wiring_of(context: typer.Context) -> Wiring:
    """The wiring that a command was started with; tests replace the default."""
    given = context.find_root().obj
    return given if isinstance(given, Wiring) else Wiring()


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on its own event loop. Only commands that call this load asyncio."""
    import asyncio

    with asyncio.Runner() as runner:
        runner.get_loop().set_exception_handler(log_unless_cut_off)
        return runner.run(work)


def log_unless_cut_off(loop: asyncio.AbstractEventLoop, told: dict[str, Any]) -> None:
    """Log what nobody has taken, but for the end of a connection to Postgres: where a command ends while one is made,
    or a time limit ends it, its driver leaves the error to nobody.
    """
    if not (isinstance(told.get("exception"), ConnectionError) and told["message"].startswith("Future exception")):
        loop.default_exception_handler(told)


def in_process(context: typer.Context, work: Callable[[System], Coroutine[Any, Any, T]]) -> T:
    """Run `work` against the system of the settings; embedded servers are started when none run."""
    wiring = wiring_of(context)

    async def with_system(settings: Settings) -> T:
        async with wiring.system(settings) as system:
            return await work(system)

    with wiring.servers(wiring.settings()) as settings:
        return run_async(with_system(settings))


async def beside_worker(context: typer.Context, system: System, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work` while a worker runs: one that runs already, else one that is started for as long. Errors: `ChildDied`,
    those of `work`.
    """
    from agentic_rag_cli.processes.children import Children, silent

    settings = system.container.settings
    async with Children(silent, settings.jobs.drain_seconds) as children:
        if not await system.worker_running():
            await wiring_of(context).start_worker(children, settings)
        return await children.guard(work())


def on_asked_server(context: typer.Context, work: Callable[[GraphQLClient], Coroutine[Any, Any, T]]) -> T:
    """As `on_graphql`, with the server that `rag ask` asks: what is kept belongs to the subject that asked there."""
    wiring = wiring_of(context)
    return on_graphql(context, work, address=asked_server(wiring.settings(), wiring.address or None))


def on_graphql(
    context: typer.Context,
    work: Callable[[GraphQLClient], Coroutine[Any, Any, T]],
    *,
    tenant: str | None = None,
    address: str = "",
    is_platform: bool = False,
    with_worker: bool = False,
) -> T:
    """Run `work` with a GraphQL client: of the server at `address`, or of `--url`, else of the application in this
    process, acting in the organisation `tenant` if given, or in the default one for what concerns the platform; beside
    a worker if it waits for jobs. Errors: `InvalidInput` for an organisation beside a server.
    """
    wiring = wiring_of(context)
    address = address or wiring.address
    if address and tenant is not None:
        raise InvalidInput("A server acts in the organisation of the token: give --url or --tenant.", path=("tenant",))

    async def with_server() -> T:
        async with wiring.remote(wiring.settings(), address) as client:
            return await work(client)

    async def with_system(system: System) -> T:
        org_id = DEFAULT_ORG_ID if is_platform else None
        if tenant is not None:
            org_id = (await system.organisation(tenant)).org_id
        async with system.client(org_id) as client:
            return await (beside_worker(context, system, partial(work, client)) if with_worker else work(client))

    return run_async(with_server()) if address else in_process(context, with_system)
