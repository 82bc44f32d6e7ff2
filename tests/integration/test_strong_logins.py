"""In production no server and no worker goes on with a login that may become the owner of the tables."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import httpx2
import pytest
from tests.modest_login import modest_login
from tests.programs import PACKAGES, ROOT
from tests.waiting import eventually

from agentic_rag.embedded.loopback import free_port

pytestmark = [pytest.mark.integration, pytest.mark.network]

REFUSED = "DATABASE_ROLE_TOO_STRONG"
SERVE, WORKER = ("serve",), ("worker", "--processes", "1")


class Started:
    """A program of production, and what it wrote."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path, port: int) -> None:
        self.process = process
        self.log = log
        self.port = port

    async def goes_on(self) -> bool:
        """Whether a worker has met that its database is away, and said so."""
        return "rag_dispatch_failed" in self.log.read_text()

    async def answers(self) -> bool:
        """Whether a server serves."""
        async with httpx2.AsyncClient() as http:
            try:
                return (await http.get(f"http://127.0.0.1:{self.port}/healthz")).status_code == 200
            except httpx2.TransportError:
                return False

    async def ended(self) -> tuple[bool, str]:
        """Whether it ended with an error, and its log."""
        status = await asyncio.wait_for(self.process.wait(), 60)
        return status != 0, self.log.read_text()


Start = Callable[..., contextlib.AbstractAsyncContextManager[Started]]


@pytest.fixture
def start(tmp_path: Path, fresh_redis: str) -> Start:
    @asynccontextmanager
    async def started(database_url: str, *arguments: str) -> AsyncIterator[Started]:
        port, log = free_port(), tmp_path / "log"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": os.pathsep.join([str(ROOT), *(str(ROOT / name) for name in PACKAGES)]),
            "AGENTIC_RAG_PROFILE": "production",
            "AGENTIC_RAG_ENABLED": "true",
            "AGENTIC_RAG_HOME": str(tmp_path),
            "AGENTIC_RAG_PORT": str(port),
            "AGENTIC_RAG_WORKER_METRICS_PORT": "0",
            "AGENTIC_RAG_DRAIN_SECONDS": "1",
            "RAG_EMBEDDER": "deterministic",
            "DATABASE_URL": database_url,
            "REDIS_URL": fresh_redis,
        }
        with log.open("wb") as file:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "agentic_rag_cli",
                *arguments,
                env=environment,
                cwd=tmp_path,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        try:
            yield Started(process, log, port)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    return started


@pytest.mark.parametrize("program", [SERVE, WORKER])
async def test_a_program_ends_at_its_start(start: Start, migrated_url: str, program: tuple[str, ...]) -> None:
    async with start(migrated_url, *program) as started:
        has_failed, log = await started.ended()

    assert has_failed
    assert REFUSED in log


@pytest.mark.parametrize("program", [SERVE, WORKER])
async def test_a_program_that_started_without_its_database_ends_once_that_answers(
    start: Start, migrated_url: str, program: tuple[str, ...]
) -> None:
    real, away = urlsplit(migrated_url), free_port()
    user = real.netloc.rpartition("@")[0]
    url = urlunsplit(real._replace(netloc=f"{user}@127.0.0.1:{away}"))

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, thither = await asyncio.open_connection(real.hostname, real.port)
        with contextlib.suppress(ConnectionError):
            await asyncio.gather(_copy(reader, thither), _copy(there, writer))

    async with start(url, *program) as started:
        is_up = started.answers if program == SERVE else started.goes_on
        await eventually(is_up, "the program runs without its database", 60)
        assert started.process.returncode is None
        async with await asyncio.start_server(forward, "127.0.0.1", away):
            has_failed, log = await started.ended()

    assert has_failed
    assert REFUSED in log


async def test_a_server_with_a_modest_login_serves(start: Start, migrated_url: str) -> None:
    async with modest_login(migrated_url) as url, start(url, *SERVE) as started:
        await eventually(started.answers, "the server answers", 30)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(1 << 16):
        writer.write(piece)
        await writer.drain()
    writer.close()
