"""Runs server and worker as child processes of one command, and waits until they are ready."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx2

from agentic_rag.embedded.loopback import HOST, is_free
from agentic_rag.embedded.server import EmbeddedServer
from agentic_rag.embedded.state import FileLock
from agentic_rag.kernel.dependency import OPTIONAL_FOR_WORKERS
from agentic_rag.kernel.errors import DependencyUnavailable, Misconfigured
from agentic_rag.settings import Settings
from agentic_rag_cli.client.access import SERVER_FILE, UP_LOCK, ensure_token, server_url, up_runs
from agentic_rag_cli.processes.children import Child, Children, race, wait_for_signal
from agentic_rag_cli.processes.servers import child_variables
from agentic_rag_cli.processes.supervisor import RestartPolicy, keep, keep_server

READY_SECONDS = 60.0
_POLL_SECONDS = 0.05
_EXIT_SECONDS = 2.0
"""Seconds for a worker to exit after its jobs were abandoned."""


def require_free(settings: Settings) -> None:
    """Check that the server's port is free. Errors: `Misconfigured` code PORT_IN_USE."""
    if settings.server.host in (HOST, "localhost") and not is_free(settings.server.port):
        raise Misconfigured(
            f"Port {settings.server.port} is in use: is `rag up` running already? Give a free one with --port "
            "or AGENTIC_RAG_PORT.",
            code="PORT_IN_USE",
        )


def require_alone(settings: Settings) -> None:
    """Check that no `rag up` runs on this home, before anything is started. Errors: those of `only_one_on`, which
    decides between two that start at once; `EmbeddedServerError`.
    """
    if up_runs(settings.stores.state_home):
        raise _already_up(settings.stores.state_home)


def _already_up(home: Path) -> Misconfigured:
    return Misconfigured(
        f"`rag up` runs on {home} already: end it, or set AGENTIC_RAG_HOME to another folder.", code="ALREADY_UP"
    )


@contextmanager
def only_one_on(settings: Settings) -> Iterator[None]:
    """Hold the home of running embedded servers: a second `rag up` would run beside the first, and end with its
    servers. Errors: `Misconfigured` code ALREADY_UP.
    """
    home = settings.stores.state_home
    lock = FileLock.try_acquire(home / UP_LOCK) if home.is_dir() else None
    if lock is None and home.is_dir():
        raise _already_up(home)
    try:
        yield
    finally:
        if lock is not None:
            (home / SERVER_FILE).unlink(missing_ok=True)
            lock.close()


async def wait_for_earlier_worker(settings: Settings, emit: Callable[[str, str], None]) -> None:
    """Wait for the metrics port: after a crash of `rag up` its worker keeps the port while it finishes its jobs.
    Returns at the latest when that worker's time is up. When another program has the port, the new worker reports it.
    """
    port = settings.jobs.metrics_port
    if not port or settings.server.host not in (HOST, "localhost") or is_free(port):
        return
    patience = settings.jobs.drain_seconds + _EXIT_SECONDS
    emit("worker", f"port {port} is in use; waiting up to {patience:.0f} s for an earlier worker to end its jobs")
    give_up = time.monotonic() + patience
    while not is_free(port) and time.monotonic() < give_up:  # noqa: ASYNC110 - a port tells nobody when it is freed
        await asyncio.sleep(_POLL_SECONDS)


async def start_programs(
    children: Children, settings: Settings
) -> Sequence[tuple[Child, Callable[[], Awaitable[Child]]]]:
    """Start server and worker, and return them once the server is ready, each with what starts it again.

    Errors: `ChildDied`, `DependencyUnavailable` code SERVER_NOT_READY.
    """
    shared = child_variables(settings, AGENTIC_RAG_ENABLED="true")
    token = settings.client.token or ensure_token(settings)
    server = {
        **shared,
        "AGENTIC_RAG_HOST": settings.server.host,
        "AGENTIC_RAG_PORT": str(settings.server.port),
        "AGENTIC_RAG_TOKEN": token,
    }
    worker = {**shared, "AGENTIC_RAG_WORKER_METRICS_PORT": str(settings.jobs.metrics_port)}
    starts = [
        partial(children.start, "server", ("serve",), server),
        partial(children.start, "worker", ("worker",), worker),
    ]
    programs = [(await start(), start) for start in starts]
    await children.guard(_until_ready(server_url(settings), token))
    return programs


async def run_programs(
    settings: Settings,
    embedded: Sequence[EmbeddedServer],
    emit: Callable[[str, str], None],
    welcome: Callable[[], None],
    policy: RestartPolicy | None = None,
) -> None:
    """Run server and worker until SIGINT or SIGTERM; `welcome` is called once they are ready. From then on each of
    them is started again when it ends, and each embedded server at any time. Errors: those of `start_programs`, `keep`
    and `keep_server`.
    """
    kept = policy or RestartPolicy()

    async def live(children: Children) -> None:
        await wait_for_earlier_worker(settings, emit)
        programs = await start_programs(children, settings)
        welcome()
        await race(*(keep(children, child, restart, emit, kept) for child, restart in programs))

    async with Children(emit, settings.jobs.drain_seconds) as children:
        await race(live(children), *(keep_server(one, emit, kept) for one in embedded), wait_for_signal())


def can_work(ready: httpx2.Response) -> bool:
    """Whether /readyz tells that server and worker have what they need. A server calls itself ready without Redis or
    the blob store, the worker beside it would do nothing.
    """
    return ready.is_success and all(
        one["status"] == "ok" or one["name"] in OPTIONAL_FOR_WORKERS for one in ready.json()["checks"]
    )


async def _until_ready(url: str, token: str) -> None:
    deadline = time.monotonic() + READY_SECONDS
    said = "no answer"
    headers = {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=2.0, trust_env=False) as client:
        while time.monotonic() < deadline:
            try:
                response = await client.get("/readyz")
            except httpx2.TransportError as error:
                said = str(error) or type(error).__name__
            else:
                if can_work(response):
                    return
                said = response.text[:500]
            await asyncio.sleep(_POLL_SECONDS)
    raise DependencyUnavailable(
        f"{url}/readyz was not ready within {READY_SECONDS:.0f} s and last said: {said}",
        dependency="server",
        code="SERVER_NOT_READY",
    )
