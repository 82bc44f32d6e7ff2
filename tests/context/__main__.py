"""`make context`: retrieved text, and those who read it, against the real product. Prints one table, writes
build/reports/context.json, ends with 5 when a row is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

import uvloop

from agentic_rag.embedded.stack import EmbeddedStack
from tests.bench.product import Servers
from tests.bench.reports import Row, publish_report
from tests.context.ground import Ground, opened_ground
from tests.context.table import TABLE, Measure


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


async def all_rows(servers: Servers, names: Sequence[str], *, short: bool) -> list[Row]:
    async with opened_ground(servers) as ground:
        return [row for name in names for row in await measured(ground, name, TABLE[name], short=short)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="the short forms: few chunks, few cases")
    parser.add_argument("--only", action="append", choices=sorted(TABLE), help="these rows only; may be repeated")
    options = parser.parse_args()
    # As root the embedded servers run as another user, who must be able to enter the folder.
    os.umask(0o022)
    # A run that is told to stop stops its servers as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="rag-context-") as folder:
        home = Path(folder)
        home.chmod(0o755)
        with EmbeddedStack(home / "state") as stack:
            servers = Servers(stack.database_url, stack.redis_url, str(home / "state"))
            # The event loop that the server runs on.
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                rows = runner.run(all_rows(servers, options.only or [*TABLE], short=options.short))
    target = "context-part" if options.only else "context-short" if options.short else "context"
    return publish_report(target, rows)


if __name__ == "__main__":
    sys.exit(main())
