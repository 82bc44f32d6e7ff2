"""Every row of `make soak` misses the lie that is planted for it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentic_rag.embedded.stack import EmbeddedStack
from tests.bench.product import Servers
from tests.plants.planting import missed, plant
from tests.plants.soak import MUTANTS
from tests.soak.soak import soak
from tests.soak.table import TABLE

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]

MINUTES = 0.75
"""The first revoked keys are tried after 32 s."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that the servers' own user may enter, which starts them again after a fault."""
    with tempfile.TemporaryDirectory(prefix="rag-soak-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_every_row_has_a_lie() -> None:
    assert MUTANTS.keys() == TABLE.keys()


@pytest.mark.nightly
@pytest.mark.parametrize("name", MUTANTS)
async def test_a_row_misses_its_lie(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = plant("soak", name, monkeypatch)
    home = folder / "home"
    home.mkdir()

    with EmbeddedStack(folder / "state") as stack:
        found = await soak(stack, Servers(stack.database_url, stack.redis_url, str(home)), MINUTES, seed=24)

    assert missed([TABLE[name](found)], mutant), mutant.lie
