"""Plants the lie of a row in this process, and in all that the harness starts."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.bench import processes
from tests.bench.reports import Row
from tests.chaos.ground import Ground
from tests.gate import decisions
from tests.plants import Mutant, Where
from tests.plants.figures import rows_of
from tests.security import table as _  # noqa: F401 - modules of rows are imported by it first
from tests.security.rows.credentials import Operator

PLANT = "TEST_PLANT"
"""In the environment of a child process: the table and the row whose lie it plants before it runs."""
IN_CHILDREN = Path(__file__).parent / "in_children"


def plant(table: str, name: str, monkeypatch: pytest.MonkeyPatch) -> Mutant:
    """From now on."""
    mutant: Mutant = importlib.import_module(f"tests.plants.{table}").MUTANTS[name]
    if mutant.where is Where.EVERYWHERE:
        mutant.plant(monkeypatch.setattr)
    for owner in (Ground, processes, decisions):
        monkeypatch.setattr(owner, "environment", _planting(owner.environment, f"{table}:{name}"))
    of_operator = Operator.environment.fget
    assert of_operator is not None
    monkeypatch.setattr(Operator, "environment", property(_planting(of_operator, f"{table}:{name}")))
    return mutant


def _planting(environment: Callable[..., Mapping[str, str]], chosen: str) -> Callable[..., dict[str, str]]:
    def planted(*arguments: Any, **more: str) -> dict[str, str]:
        given = environment(*arguments, **more)
        return {**given, PLANT: chosen, "PYTHONPATH": os.pathsep.join([str(IN_CHILDREN), given["PYTHONPATH"]])}

    return planted


WAITED = "AssertionError: not within "
"""How a measurement begins to say that it waited in vain (`tests.chaos.ground.until`, `tests.waiting`)."""


def missed(rows: list[Row], mutant: Mutant) -> list[Row]:
    """The figures of the mutant that were missed; that of a measurement which the lie left waiting is its time-out.
    Errors: `AssertionError` when there is no such figure, so also when the measurement ended with any other error.
    """
    waited = [row for row in rows if _waited(row)]
    return [row for row in waited or rows_of(rows, mutant.figure) if not row.ok]


def _waited(row: Row) -> bool:
    return row.name.endswith(": measured") and row.measured.startswith(WAITED)
