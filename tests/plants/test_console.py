"""Every row of `make console` that has a lie misses it."""

from __future__ import annotations

import pytest

from tests.console.table import TABLE
from tests.plants.console import MUTANTS
from tests.plants.planting import missed, plant


def test_every_row_that_has_a_short_form_has_a_lie() -> None:
    assert MUTANTS.keys() == TABLE.keys() - {"screens"}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_row_misses_its_lie(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = plant("console", name, monkeypatch)

    assert missed(TABLE[name](True), mutant), mutant.lie
