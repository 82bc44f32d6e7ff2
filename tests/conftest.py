"""Fixtures and guards of the whole suite; the guards themselves are in tests/guards.py."""

from __future__ import annotations

import asyncio
import fcntl
import functools
import gc
import secrets
import signal
import tempfile
from collections.abc import AsyncIterator, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpcore2
import pytest
import redis
import typer.testing
from hypothesis import HealthCheck, settings

from tests import guards, held_transactions
from tests.dealing import deal
from tests.guards import pytest_make_collect_report, pytest_runtest_makereport
from tests.memory_folder import memory_folder
from tests.shared_stack import StackDesk, WorkerStack
from tests.stack import NEO4J, POSTGRES, SessionStack, Stack, copy_statement, database_at, execute, redis_sources
from tests.telling import pytest_runtest_call

# Laws are judged by what comes out: on a machine that does other work, how long an example took says nothing.
settings.register_profile("laws", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fast", settings.get_profile("laws"), max_examples=10)
settings.register_profile("ci", settings.get_profile("laws"), max_examples=50)
settings.register_profile("thorough", settings.get_profile("laws"), max_examples=1000)
settings.load_profile("laws")

__all__ = ["pytest_make_collect_report", "pytest_runtest_call", "pytest_runtest_makereport"]

# Every client of an HTTP provider reads the machine's certificates anew, 40 ms of it; no test speaks TLS to a stranger.
httpcore2.default_ssl_context = functools.cache(httpcore2.default_ssl_context)
# `rag` has some seventy commands, and typer builds them all for every call.
typer.testing._get_command = functools.cache(typer.testing._get_command)

_DESK = pytest.StashKey[StackDesk]()


def pytest_configure() -> None:
    # As `rag` sets it: to look for garbage among the modules of all tests again and again takes long.
    gc.set_threshold(50_000, 20, 50)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts a job in the background so, and the programs that tests interrupt would be deaf like it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    tempfile.tempdir = memory_folder()
    guards.install()
    held_transactions.install()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of a parallel run where to ask for servers."""
    desk = node.config.stash.setdefault(_DESK, StackDesk(SessionStack()))
    node.workerinput["stack_port"] = desk.port
    node.workerinput["stack_key"] = desk.key


def pytest_unconfigure(config: pytest.Config) -> None:
    if (desk := config.stash.get(_DESK, None)) is not None:
        desk.stack.stop()


@contextmanager
def _compiled_once(config: pytest.Config) -> Iterator[None]:
    """In a fresh clone the first worker compiles the tests, and the others wait for its bytecode: to compile them takes
    as long as to import them.
    """
    if not hasattr(config, "workerinput") or (Path(__file__).parent / "acceptance" / "__pycache__").exists():
        yield
        return
    with Path(__file__).open() as door:
        try:
            fcntl.flock(door, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(door, fcntl.LOCK_SH)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect without the collector of garbage: next to nothing of what is made is garbage, and it lives as long as the
    session.
    """
    gc.disable()
    try:
        with _compiled_once(session.config):
            found = yield
        gc.freeze()
        return found
    finally:
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Each worker of a parallel run gets what waits for servers first."""
    if (told := getattr(config, "workerinput", None)) is not None:
        items[:] = deal(items, told["workercount"])


@pytest.fixture(scope="session")
def session_stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """The servers of this run; each starts when first asked for."""
    if (told := getattr(request.config, "workerinput", None)) is not None:
        number = int(told["workerid"].removeprefix("gw")) + 1
        yield WorkerStack(told["stack_port"], told["stack_key"], number)
        return
    stack = SessionStack()
    yield stack
    stack.stop()


@pytest.fixture(scope="session")
def postgres_url(session_stack: Stack) -> str:
    """Superuser address of a real Postgres with pgvector, shared by the run."""
    return session_stack.address(POSTGRES)


@pytest.fixture(scope="session")
def redis_url(session_stack: Stack) -> str:
    """Address of a database of this worker's own on a real Redis, shared by the run."""
    return session_stack.redis_url(redis_sources()[0])


@pytest.fixture(scope="session")
def neo4j_url(session_stack: Stack) -> str:
    """Bolt address of a real Neo4j 5.26, shared by the run; graphs are told apart by workspace."""
    return session_stack.address(NEO4J)


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
    await execute(postgres_url, f'CREATE DATABASE "{name}"')
    yield database_at(postgres_url, name)
    await execute(postgres_url, f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
async def migrated_database(postgres_url: str, session_stack: Stack) -> AsyncIterator[str]:
    """Superuser address of a migrated database of this test's own."""
    name = f"test_{secrets.token_hex(6)}"
    await execute(postgres_url, copy_statement(name, session_stack.template()))
    yield database_at(postgres_url, name)
    await execute(postgres_url, f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
def migrated_url(postgres_url: str, session_stack: Stack) -> str:
    """Superuser address of a migrated database of this worker's; tests are told apart by organisation."""
    name = f"test_{secrets.token_hex(6)}"
    copy = copy_statement(name, session_stack.template())
    # A loop of its own, in a thread of its own: an asynchronous fixture may be what asks.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, execute(postgres_url, copy)).result()
    return database_at(postgres_url, name)
