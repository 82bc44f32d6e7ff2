"""What commands are given instead of reaching for it: settings, servers, a session. Tests give others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from agentic_rag.settings import Settings, load_settings

if TYPE_CHECKING:
    import httpx2

    from agentic_rag_cli.processes.children import Children
    from agentic_rag_cli.session import Session

T = TypeVar("T")


def _servers(settings: Settings) -> AbstractContextManager[Settings]:
    from agentic_rag_cli.processes.servers import reachable

    return reachable(settings)


def _session(settings: Settings) -> AbstractAsyncContextManager[Session]:
    from agentic_rag_cli.session import open_session

    return open_session(settings)


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
    session: Callable[[Settings], AbstractAsyncContextManager[Session]] = _session
    start_worker: Callable[[Children, Settings], Awaitable[None]] = _start_worker
    """Add a worker for as long as the children live."""
    transport: httpx2.AsyncBaseTransport | None = None
    """What carries HTTP requests; None means the network."""


def wiring_of(context: typer.Context) -> Wiring:
    """The wiring a command was started with; the real one unless a test gave another."""
    given = context.find_root().obj
    return given if isinstance(given, Wiring) else Wiring()


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on a loop of its own; asyncio is loaded only by commands that come here."""
    import asyncio

    return asyncio.run(work)


def in_process(context: typer.Context, work: Callable[[Session], Coroutine[Any, Any, T]]) -> T:
    """Run `work` against the system of the settings, its embedded servers started when nobody runs them."""
    wiring = wiring_of(context)

    async def with_session(settings: Settings) -> T:
        async with wiring.session(settings) as session:
            return await work(session)

    with wiring.servers(wiring.settings()) as settings:
        return run_async(with_session(settings))
