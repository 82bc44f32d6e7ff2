"""Every lie finds its place in the product: a renamed method would be replaced by nobody."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest

from tests.plants import bench, chaos, context, gate, operate, security, soak
from tests.security.table import TABLE

LIES = [
    pytest.param(one, id=f"{table.__name__.rsplit('.')[-1]}: {name}")
    for table in (bench, chaos, context, gate, operate, security, soak)
    for name, one in table.MUTANTS.items()
]


@pytest.mark.parametrize("mutant", LIES)
def test_a_lie_has_its_place(mutant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert TABLE, "modules of rows are imported by their table first"
    monkeypatch.setattr(time, "sleep", lambda _: None)

    def look(owner: object, name: str, _: object) -> None:
        assert hasattr(owner, name), f"{owner} has no {name}"

    mutant.plant(look)
    sys.modules.pop("a large process", None)
