"""Every row of `make soak` misses the lie that is planted for it."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from agentic_rag.embedded.stack import EmbeddedStack
from tests.bench.product import Servers
from tests.plants.planting import missed, plant
from tests.plants.soak import MUTANTS
from tests.soak.facts import Ledger, make_fact
from tests.soak.soak import SAMPLE_SECONDS, Soak, slope_of, soak
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


FACT = make_fact("north", 7)
OTHER, FOREIGN = make_fact("north", 8).serial, make_fact("south", 7).serial


@pytest.mark.parametrize(
    ("outcome", "said", "missed_rows"),
    [
        ("GROUNDED", FACT.serial, set[str]()),
        ("GROUNDED", f"{FACT.serial} {FACT.serial}", set[str]()),
        ("GROUNDED", OTHER, {"wrong"}),
        ("GROUNDED", f"{FACT.serial} {OTHER}", {"wrong"}),
        ("GROUNDED", "It is painted grey.", {"wrong"}),
        ("UNCERTAIN", OTHER, {"judged"}),
        ("UNCERTAIN", FOREIGN, {"foreign", "judged"}),
        ("GROUNDED", make_fact("web", 7).serial, {"wrong"}),
        ("ABSTAINED", "", {"judged"}),
    ],
)
def test_an_answer_is_judged(outcome: str, said: str, missed_rows: set[str]) -> None:
    found = clean_soak()

    found.ledger.judge(FACT, frozenset(), outcome, said)

    assert {name for name, row in TABLE.items() if not row(found).ok} == missed_rows


def test_an_answer_that_states_what_was_erased_before_its_question_is_stale() -> None:
    found = clean_soak()

    found.ledger.judge(FACT, frozenset({FACT.serial}), "GROUNDED", FACT.serial)

    assert {name for name, row in TABLE.items() if not row(found).ok} == {"stale"}


@pytest.mark.parametrize(
    ("warm", "per_minute", "holds"),
    [(0.0, 0.0, True), (0.0, 0.9, True), (0.0, 1.1, False), (200.0, 0.0, True), (200.0, 1.1, False)],
)
def test_memory_is_judged_by_its_slope_after_the_caches_are_filled(warm: float, per_minute: float, holds: bool) -> None:
    """Ten minutes; `warm` megabytes more in the first third. A saw tooth, as collections of garbage leave it."""
    seconds = np.arange(0.0, 600.0, SAMPLE_SECONDS)
    megabytes = 300.0 + warm * np.minimum(1.0, seconds / 200.0) + per_minute * seconds / 60.0 + seconds % 10.0

    found = replace(clean_soak(), slope=slope_of(list(zip(seconds.tolist(), megabytes.tolist(), strict=True))))

    assert TABLE["memory"](found).ok == holds, found.slope


def clean_soak() -> Soak:
    """One that misses no row but that of too few answers."""
    return Soak(10.0, Counter(), Ledger(Random(24)), 0, 0, 0, 0, 0.0, 0)


@pytest.mark.nightly
@pytest.mark.parametrize("name", MUTANTS)
async def test_a_row_misses_its_lie(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = plant("soak", name, monkeypatch)
    home = folder / "home"
    home.mkdir()

    with EmbeddedStack(folder / "state") as stack:
        found = await soak(stack, Servers(stack.database_url, stack.redis_url, str(home)), MINUTES, seed=24)

    assert missed([TABLE[name](found)], mutant), mutant.lie
