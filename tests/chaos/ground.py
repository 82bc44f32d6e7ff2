"""What one row of the table stands on: a database, a queue and a blob folder of its own, and a provider that counts
what it was paid for. The servers are real and shared by the rows.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import asyncpg

from agentic_rag.bootstrap import Container, build_container
from agentic_rag.embedded.stack import EmbeddedStack
from agentic_rag.ingestion.sync import SyncResult
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_migrations.upgrade import upgrade
from tests.neo4j_server import Neo4jServer
from tests.provider_stub import ProviderStub
from tests.stack import copy_statement
from tests.waiting import growing_pauses

WORKSPACE = WorkspaceRef(DEFAULT_ORG_ID, uuid4())
"""The same in every database of this process, so that chunk and entity ids of two runs can be compared."""

SAME_IDS = "ALTER TABLE rag_organizations ALTER COLUMN document_key SET DEFAULT decode(repeat('ab', 32), 'hex')"
"""The secret that ids of documents follow from is one in every database, for the same comparison."""

STOPPED = (asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError, asyncpg.InterfaceError, OSError)
"""What a connection raises whose server was stopped."""
TOKEN = "chaos-token-of-thirty-two-characters"
LEASE_SECONDS = 1.0
PATIENCE_SECONDS = 120.0

SHORT = {
    "AGENTIC_RAG_ENABLED": "true",
    "AGENTIC_RAG_LOG_LEVEL": "warning",
    "AGENTIC_RAG_SCHEDULE": "calibrate_minutes=0",
    "AGENTIC_RAG_WORKER_METRICS_PORT": "0",
    "AGENTIC_RAG_JOB_LEASE_SECONDS": str(LEASE_SECONDS),
    "AGENTIC_RAG_JOB_BACKOFF_MS": "50",
    "AGENTIC_RAG_WORKER_CONCURRENCY": "4",
    "AGENTIC_RAG_DRAIN_SECONDS": "5",
    "AGENTIC_RAG_CHUNK_PROFILE": "small",
    "RAG_EMBEDDER": "openai",
    "OPENAI_API_KEY": "test-key",
    "AGENTIC_RAG_EMBEDDING_MODEL": "stub:8",
}
"""Short leases and pauses; everything else is as users have it."""

ROOT = Path(__file__).resolve().parents[2]
PATHS = [str(ROOT / folder) for folder in ("core", "server", "worker", "cli", "eval", "migrations")]


@dataclass(frozen=True)
class GivenServers:
    """Addresses of servers that somebody else runs, and others use too."""

    database_url: str
    redis_url: str


@dataclass
class Servers:
    """One Postgres and one Redis for all rows, and a migrated template that each row's database is copied from."""

    stack: EmbeddedStack | GivenServers
    home: Path
    shared_neo4j: str = ""
    """Address of a Neo4j whose graphs are told apart by workspace; empty: rows take one of their own."""
    _template: str = ""
    _neo4j: Neo4jServer | None = None

    def neo4j(self) -> Neo4jServer:
        """A real Neo4j that a row may stop, started when one first asks for it."""
        if self._neo4j is None:
            folder = self.home / "neo4j"
            folder.mkdir()
            self._neo4j = Neo4jServer(folder)
        self._neo4j.start()
        return self._neo4j

    def stop(self) -> None:
        """Stop what the rows made start."""
        if self._neo4j is not None:
            self._neo4j.stop()

    async def new_database(self) -> str:
        """Superuser address of a fresh migrated database."""
        if not self._template:
            self._template = f"chaos_template_{secrets.token_hex(4)}"
            await self._execute(f'CREATE DATABASE "{self._template}"')
            await upgrade(_named(self.stack.database_url, self._template))
            await self._execute(SAME_IDS, self._template)
        name = f"chaos_{secrets.token_hex(6)}"
        await self._execute(copy_statement(name, self._template))
        return _named(self.stack.database_url, name)

    async def drop_database(self, url: str) -> None:
        """Remove a row's database."""
        await self._execute(f'DROP DATABASE "{urlsplit(url).path[1:]}" WITH (FORCE)')

    async def _execute(self, statement: str, database: str = "") -> None:
        server = await asyncpg.connect(
            _named(self.stack.database_url, database) if database else self.stack.database_url
        )
        try:
            await server.execute(statement)
        finally:
            await server.close()


@contextlib.contextmanager
def started_servers() -> Iterator[Servers]:
    """Embedded servers in a folder of their own, stopped and removed at the end."""
    # As root the embedded servers run as another user, who must be able to enter the folder.
    home = Path(tempfile.mkdtemp(prefix="rag-chaos-"))
    home.chmod(0o711)
    try:
        with EmbeddedStack(home / "state") as stack:
            servers = Servers(stack, home)
            try:
                yield servers
            finally:
                servers.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)


