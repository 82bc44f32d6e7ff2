"""Every row of `make operate` holds in short form, and misses the lie that is planted for it."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.bench.capacity import Foretold, check
from tests.bench.corpus import generated_corpus
from tests.bench.product import Servers
from tests.bench.reports import Row
from tests.operate.drill import Drill, drill, empty_places
from tests.operate.replica import Lag, Lagging, ask_a_lagging_replica
from tests.operate.rolling import Rolling, roll
from tests.operate.table import CAPACITY, DRILL, REPLICA, ROLLING, TELEMETRY, UPGRADES
from tests.operate.telemetry import TelemetryCost, telemetry_cost
from tests.operate.upgrades import SAMPLE, Upgrades, upgrades
from tests.plants.operate import MUTANTS
from tests.plants.planting import missed, plant
from tests.stack import Stack, database_at, execute, open_home

pytestmark = [pytest.mark.integration]


@pytest.fixture
async def places(
    postgres_url: str, session_stack: Stack, fresh_redis: str, tmp_path: Path
) -> AsyncIterator[tuple[Servers, Servers]]:
    """As of `empty_places`."""
    async with empty_places(postgres_url, session_stack, fresh_redis, tmp_path) as made:
        yield made


Places = tuple[Servers, Servers]


async def _capacity(_: Places) -> Sequence[Foretold]:
    return check()[1]


async def _drill(places: Places) -> Drill:
    found = await drill(*places, generated_corpus(60), questions=6)
    assert found.rows > 100
    return found


async def _replica(_: Places) -> Lagging:
    """Half of the answers are given while the replica replays nothing: read then, it tells what was replaced."""
    home = open_home("rag-lagging-")
    try:
        return await ask_a_lagging_replica(home, 480, (Lag.PAUSE,), (240, 240))
    finally:
        shutil.rmtree(home)


async def _roll(places: Places) -> Rolling:
    return await roll(places[0], generated_corpus(60), rounds=1)


async def _telemetry(places: Places) -> TelemetryCost:
    return await telemetry_cost(places[0], generated_corpus(60), rounds=1, answers=20)


async def _upgrade(places: Places) -> Upgrades:
    beside = places[0]
    made: list[str] = []

    async def place(name: str) -> Servers:
        made.append(f"test_{secrets.token_hex(6)}")
        await execute(beside.database_url, f'CREATE DATABASE "{made[-1]}"')
        home = Path(beside.home) / name
        home.mkdir()
        return Servers(database_at(beside.database_url, made[-1]), beside.redis_url, str(home))

    try:
        return await upgrades(place, generated_corpus(60), 6, SAMPLE)
    finally:
        for name in made:
            await execute(beside.database_url, f'DROP DATABASE "{name}" WITH (FORCE)')


PARTS: tuple[tuple[Mapping[str, Callable[[Any], Row]], Callable[[Places], Awaitable[Any]]], ...] = (
    (CAPACITY, _capacity),
    (DRILL, _drill),
    (REPLICA, _replica),
    (ROLLING, _roll),
    (TELEMETRY, _telemetry),
    (UPGRADES, _upgrade),
)
"""The rows of each part, and what measures it at a small size."""
STARTS_SERVERS = (ROLLING, TELEMETRY)
OF_A_QUIET_MACHINE = {"waits", "telemetry"}
"""Rows that hang on what else the machine does; they are judged by `make operate`."""


def test_every_row_has_a_lie() -> None:
    assert MUTANTS.keys() == {name for table, _ in PARTS for name in table}


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("table", "measure"),
    [
        pytest.param(*part, id="-".join(part[0]), marks=[pytest.mark.nightly] * (part[0] in STARTS_SERVERS))
        for part in PARTS
    ],
)
async def test_rows_hold_in_short_form(places: Places, table: Mapping[str, Callable[[Any], Row]], measure: Any) -> None:
    found = await measure(places)

    rows = {name: row(found) for name, row in table.items()}
    assert [row for name, row in rows.items() if not row.ok and name not in OF_A_QUIET_MACHINE] == []


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] * one.is_slow) for name, one in MUTANTS.items()]
)
async def test_a_row_misses_its_lie(places: Places, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = plant("operate", name, monkeypatch)
    table, measure = next(part for part in PARTS if name in part[0])

    assert missed([table[name](await measure(places))], mutant), mutant.lie
