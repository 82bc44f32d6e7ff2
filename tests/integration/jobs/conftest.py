"""A migrated database per test, copied from one template."""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.integration.jobs.data_plane import DataPlane
from tests.stack import Stack, copy_statement, database_at, execute


@pytest.fixture
async def plane(migrated_database: str, fresh_redis: str, tmp_path: Path) -> AsyncIterator[DataPlane]:
    """The data plane over servers and a workspace of this test's own."""
    plane = DataPlane(migrated_database, fresh_redis, tmp_path / "blobs")
    await plane.prepare()
    yield plane
    await plane.aclose()


@pytest.fixture
async def twin(postgres_url: str, session_stack: Stack, plane: DataPlane, tmp_path: Path) -> AsyncIterator[DataPlane]:
    """A data plane whose workspace has the id and the organisation the secret of `plane`'s, so that equal files get
    equal ids, on another database.
    """
    name = f"test_{secrets.token_hex(6)}"
    await execute(postgres_url, copy_statement(name, session_stack.template()))
    twin = DataPlane(
        database_at(postgres_url, name),
        plane.redis_url,
        tmp_path / "twin-blobs",
        queue_name="agentic-rag-twin",
        workspace=plane.workspace,
    )
    await twin.prepare()
    for one in (plane, twin):
        await one.set_id_key(b"the secret of both")
    yield twin
    await twin.aclose()
    await execute(postgres_url, f'DROP DATABASE "{name}" WITH (FORCE)')


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
