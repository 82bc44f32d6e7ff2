"""Every row of `make security` misses the lie that is planted for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.plants.planting import missed, plant
from tests.plants.security import MUTANTS
from tests.security.__main__ import measured
from tests.security.ground import Ground, ground_on
from tests.security.table import TABLE
from tests.stack import Stack

pytestmark = [pytest.mark.integration, pytest.mark.network, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def ground(session_stack: Stack) -> Iterator[Ground]:
    with ground_on(session_stack) as ground:
        yield ground


def test_every_row_has_a_lie() -> None:
    assert MUTANTS.keys() == TABLE.keys()


def _rows() -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.nightly] * one.is_slow) for name, one in MUTANTS.items()]


@pytest.mark.parametrize("name", _rows())
async def test_a_row_misses_its_lie(ground: Ground, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = plant("security", name, monkeypatch)

    assert missed(await measured(ground, name, TABLE[name], short=True), mutant), mutant.lie
