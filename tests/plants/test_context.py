"""Every row of `make context` misses the lie that is planted for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.bench.product import Servers
from tests.context.__main__ import measured
from tests.context.ground import opened_ground
from tests.context.table import TABLE
from tests.plants.context import MUTANTS
from tests.plants.planting import missed, plant

pytestmark = [pytest.mark.integration, pytest.mark.network, pytest.mark.timeout(300)]


def test_every_row_has_a_lie() -> None:
    assert MUTANTS.keys() == TABLE.keys()


def _rows() -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.nightly] * one.is_slow) for name, one in MUTANTS.items()]


@pytest.mark.parametrize("name", _rows())
async def test_a_row_misses_its_lie(
    name: str, migrated_database: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant = plant("context", name, monkeypatch)

    async with opened_ground(Servers(migrated_database, redis_url, str(tmp_path))) as ground:
        rows = await measured(ground, name, TABLE[name], short=True)

    assert missed(rows, mutant), mutant.lie
