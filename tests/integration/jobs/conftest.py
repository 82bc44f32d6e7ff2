"""A migrated database per test, copied from one template."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest
from tests.integration.jobs.data_plane import DataPlane

from agentic_rag_migrations.upgrade import upgrade


def _named(url: str, database: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


async def _execute(url: str, statement: str) -> None:
    server = await asyncpg.connect(url)
    try:
        await server.execute(statement)
    finally:
        await server.close()


@pytest.fixture(scope="session")
def migrated_template(postgres_url: str) -> Iterator[str]:
    """Name of a migrated database nobody is connected to."""
    name = f"template_{secrets.token_hex(6)}"

    async def make() -> None:
        await _execute(postgres_url, f'CREATE DATABASE "{name}"')
        await upgrade(_named(postgres_url, name))

    asyncio.run(make())
    yield name
    asyncio.run(_execute(postgres_url, f'DROP DATABASE "{name}" WITH (FORCE)'))


@pytest.fixture
async def migrated_database(postgres_url: str, migrated_template: str) -> AsyncIterator[str]:
    """Superuser address of a migrated database of this test's own."""
    name = f"test_{secrets.token_hex(6)}"
    await _execute(postgres_url, f'CREATE DATABASE "{name}" TEMPLATE "{migrated_template}"')
    yield _named(postgres_url, name)
    await _execute(postgres_url, f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
async def plane(migrated_database: str, fresh_redis: str, tmp_path: Path) -> AsyncIterator[DataPlane]:
    """The data plane over servers and a workspace of this test's own."""
    plane = DataPlane(migrated_database, fresh_redis, tmp_path / "blobs")
    await plane.prepare()
    yield plane
    await plane.aclose()


@pytest.fixture
async def twin(postgres_url: str, migrated_template: str, plane: DataPlane, tmp_path: Path) -> AsyncIterator[DataPlane]:
    """A data plane whose workspace has the id of `plane`'s, so that equal files get equal ids, on another database."""
    name = f"test_{secrets.token_hex(6)}"
    await _execute(postgres_url, f'CREATE DATABASE "{name}" TEMPLATE "{migrated_template}"')
    twin = DataPlane(
        _named(postgres_url, name),
        plane.redis_url,
        tmp_path / "twin-blobs",
        queue_name="agentic-rag-twin",
        workspace=plane.workspace,
    )
    await twin.prepare()
    yield twin
    await twin.aclose()
    await _execute(postgres_url, f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
async def outbox(migrated_database: str, tmp_path: Path) -> AsyncIterator[DataPlane]:
    """The same for tests of Postgres alone; its Redis address leads nowhere."""
    plane = DataPlane(migrated_database, "redis://127.0.0.1:1", tmp_path / "blobs")
    await plane.prepare()
    yield plane
    await plane.aclose()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty source directory."""
    folder = tmp_path / "source"
    folder.mkdir()
    return folder
