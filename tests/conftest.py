"""Fixtures and guards of the whole suite; the guards themselves are in tests/guards.py."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest
import redis
from hypothesis import HealthCheck, settings

from agentic_rag_migrations.upgrade import upgrade
from tests import guards
from tests.stack import SessionStack, redis_sources

# Laws are judged by what comes out: on a machine that does other work, how long an example took says nothing.
settings.register_profile("laws", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fast", settings.get_profile("laws"), max_examples=20)
settings.load_profile("laws")


def pytest_configure() -> None:
    guards.install()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if (reason := guards.missing_component(report)) is not None:
        report.outcome = "failed"
        report.longrepr = f"{guards.FORBID_SKIPS} is set and this was skipped: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if (reason := guards.missing_component(report)) is not None:
        report.outcome = "failed"
        report.longrepr = f"{guards.FORBID_SKIPS} is set and this was skipped: {reason}"
    return report


@pytest.fixture(scope="session")
def session_stack() -> Iterator[SessionStack]:
    """The servers of this session; each starts when first asked for."""
    stack = SessionStack()
    yield stack
    stack.stop()


@pytest.fixture(scope="session")
def postgres_url(session_stack: SessionStack) -> str:
    """Superuser address of a real Postgres with pgvector, shared by the session."""
    return session_stack.postgres_url()


@pytest.fixture(scope="session", params=redis_sources())
def redis_url(request: pytest.FixtureRequest, session_stack: SessionStack) -> str:
    """Address of a real Redis, shared by the session; tests run once per installed build."""
    return session_stack.redis_url(request.param)


@pytest.fixture(scope="session")
def neo4j_url(session_stack: SessionStack) -> str:
    """Bolt address of a real Neo4j 5.26, shared by the session; graphs are told apart by workspace."""
    return session_stack.neo4j_url()


@pytest.fixture
def fresh_redis(redis_url: str) -> str:
    """Address of a Redis without keys."""
    with redis.Redis.from_url(redis_url) as client:
        client.flushdb()
    return redis_url


@pytest.fixture
async def fresh_database(postgres_url: str) -> AsyncIterator[str]:
    """Superuser address of an empty database of this test's own."""
    name = f"test_{secrets.token_hex(6)}"
    server = await asyncpg.connect(postgres_url)
    try:
        await server.execute(f'CREATE DATABASE "{name}"')
        yield urlunsplit(urlsplit(postgres_url)._replace(path=f"/{name}"))
        await server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    finally:
        await server.close()


@pytest.fixture(scope="session")
def migrated_url(postgres_url: str) -> str:
    """Superuser address of a database of this session at the newest schema; tests are told apart by organisation."""

    async def make() -> str:
        url = urlunsplit(urlsplit(postgres_url)._replace(path=f"/test_{secrets.token_hex(6)}"))
        server = await asyncpg.connect(postgres_url)
        try:
            await server.execute(f'CREATE DATABASE "{urlsplit(url).path[1:]}"')
        finally:
            await server.close()
        await upgrade(url)
        return url

    # A loop of its own, in a thread of its own: an asynchronous fixture may be what asks.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(make())).result()
