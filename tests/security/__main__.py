"""`make security`: what an attacker would try, against the real product. Prints one table, writes
build/reports/security.json, ends with 5 when a row is missed. Nothing is sent to any address but loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import time
import traceback

import uvloop

from tests import guards
from tests.bench.reports import Row, publish_report
from tests.security.ground import Ground, opened_ground
from tests.security.table import TABLE, Measure


async def measured(ground: Ground, name: str, measure: Measure, *, short: bool) -> list[Row]:
    """The rows of one measurement; one that breaks is a row that is missed."""
    began = time.monotonic()
    try:
        rows = await measure(ground, short)
    except Exception as error:  # noqa: BLE001 - the other rows are measured all the same
        traceback.print_exc()
        rows = [Row(f"{name}: measured", f"{type(error).__name__}: {error}"[:200], "an end", False)]
    print(f"  {name}: {time.monotonic() - began:.0f} s, {sum(not row.ok for row in rows)} missed", file=sys.stderr)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="the short forms that `make test` runs")
    parser.add_argument("--only", action="append", choices=sorted(TABLE), help="these rows only; may be repeated")
    options = parser.parse_args()
    os.umask(0o022)
    guards.install()
    # A run that is told to stop stops its servers as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    rows: list[Row] = []
    with opened_ground() as ground:
        for name in options.only or TABLE:
            print(f"{name} …", file=sys.stderr)
            # The event loop that the server runs on.
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                rows += runner.run(measured(ground, name, TABLE[name], short=options.short))
    target = "security-part" if options.only else "security-short" if options.short else "security"
    return publish_report(target, rows)


if __name__ == "__main__":
    sys.exit(main())
