"""The fixtures every other test builds on."""

import os
from urllib.parse import urlsplit

import asyncpg
import pytest
import redis
from tests.stack import GIVEN_PARTS

from agentic_rag_migrations.partitions import layouts

pytestmark = pytest.mark.integration


async def test_a_fresh_database_is_empty_and_not_the_shared_one(postgres_url: str, fresh_database: str) -> None:
    connection = await asyncpg.connect(fresh_database)
    tables = await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
    await connection.execute("CREATE EXTENSION vector")

    assert tables == 0
    assert urlsplit(fresh_database).path != urlsplit(postgres_url).path
    # Left open on purpose: dropping the database must not wait for it.
    connection.terminate()


def test_a_synchronous_test_may_use_a_fresh_database(fresh_database: str) -> None:
    assert fresh_database.startswith("postgresql://")


@pytest.mark.parametrize("round_", [1, 2])
def test_a_fresh_redis_has_no_keys(fresh_redis: str, round_: int) -> None:
    with redis.Redis.from_url(fresh_redis) as client:
        assert client.dbsize() == 0
        client.set(f"left-behind-{round_}", "x")


async def test_the_large_tables_lie_as_the_session_was_asked_to(migrated_url: str, migrated_database: str) -> None:
    asked = int(os.environ.get(GIVEN_PARTS, "0"))

    for url in (migrated_url, migrated_database):
        assert {one.parts for one in await layouts(url)} == {asked}
