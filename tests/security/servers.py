"""A server process of the product, as a stranger meets it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2

from agentic_rag.embedded.loopback import free_port
from tests.chaos.ground import TOKEN, Servers, new_ground, until
from tests.modest_login import modest_login
from tests.programs import Program


@dataclass(frozen=True)
class Served:
    """A running server over an empty database."""

    port: int
    token: str
    http: httpx2.AsyncClient
    pid: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@asynccontextmanager
async def running_server(servers: Servers, **more: str) -> AsyncIterator[Served]:
    """`rag serve` with settings of its own and a login as production demands it; stopped at the end."""
    port = free_port()
    async with (
        new_ground(servers, AGENTIC_RAG_PORT=str(port), **more) as ground,
        modest_login(ground.database_url) as login,
    ):
        with (ground.home / "serve.log").open("ab") as log:
            process = Program(
                [sys.executable, "-m", "agentic_rag_cli", "serve"],
                env=ground.environment(DATABASE_URL=login),
                stdout=log,
                stderr=log,
                cwd=ground.home,
            )
        try:
            async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20.0) as http:

                async def up() -> bool:
                    try:
                        return (await http.get("/healthz")).status_code == 200
                    except httpx2.TransportError:
                        return False

                await until(up, "the server answers", 60.0, 0.1)
                yield Served(port, TOKEN, http, process.pid)
        finally:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Stop a process of ours, by force when it does not go."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
