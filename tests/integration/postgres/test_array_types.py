"""A new connection asks the server about no array of the server's own types."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from agentic_rag.adapters.postgres.session.array_types import ARRAYS
from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool

pytestmark = pytest.mark.integration

VALUES: dict[str, list[Any]] = {
    "_bool": [True, None, False],
    "_bytea": [b"\x00", b""],
    "_int2": [-1, 2],
    "_int4": [1 << 30, None],
    "_int8": [-(1 << 62)],
    "_float4": [0.5, -2.0],
    "_float8": [0.1],
    "_date": [date(2026, 11, 29)],
    "_timestamptz": [datetime(2026, 11, 29, 12, tzinfo=UTC)],
    "_numeric": [Decimal("1.50")],
    "_uuid": [UUID(int=7), None],
    "_jsonb": [{"a": [1]}, "text", None],
}


@pytest.fixture
async def pool(migrated_url: str) -> AsyncIterator[PostgresPool]:
    made = PostgresPool(migrated_url, PoolOptions(role=None, max_size=1))
    yield made
    await made.aclose()


async def test_every_array_comes_and_goes_and_the_server_is_asked_about_none(pool: PostgresPool) -> None:
    async with pool.connection() as connection:
        found = {name: await connection.fetchval(f"SELECT $1::{name[1:]}[]", given) for name, given in VALUES.items()}
        asked = await connection.fetch("SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%pg_type%'")

    assert VALUES.keys() == {name for name, _ in ARRAYS.values()}
    assert found == VALUES
    assert not any("typeinfo" in one["statement"] for one in asked)


@pytest.mark.parametrize(("array", "is_asked"), [("halfvec", False), ("interval", True)])
async def test_that_of_vectors_is_known_too_and_a_rare_one_is_asked_about(
    pool: PostgresPool, array: str, is_asked: bool
) -> None:
    async with pool.connection() as connection:
        found = await connection.fetchval(f"SELECT $1::{array}[]", [None])
        asked = await connection.fetch("SELECT statement FROM pg_prepared_statements")

    assert found == [None]
    assert any("typeinfo" in one["statement"] for one in asked) is is_asked


async def test_the_numbers_are_those_of_the_server(postgres_url: str) -> None:
    server = await asyncpg.connect(postgres_url)
    try:
        rows = await server.fetch("SELECT oid, typname, typelem FROM pg_type WHERE oid = any($1::oid[])", [*ARRAYS])
    finally:
        await server.close()

    assert {one["oid"]: (one["typname"], one["typelem"]) for one in rows} == ARRAYS
