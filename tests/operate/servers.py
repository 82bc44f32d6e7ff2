"""Server processes behind a balancer, as an operator runs them: stopped by SIGTERM and started again on their port."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

from agentic_rag.embedded.loopback import free_port
from tests.bench import processes
from tests.bench.product import Servers
from tests.programs import Program
from tests.waiting import wait_until

START_SECONDS = 120.0
STOP_SECONDS = 60.0
"""What a stop may take before the harness gives up; what it must not take is a row."""


@dataclass
class ServerProcess:
    """A `rag serve`."""

    servers: Servers
    more: Mapping[str, str]
    """Variables of its own."""
    port: int = field(default_factory=free_port)
    _process: subprocess.Popen[bytes] | None = None

    @property
    def _log(self) -> Path:
        return Path(self.servers.home) / f"serve-{self.port}.log"

    @property
    def pid(self) -> int:
        """Of the process that runs."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it; /readyz says when it can work."""
        own = {"AGENTIC_RAG_PORT": str(self.port), **self.more}
        environment = processes.environment(self.servers, **own)
        with self._log.open("ab") as file:
            command = [sys.executable, "-m", "agentic_rag_cli", "serve"]
            self._process = Program(command, env=environment, cwd=processes.ROOT, stdout=file, stderr=file)

    def until_ready(self) -> None:
        """Errors: `AssertionError` where it does not become so."""
        process = self._process
        assert process is not None

        def is_ready() -> bool:
            assert process.poll() is None, f"the server ended with {process.returncode}"
            return self.readiness() == 200

        try:
            wait_until(is_ready, f"the server at port {self.port} is ready", START_SECONDS)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self._log.read_text('utf-8', 'replace')[-1500:]}") from None

    def readiness(self) -> int:
        """The status of /readyz; 0: nobody listens."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=10) as reply:
                return int(reply.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def stop(self) -> float:
        """SIGTERM; seconds until it was gone, 0 when it does not run. Errors: `AssertionError`, it did not end well."""
        if self._process is None or self._process.poll() is not None:
            return 0.0
        began = time.perf_counter()
        os.kill(self._process.pid, signal.SIGTERM)
        code = self._process.wait(STOP_SECONDS)
        taken = time.perf_counter() - began
        assert code == 0, f"a server that was told to stop ended with {code}"
        return taken

    def processor_seconds(self) -> float:
        """What its threads have used, in user and system mode."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def told(self, event: str) -> list[str]:
        """The lines of its log that tell an event."""
        return [line for line in self._log.read_text("utf-8", "replace").splitlines() if f'"{event}"' in line]

    def kill(self) -> None:
        """Whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@contextmanager
def running(servers: Servers, number: int, **more: str) -> Iterator[list[ServerProcess]]:
    """Ready servers on the same stores."""
    made = [ServerProcess(servers, more) for _ in range(number)]
    try:
        for one in made:
            one.start()
        for one in made:
            one.until_ready()
        yield made
    finally:
        for one in made:
            one.kill()


@asynccontextmanager
async def balanced(ports: Sequence[int]) -> AsyncIterator[int]:
    """The port of a balancer that hands each connection to the next server that takes it."""
    turns = cycle(range(len(ports)))
    piping: set[asyncio.Task[None]] = set()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        turn = next(turns)
        for port in (*ports[turn:], *ports[:turn]):
            try:
                there, back = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                continue
            await asyncio.gather(_pipe(reader, back), _pipe(there, writer))
            return
        writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(forward(reader, writer))
        piping.add(task)
        task.add_done_callback(piping.discard)

    listener = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()
        await asyncio.gather(*piping)


async def _pipe(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await source.read(64 * 1024):
            target.write(piece)
            await target.drain()
    target.close()
    with suppress(ConnectionError):
        await target.wait_closed()