@dataclass
class Ground:
    """One row's world. `variables` are the environment of its product processes."""

    servers: Servers
    database_url: str
    home: Path
    stub: ProviderStub
    variables: dict[str, str]
    mark: str = field(default_factory=lambda: secrets.token_hex(8))
    """In the environment of every process that the row starts."""
    workspace: WorkspaceRef = WORKSPACE
    _container: Container | None = None
    _reader: Any = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def container(self) -> Container:
        """The product, wired in this process: what an API process would do to the stores."""
        assert self._container is not None
        return self._container

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of a child process."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return {
            **kept,
            **self.variables,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *PATHS]),
            "PYTHONUNBUFFERED": "1",
            "CHAOS_MARK": self.mark,
            **more,
        }

    async def sync(self, folder: Path, workspace: WorkspaceRef | None = None) -> SyncResult:
        """Hand a folder to ingestion."""
        source = self.container.directory_source(folder)
        return await self.container.sync_source.run(workspace or self.workspace, source, "chaos")

    async def add_workspace(self, workspace: WorkspaceRef) -> None:
        async with self.container.database.transaction(workspace.org_id) as transaction:
            await transaction.workspaces.create(
                workspace.workspace_id, str(workspace.workspace_id), WorkspaceKind.GENERAL, None, WorkspaceSettings()
            )

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Any]:
        """A superuser's connection, which row level security does not bind."""
        opened = await asyncpg.connect(self.database_url)
        try:
            yield opened
        finally:
            await opened.close()

    async def value(self, statement: str, *arguments: object) -> Any:
        """One value, read by a superuser."""
        return await self._read(lambda reader: reader.fetchval(statement, *arguments))

    async def rows(self, statement: str, *arguments: object) -> list[Any]:
        return await self._read(lambda reader: reader.fetch(statement, *arguments))

    async def _read(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        """By a connection that is kept, since who waits reads often; by a new one when its server was stopped."""
        async with self._turn:
            if self._reader is not None:
                try:
                    return await work(self._reader)
                except (
                    asyncpg.PostgresConnectionError,
                    asyncpg.OperatorInterventionError,
                    asyncpg.InterfaceError,
                    OSError,
                ):
                    self._reader.terminate()
            self._reader = None
            self._reader = await asyncpg.connect(self.database_url)
            return await work(self._reader)

    async def close(self) -> None:
        """Close the connection that is kept."""
        if self._reader is not None:
            await self._reader.close()

    def leave(self) -> None:
        """Drop the connection that is kept, whatever became of its server."""
        if self._reader is not None:
            self._reader.terminate()

    async def ready(self) -> int:
        """Documents that are READY."""
        return await self.value("SELECT count(*) FROM rag_documents WHERE status = 'READY'")

    async def unfinished(self) -> int:
        return await self.value("SELECT count(*) FROM rag_jobs WHERE state IN ('QUEUED', 'RUNNING')")

    async def until_idle(self, seconds: float = PATIENCE_SECONDS, poll: float = 0.02) -> None:
        """Wait until no job is unfinished."""

        async def idle() -> bool:
            return not await self.unfinished()

        try:
            await until(idle, "all jobs finished", seconds, poll)
        except AssertionError as error:
            raise AssertionError(f"{error}; {await self.unfinished_work()}") from None

    async def unfinished_work(self) -> str:
        """What a row that hangs says about itself."""
        jobs = await self.rows(
            "SELECT kind, state, attempts, fence, leased_by, error_code, count(*) AS jobs, "
            "min(run_after) - clock_timestamp() AS due, min(lease_until) - clock_timestamp() AS lease "
            "FROM rag_jobs WHERE state <> 'DONE' GROUP BY 1, 2, 3, 4, 5, 6 LIMIT 10"
        )
        blocked = await self.rows(
            "SELECT pid, state, wait_event, left(query, 80) AS query, pg_blocking_pids(pid) AS blocking "
            "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return "\n".join(str(dict(row)) for row in (*jobs, *blocked))

    def paid(self) -> Counter[str]:
        """How often the provider was asked for the embedding of each text."""
        return Counter(
            text
            for request in list(self.stub.received)
            if request.path == "/v1/embeddings"
            for text in request.body["input"]
        )


@asynccontextmanager
async def new_ground(servers: Servers, **more: str) -> AsyncIterator[Ground]:
    """A fresh world; `more` adds to (or replaces) the environment of its processes."""
    url = await servers.new_database()
    home = Path(tempfile.mkdtemp(prefix="ground-", dir=servers.home))
    with ProviderStub() as stub:
        variables = {
            **SHORT,
            "DATABASE_URL": url,
            "REDIS_URL": servers.stack.redis_url,
            "AGENTIC_RAG_HOME": str(home),
            "AGENTIC_RAG_QUEUE_NAME": f"chaos-{secrets.token_hex(4)}",
            "AGENTIC_RAG_TOKEN": TOKEN,
            "OPENAI_BASE_URL": stub.base_url,
            **more,
        }
        ground = Ground(servers, url, home, stub, variables)
        try:
            async with build_container(load_settings(variables, dotenv=home / "none")) as container:
                ground._container = container
                await container.first_access.ensure_organisation()
                await ground.add_workspace(ground.workspace)
                yield ground
            await ground.close()
        finally:
            # A row that breaks would leave it to the collector of garbage, which warns in another test.
            ground.leave()
    await servers.drop_database(url)
    shutil.rmtree(home, ignore_errors=True)


async def until(
    condition: Callable[[], Awaitable[bool]], what: str, seconds: float = PATIENCE_SECONDS, poll: float = 0.02
) -> None:
    """Return as soon as `condition` holds; fail naming `what` after `seconds`."""
    ends, pauses = time.monotonic() + seconds, growing_pauses(poll)
    while not await condition():
        if time.monotonic() > ends:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        await asyncio.sleep(next(pauses))


def _named(url: str, database: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))
