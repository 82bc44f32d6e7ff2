"""Every figure of `make bench` misses the lie that is planted for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.bench.corpus import generated_corpus
from tests.bench.measures import TABLE, Scale, opened_world
from tests.bench.product import Servers
from tests.plants.bench import GROUPS, MUTANTS
from tests.plants.planting import missed, plant

pytestmark = [pytest.mark.integration, pytest.mark.network, pytest.mark.timeout(300)]

SMALL = Scale(asked=6, requests=48, processes=2, publishes=3, texts=8, rounds=1)


def test_every_group_has_a_lie() -> None:
    assert {group for group, _ in GROUPS.values()} == TABLE.keys()


def _figures() -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.nightly] * one.is_slow) for name, one in MUTANTS.items()]


@pytest.mark.parametrize("name", _figures())
async def test_a_figure_misses_its_lie(
    name: str, migrated_database: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group, _ = GROUPS[name]
    mutant = plant("bench", name, monkeypatch)
    async with opened_world(
        Servers(migrated_database, redis_url, str(tmp_path)), generated_corpus(200), SMALL
    ) as world:
        rows = await TABLE[group](world)
    if not rows:
        pytest.skip("no local model here")

    assert missed(rows, mutant), mutant.lie
    assert [row.name for row in rows if not any(figure in row.name for figure in MUTANTS)] == [], "without a lie"
