"""`make soak`: clients of every kind while faults strike. Prints one table, writes build/reports/soak.json, ends with 5
when a row is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path

from agentic_rag.embedded.stack import EmbeddedStack
from tests.bench.product import Servers
from tests.bench.reports import publish_report
from tests.soak.soak import soak
from tests.soak.table import TABLE


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="how long clients work")
    parser.add_argument("--seed", type=int, default=24, help="of the faults, and of what clients choose")
    options = parser.parse_args()
    os.umask(0o022)
    with tempfile.TemporaryDirectory(prefix="rag-soak-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        home = folder / "home"
        home.mkdir()
        with EmbeddedStack(folder / "state") as stack:
            servers = Servers(stack.database_url, stack.redis_url, str(home))
            found = asyncio.run(soak(stack, servers, options.minutes, options.seed))
    told = (
        ("fault", found.faults),
        ("answered", found.ledger.outcomes),
        ("refused", found.ledger.refused),
        ("failed", found.ledger.broken),
    )
    notes = [f"{kind} {times} times: {what}" for kind, counts in told for what, times in counts.most_common(8)]
    return publish_report("soak", [row(found) for row in TABLE.values()], notes)


if __name__ == "__main__":
    sys.exit(main())
