"""docs/chaos.md names every row and every switch that users do not have."""

from __future__ import annotations

import re
from pathlib import Path

from tests.chaos.table import TABLE

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "chaos.md").read_text("utf-8")
NO_SWITCHES = {"CHAOS_FOLDER", "CHAOS_MARK", "CHAOS_ARGS"}
"""Where a worker writes what it reached, by what its processes are known, and what `make` hands on."""


def test_every_switch_of_the_workers_is_on_the_page() -> None:
    read = {
        name
        for file in (ROOT / "tests" / "chaos").rglob("*.py")
        for name in re.findall(r"\bCHAOS_[A-Z]+(?:_[A-Z]+)*\b", file.read_text("utf-8"))
    }

    assert read - NO_SWITCHES == set(re.findall(r"^\| `(CHAOS_\w+)", PAGE, re.M))


def test_every_row_is_on_the_page() -> None:
    rows = PAGE.partition("| name | what is done |")[2].partition("\n\n")[0]

    assert {name for line in rows.splitlines() for name in re.findall(r"`([\w-]+)`", line.split(" | ")[0])} == set(
        TABLE
    )
