"""Supervises child processes and embedded servers: restarts a dead one, and stops all together on a signal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Never

from agentic_rag.embedded.errors import EmbeddedServerError
from agentic_rag.embedded.server import EmbeddedServer
from agentic_rag.settings import Settings
from agentic_rag_cli.processes.children import Child, Children, death, race, wait_for_signal
from agentic_rag_cli.processes.servers import child_variables

SPARE_SECONDS = 5.0
"""Seconds beyond a child's own drain time after which it is killed."""


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """When to restart a dead child, in seconds. A child that repeatedly fails at start is reported as an error."""

    settled: float = 10.0
    """A child that lived this long counts as started successfully."""
    first_pause: float = 0.5
    longest_pause: float = 30.0
    early_deaths: int = 5
    """This many early deaths in a row end the supervision."""
    look: float = 0.2
    """How often an embedded server is looked at."""

    def pause(self, early_deaths: int) -> float:
        """Seconds to wait after that many early deaths in a row."""
        return min(self.longest_pause, self.first_pause * 2**early_deaths)


async def supervise(
    settings: Settings,
    processes: int,
    emit: Callable[[str, str], None],
    *,
    arguments: Sequence[str] = ("worker", "--processes", "1"),
    policy: RestartPolicy | None = None,
) -> None:
    """Run `processes` copies of `rag ARGUMENTS` until SIGINT or SIGTERM, each with the next metrics port; then all
    drain together.

    Errors: `ChildDied` when a child repeatedly dies at start; `OSError` when none can be started.
    """
    policy = policy or RestartPolicy()
    async with Children(emit, settings.jobs.drain_seconds + SPARE_SECONDS) as children:
        keeping = [
            _keep(children, f"worker {number}", arguments, _variables(settings, number), emit, policy)
            for number in range(processes)
        ]
        await race(*keeping, wait_for_signal())


async def supervise_servers(settings: Settings, processes: int, emit: Callable[[str, str], None]) -> None:
    """Run `processes` servers on one port until SIGINT or SIGTERM; then all drain together. This process takes the port
    and keeps it while a server is started again, so that connections wait meanwhile.

    Errors: `Misconfigured` (PORT_IN_USE and others of the port), `ChildDied`, `OSError` as of `supervise`.
    """
    from prometheus_client.multiprocess import mark_process_dead

    from agentic_rag_server.listener import listen, take_no_more

    host = settings.server.host
    with TemporaryDirectory(prefix="agentic-rag-metrics-") as metrics, listen(host, settings.server.port) as listener:
        variables = child_variables(
            settings,
            AGENTIC_RAG_HOST=host,
            AGENTIC_RAG_PORT=str(listener.getsockname()[1]),
            # The library of metrics reads it before it makes the first one.
            PROMETHEUS_MULTIPROC_DIR=metrics,
        )
        arguments = ("serve", "--listener", str(listener.fileno()), "--beside", str(processes))
        policy = RestartPolicy()
        async with Children(emit, settings.jobs.drain_seconds + SPARE_SECONDS) as children:

            async def serve(name: str) -> None:
                async def start() -> Child:
                    return await children.start(name, arguments, variables, (listener.fileno(),))

                await keep(
                    children, await start(), start, emit, policy, lambda pid: mark_process_dead(str(pid), metrics)
                )

            await race(*(serve(f"server {number}") for number in range(processes)), wait_for_signal())
            # The servers have it still: each takes what has come, and the last one closes the port.
            take_no_more(listener)
            listener.close()


async def _keep(
    children: Children,
    name: str,
    arguments: Sequence[str],
    variables: Mapping[str, str],
    emit: Callable[[str, str], None],
    policy: RestartPolicy,
) -> None:
    async def start() -> Child:
        return await children.start(name, arguments, variables)

    await keep(children, await start(), start, emit, policy)


async def keep(
    children: Children,
    child: Child,
    restart: Callable[[], Awaitable[Child]],
    emit: Callable[[str, str], None],
    policy: RestartPolicy,
    on_end: Callable[[int], object] = lambda _: None,
) -> Never:
    """Start a child again whenever it ends; `on_end` is told its process id. Errors: `ChildDied` when it repeatedly
    dies early; those of `restart`.
    """
    early_deaths, began = 0, time.monotonic()
    while True:
        code = await child.wait()
        children.forget(child)
        on_end(child.pid)
        early_deaths = 0 if time.monotonic() - began >= policy.settled else early_deaths + 1
        if early_deaths >= policy.early_deaths:
            raise death(child, code)
        pause = policy.pause(early_deaths)
        emit(child.name, f"{child.name} ended with exit code {code}; starting it again in {pause:g} s")
        await asyncio.sleep(pause)
        began = time.monotonic()
        child = await restart()


async def keep_server(server: EmbeddedServer, emit: Callable[[str, str], None], policy: RestartPolicy) -> Never:
    """Start an embedded server again whenever it ends. One that another command started becomes this process's own when
    that command ends. Errors: `EmbeddedServerError` when it repeatedly dies early or cannot be started.
    """
    while not server.is_owner:
        await asyncio.sleep(policy.look)
        if not server.has_owner:
            emit(server.name, f"the command that had started {server.name} ended; starting it again")
            await asyncio.to_thread(server.take_over)
    early_deaths, began = 0, time.monotonic()
    while True:
        await asyncio.sleep(policy.look)
        if server.running:
            continue
        early_deaths = 0 if time.monotonic() - began >= policy.settled else early_deaths + 1
        if early_deaths >= policy.early_deaths:
            raise server.failure("it ends soon after each start")
        pause = policy.pause(early_deaths)
        emit(server.name, f"{server.name} ended; starting it again in {pause:g} s (its log: {server.log})")
        await asyncio.sleep(pause)
        began = time.monotonic()
        try:
            await asyncio.to_thread(server.revive)
        except EmbeddedServerError:
            if early_deaths + 1 >= policy.early_deaths:
                raise


def _variables(settings: Settings, number: int) -> Mapping[str, str]:
    port = settings.jobs.metrics_port
    return child_variables(settings, AGENTIC_RAG_WORKER_METRICS_PORT=str(port + number if port else 0))
