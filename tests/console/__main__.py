"""`make console`: the console and its evidence. Prints one table, writes build/reports/console.json, ends with 5 when a
row is missed.
"""

from __future__ import annotations

import argparse
import sys

from tests.bench.reports import publish_report
from tests.console.table import TABLE


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m tests.console", description="The table of the console.")
    parser.add_argument("--short", action="store_true", help="the short forms")
    parser.add_argument("--only", action="append", choices=sorted(TABLE), help="these rows only; may be repeated")
    options = parser.parse_args()
    rows = [row for name in options.only or TABLE for row in TABLE[name](options.short)]
    return publish_report("console-part" if options.only else "console-short" if options.short else "console", rows)


if __name__ == "__main__":
    sys.exit(main())
