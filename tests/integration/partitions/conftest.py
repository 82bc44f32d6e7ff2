"""A database whose large tables lie in partitions, for the product as a whole; and one of a test's own."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.contract.backends import Backend, postgres_backend
from tests.integration.jobs.data_plane import DataPlane
from tests.stack import Stack, copy_statement, database_at, execute

from agentic_rag_migrations.partitions import partition

PARTS = 4


@pytest.fixture(scope="session")
def migrated_url(postgres_url: str, session_stack: Stack) -> str:
    """Superuser address of a database in partitions; tests are told apart by organisation."""
    name = f"test_{secrets.token_hex(6)}"
    copy = copy_statement(name, session_stack.template())
    url = database_at(postgres_url, name)
    # A loop of its own, in a thread of its own: an asynchronous fixture may be what asks.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, execute(postgres_url, copy)).result()
        thread.submit(asyncio.run, partition(url, PARTS)).result()
    return url


@pytest.fixture
async def stores(request: pytest.FixtureRequest, migrated_url: str) -> AsyncIterator[Backend]:
    """Every store, in partitions."""
    async with postgres_backend(request) as backend:
        yield backend


@pytest.fixture
async def plane(migrated_database: str, fresh_redis: str, tmp_path: Path) -> AsyncIterator[DataPlane]:
    """The data plane over partitions, in a database of this test's own."""
    await partition(migrated_database, PARTS)
    plane = DataPlane(migrated_database, fresh_redis, tmp_path / "blobs")
    await plane.prepare()
    yield plane
    await plane.aclose()
