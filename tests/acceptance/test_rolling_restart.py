"""Servers are replaced one by one under load, with a migration in between: a short form of a row of `make operate`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.bench.corpus import generated_corpus
from tests.bench.product import Servers
from tests.operate.rolling import BETWEEN, roll
from tests.stack import open_home

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def home() -> Iterator[Path]:
    made = open_home("agentic-rag-rolling-")
    yield made
    shutil.rmtree(made, ignore_errors=True)


async def test_no_request_fails_while_servers_are_replaced_and_the_schema_grows(
    migrated_database: str, fresh_redis: str, home: Path
) -> None:
    found = await roll(Servers(migrated_database, fresh_redis, str(home)), generated_corpus(100), rounds=1)

    assert dict(found.failures) == {}
    assert found.restarts == 2
    assert found.requests >= 4 * BETWEEN
