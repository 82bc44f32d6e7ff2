"""The matrix of credentials: what exists after each command × {who made it, until when, audited}, against a declared
list.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from agentic_rag.embedded.loopback import free_port
from tests.bench.reports import Row, exactly
from tests.chaos.ground import PATHS, ROOT, Servers, started_servers, until
from tests.programs import Program
from tests.rag_terminal import RagTerminal
from tests.security.credentials import DECLARED, credentials_of, undeclared
from tests.security.ground import Ground
from tests.security.servers import end
from tests.security.table import Measure


@dataclass
class Operator:
    """`rag` with one home, one database and one Redis."""

    home: Path
    variables: Mapping[str, str]

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        paths = os.pathsep.join([str(ROOT), *PATHS])
        return {**kept, "AGENTIC_RAG_HOME": str(self.home), "PYTHONPATH": paths, **self.variables}

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.home.parent / "commands.log").open("ab") as log:
            return Program(
                [sys.executable, "-m", "agentic_rag_cli", *arguments],
                env=self.environment,
                cwd=self.home.parent,
                stdout=log,
                stderr=log,
            )

    async def while_running(self, arguments: tuple[str, ...], ready: Callable[[], bool], seconds: float = 90) -> None:
        """Start a command, wait until it is ready, stop it."""
        process = self.start(*arguments)

        async def is_ready() -> bool:
            if process.poll() is not None:
                raise AssertionError((self.home.parent / "commands.log").read_text()[-800:])
            return ready()

        try:
            await until(is_ready, f"rag {arguments[0]} is ready", seconds, 0.1)
        finally:
            await asyncio.to_thread(end, process)


def port_open(port: int) -> bool:
    """Whether something listens."""
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


async def by_commands(servers: Servers) -> list[str]:
    """The commands one after the other, on servers that are there, and that nobody else makes logins on."""
    url = await _new_database(servers)
    folder = Path(tempfile.mkdtemp(prefix="credentials-", dir=servers.home))
    home, sources, port = folder / "home", folder / "sources", free_port()
    home.mkdir()
    sources.mkdir()
    (sources / "pump.md").write_text("# Pump\n\nThe pump lifts seven cubic metres.\n")
    operator = Operator(
        home,
        {
            "DATABASE_URL": url,
            "REDIS_URL": servers.stack.redis_url,
            "AGENTIC_RAG_PORT": str(port),
            "AGENTIC_RAG_WORKER_METRICS_PORT": str(metrics := free_port()),
            "AGENTIC_RAG_ENABLED": "true",
            "AGENTIC_RAG_TOKEN": secrets.token_hex(32),
        },
    )
    wrong, taken = list[str](), dict[str, str]()
    before = await credentials_of(home, url, servers.stack.redis_url)
    with RagTerminal(folder, operator.environment) as terminal:
        for command in DECLARED:
            words = tuple(command.split())
            match words[0]:
                case "up":
                    continue
                case "serve":
                    await operator.while_running(words, lambda: port_open(port))
                case "worker":
                    await operator.while_running(words, lambda: port_open(metrics))
                case "ingest":
                    await asyncio.to_thread(terminal.rag, "ingest", "--source", str(sources), "--workspace", "w")
                case "snapshot" if words[1] == "create":
                    taken = json.loads(await asyncio.to_thread(terminal.rag, *words, "--workspace", "w", "--json"))
                case "snapshot":
                    await asyncio.to_thread(terminal.rag, *words, taken["id"], "--into", "copy")
                case "backup" if words[1] == "create":
                    await asyncio.to_thread(terminal.rag, *words, str(folder / "backup"))
                case "backup":
                    wrong += await _restored(servers, terminal, folder, words)
                    continue
                case _:
                    await asyncio.to_thread(terminal.rag, *words)
            after = await credentials_of(home, url, servers.stack.redis_url)
            wrong += undeclared(command, before, after)
            before = after
    await servers.drop_database(url)
    return wrong


async def _restored(servers: Servers, terminal: RagTerminal, folder: Path, command: tuple[str, ...]) -> list[str]:
    """A backup in an empty database and home."""
    url, home = await _new_database(servers), folder / "restored"
    home.mkdir()
    before = await credentials_of(home, url, servers.stack.redis_url)
    variables = {"DATABASE_URL": url, "AGENTIC_RAG_HOME": str(home)}
    await asyncio.to_thread(terminal.rag, *command, str(folder / "backup"), **variables)
    after = await credentials_of(home, url, servers.stack.redis_url)
    await servers.drop_database(url)
    return undeclared(" ".join(command), before, after)


async def _new_database(servers: Servers) -> str:
    """An empty one."""
    name = f"credentials_{secrets.token_hex(4)}"
    await _execute(servers.stack.database_url, f'CREATE DATABASE "{name}"')
    return urlunsplit(urlsplit(servers.stack.database_url)._replace(path=f"/{name}"))


async def by_up(servers: Servers) -> list[str]:
    """`rag up` on a home of its own, with embedded servers."""
    folder = Path(tempfile.mkdtemp(prefix="credentials-", dir=servers.home))
    folder.chmod(0o711)
    home = folder / "home"
    operator, port = Operator(home, {"AGENTIC_RAG_WORKER_METRICS_PORT": "0"}), free_port()
    process = operator.start("up", "--port", str(port))
    try:

        async def is_ready() -> bool:
            if process.poll() is not None:
                raise AssertionError((folder / "commands.log").read_text()[-800:])
            return port_open(port)

        await until(is_ready, "rag up is ready", 120, 0.2)
        states = {name: json.loads((home / name / "server.json").read_text()) for name in ("postgres", "redis")}
        postgres, redis = states["postgres"], states["redis"]
        url = f"postgresql://postgres:{postgres['password']}@127.0.0.1:{postgres['port']}/agentic_rag"
        found = await credentials_of(home, url, f"redis://:{redis['password']}@127.0.0.1:{redis['port']}/0")
    finally:
        await asyncio.to_thread(end, process)
    return undeclared("up", frozenset(), found)


async def _execute(url: str, statement: str) -> None:
    server = await asyncpg.connect(url)
    try:
        await server.execute(statement)
    finally:
        await server.close()


async def credentials(ground: Ground, short: bool) -> list[Row]:
    """What differs from the list, printed; the short form leaves `rag up` out."""
    with started_servers() as servers:
        wrong = await by_commands(servers)
        if not short:
            wrong += await by_up(servers)
    for line in wrong:
        print(f"  {line}")
    return [exactly("credentials that differ from the declared list", len(wrong), 0)]


ROWS: Mapping[str, Measure] = {"credentials": credentials}
