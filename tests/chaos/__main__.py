"""`make chaos`: real workers over real servers, killed, stopped, cut off and starved. Prints one table, writes
build/reports/chaos.json, ends with 5 when a row is missed.

Every try of a row is kept under build/chaos-state until the code changes or with --fresh, also one that was missed. A
row that holds over its tries is not tried again.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import shutil
import signal
import sys
import time
import traceback
from dataclasses import asdict

from tests.bench.reports import ROOT, Row, publish_report
from tests.chaos.ground import Servers, started_servers
from tests.chaos.table import TABLE, Measure
from tests.chaos.tries import holds, over_tries

STATE = ROOT / "build" / "chaos-state"
CODE = ("core", "worker", "migrations", "tests/chaos")


def code_version() -> str:
    """A digest of everything the rows measure and are measured with."""
    digest = hashlib.sha256()
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".sql"):
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


class Kept:
    """The tries of earlier runs of the same code."""

    def __init__(self, *, short: bool, fresh: bool) -> None:
        if fresh:
            shutil.rmtree(STATE, ignore_errors=True)
        self._folder = STATE / f"{code_version()}{'-short' if short else ''}"
        self._folder.mkdir(parents=True, exist_ok=True)

    def tries(self, name: str) -> list[list[Row]]:
        """The rows of each try, oldest first."""
        file = self._folder / f"{name}.json"
        tries = json.loads(file.read_text()) if file.exists() else []
        return [[Row(**row) for row in rows] for rows in tries]

    def add(self, name: str, rows: list[Row]) -> None:
        """Keep one more try, whatever came of it."""
        draft = self._folder / f".{name}"
        tries = [*self.tries(name), rows]
        draft.write_text(json.dumps([[asdict(row) for row in one] for one in tries], ensure_ascii=False))
        draft.replace(self._folder / f"{name}.json")


async def measured(servers: Servers, name: str, measure: Measure, *, short: bool) -> list[Row]:
    """The rows of one measurement; one that breaks is a row that is missed."""
    began = time.monotonic()
    try:
        rows = await measure(servers, short)
    except Exception as error:  # noqa: BLE001 - the other rows are measured all the same
        traceback.print_exc()
        rows = [Row(f"{name}: measured", f"{type(error).__name__}: {error}"[:200], "an end", False)]
    print(f"  {name}: {time.monotonic() - began:.0f} s, {sum(not row.ok for row in rows)} missed", file=sys.stderr)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="the short forms that `make test` runs")
    parser.add_argument("--fresh", action="store_true", help="forget the tries of earlier runs")
    parser.add_argument("--again", action="store_true", help="try rows that hold once more, too")
    parser.add_argument("--only", action="append", choices=sorted(TABLE), help="these rows only; may be repeated")
    options = parser.parse_args()
    os.umask(0o022)
    # A lane that is told to stop stops its workers and servers as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    kept = Kept(short=options.short, fresh=options.fresh)
    rows: list[Row] = []
    with started_servers() as servers:
        for name in options.only or TABLE:
            if options.again or not holds(over_tries(kept.tries(name))):
                print(f"{name} …", file=sys.stderr)
                kept.add(name, asyncio.run(measured(servers, name, TABLE[name], short=options.short)))
            rows += over_tries(kept.tries(name))
    target = "chaos-short" if options.short else "chaos" if not options.only else "chaos-part"
    return publish_report(target, rows)


if __name__ == "__main__":
    sys.exit(main())
