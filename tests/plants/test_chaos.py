"""Every row of `make chaos` misses the lie that is planted for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.chaos import ground
from tests.chaos.__main__ import measured
from tests.chaos.ground import Servers, started_servers
from tests.chaos.table import TABLE
from tests.plants.chaos import MUTANTS
from tests.plants.planting import missed, plant

pytestmark = [pytest.mark.integration, pytest.mark.network, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    """Servers of their own: some rows stop them."""
    with started_servers() as servers:
        yield servers


def test_every_row_has_a_lie() -> None:
    assert MUTANTS.keys() == TABLE.keys()


def _rows() -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.nightly] * one.is_slow) for name, one in MUTANTS.items()]


@pytest.mark.parametrize("name", _rows())
async def test_a_row_misses_its_lie(servers: Servers, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = plant("chaos", name, monkeypatch)
    # A lie that leaves a row waiting is missed by it, too; nobody needs to wait for that as long.
    monkeypatch.setattr(ground.Ground.until_idle, "__defaults__", (30.0, 0.02))

    assert missed(await measured(servers, name, TABLE[name], short=True), mutant), mutant.lie
