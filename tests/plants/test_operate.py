"""Every row of `make operate` holds in short form, and misses the lie that is planted for it."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.bench.corpus import generated_corpus
from tests.bench.product import Servers
from tests.operate.drill import Drill, drill
from tests.operate.table import TABLE
from tests.plants.operate import MUTANTS
from tests.plants.planting import missed, plant
from tests.stack import Stack, copy_statement, database_at, execute

pytestmark = [pytest.mark.integration]


@pytest.fixture
async def places(
    postgres_url: str, session_stack: Stack, fresh_redis: str, tmp_path: Path
) -> AsyncIterator[tuple[Servers, Servers]]:
    """Two migrated databases without rows, each with a home."""
    made: list[Servers] = []
    for place in ("before", "after"):
        name = f"test_{secrets.token_hex(6)}"
        await execute(postgres_url, copy_statement(name, session_stack.template()))
        (tmp_path / place).mkdir()
        made.append(Servers(database_at(postgres_url, name), fresh_redis, str(tmp_path / place)))
    yield made[0], made[1]
    for one in made:
        await execute(postgres_url, f'DROP DATABASE "{one.database_url.rpartition("/")[2]}" WITH (FORCE)')


async def _drill(places: tuple[Servers, Servers]) -> Drill:
    return await drill(*places, generated_corpus(60), questions=6)


def test_every_row_has_a_lie() -> None:
    assert MUTANTS.keys() == TABLE.keys()


async def test_rows_hold_in_short_form(places: tuple[Servers, Servers]) -> None:
    found = await _drill(places)

    assert [row for row in (one(found) for one in TABLE.values()) if not row.ok] == []
    assert found.rows > 100


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] * one.is_slow) for name, one in MUTANTS.items()]
)
async def test_a_row_misses_its_lie(
    places: tuple[Servers, Servers], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant = plant("operate", name, monkeypatch)

    assert missed([TABLE[name](await _drill(places))], mutant), mutant.lie
