"""Tables of requirements: printed, written to build/reports/TARGET.json, and the exit code says whether every row
holds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Row:
    """One requirement: what was measured, what it must be, and whether it is."""

    name: str
    measured: str
    must: str
    ok: bool
    timed: bool = False
    """It hangs on the clock: reported, but no verdict, in a short run on a machine that does other things."""
    value: float | None = None
    """A time, a ratio or a size, of which several tries have a median; None for what must hold each time."""


def at_most(name: str, value: float, limit: float, unit: str = "×", *, timed: bool = True) -> Row:
    return Row(name, f"{value:.2f}{unit}", f"≤ {limit:g}{unit}", value <= limit, timed, value)


def at_least(name: str, value: float, limit: float, unit: str = "×", *, timed: bool = True) -> Row:
    return Row(name, f"{value:.2f}{unit}", f"≥ {limit:g}{unit}", value >= limit, timed, value)


def exactly(name: str, value: int, wanted: int, unit: str = "") -> Row:
    return Row(name, f"{value}{unit}", f"{wanted}{unit}", value == wanted)


def counted_only(rows: Sequence[Row]) -> list[Row]:
    """The rows that do not hang on the clock; the others are printed for information."""
    for row in rows:
        if row.timed:
            print(f"  (not judged here) {row.name}: {row.measured}")
    return [row for row in rows if not row.timed]


def publish_report(target: str, rows: Sequence[Row], notes: Sequence[str] = ()) -> int:
    """Print the table, write the JSON, return the process exit code: 0, or 5 when a row misses."""
    width = max(len(row.name) for row in rows)
    for row in rows:
        print(f"  {row.name:<{width}}  {row.measured:>14}  {row.must:>12}  {'ok' if row.ok else 'MISSED'}")
    for note in notes:
        print(f"  {note}")
    folder = ROOT / "build" / "reports"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{target}.json").write_text(json.dumps([_plain(row) for row in rows], indent=2, ensure_ascii=False))
    missed = sum(not row.ok for row in rows)
    print(f"{len(rows) - missed} passed, {missed} failed")
    return 5 if missed else 0


def _plain(row: Row) -> dict[str, object]:
    return {"name": row.name, "measured": row.measured, "must": row.must, "ok": row.ok}
