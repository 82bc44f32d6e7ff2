"""`make house`: the shape of the checkout against its limits, and what the moves into rooms had to leave equal.

python -m tests.house              # shape, arrows, 500 answers where the moves ended, the fast suite's time
python -m tests.house --shape      # without the answers and the times
python -m tests.house --full       # also times `make test`
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from tests.bench.reports import ROOT, Row, publish_report
from tests.house import moves, shape


def shape_rows(root: Path) -> list[Row]:
    """What the files alone say."""
    sources = shape.product_sources(root)
    folder, files = shape.largest_folder(sources)
    share, _ = shape.participle_share(sources)
    return [
        _at_most(f"files in the largest folder ({folder})", files, 18),
        _none("core files outside the rooms", shape.outside_rooms(sources)),
        _none("import cycles between files, imports inside functions included", shape.import_cycles(sources)),
        _at_most("Protocols", len(shape.protocols(sources)), 75),
        _settings_row(len(set(shape.settings(sources)))),
        _none("files over 400 lines", shape.long_files(sources)),
        _none("functions over 60 lines", shape.long_functions(sources)),
        Row("functions of core named by a participle", f"{share:.1f} %", "≤ 5 %", share <= 5),
        _none("classes of core with one name", shape.repeated_classes(sources)),
    ]


def _settings_row(count: int) -> Row:
    """None at all means that the settings are declared in a way that the measure does not read."""
    return Row("settings", str(count), "1 to 70", 1 <= count <= 70)


def _at_most(name: str, value: int, limit: int) -> Row:
    return Row(name, f"{value:,}", f"≤ {limit:,}", value <= limit)


def _none(name: str, found: list[str] | list[list[str]]) -> Row:
    for one in found:
        print(f"  {name}: {one}")
    return Row(name, str(len(found)), "0", not found)


def _command_row(name: str, *command: str) -> Row:
    done = subprocess.run(command, cwd=ROOT, check=False)
    return Row(name, "held" if done.returncode == 0 else "broken", "held", done.returncode == 0)


def _timed_row(name: str, limit: float, *command: str) -> Row:
    began = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, check=False)
    seconds = time.monotonic() - began
    measured = f"{seconds:.0f} s" + ("" if done.returncode == 0 else ", failed")
    return Row(name, measured, f"≤ {limit:.0f} s", done.returncode == 0 and seconds <= limit)


def main() -> int:
    """Measures, prints and writes build/reports/house.json; 5 when a row misses."""
    parser = argparse.ArgumentParser(prog="make house", description="The shape of the code and what must not change.")
    parser.add_argument("--shape", action="store_true", help="leave out the answers and the times")
    parser.add_argument("--full", action="store_true", help="also time `make test`")
    options = parser.parse_args()
    bin_folder = Path(sys.executable).parent
    rows = shape_rows(ROOT)
    rows.append(_command_row("import contracts", str(bin_folder / "lint-imports"), "--no-cache"))
    rows += moves.rows(answers=not options.shape)
    if not options.shape:
        rows.append(_timed_row("make test-fast", 45, "make", "--no-print-directory", "test-fast"))
    if options.full:
        rows.append(_timed_row("make test", 720, "make", "--no-print-directory", "test"))
    lines = sum(source.lines for source in shape.product_sources(ROOT))
    return publish_report("house", rows, [f"product lines today: {lines:,}"])


if __name__ == "__main__":
    sys.exit(main())
