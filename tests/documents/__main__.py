"""`make documents`: what is read of documents. Prints one table, writes build/reports/documents.json, ends with 5 when
a row is missed.
"""

from __future__ import annotations

import argparse
import logging
import sys

from tests.bench.reports import Row, publish_report
from tests.documents.reading import DATA, read
from tests.documents.rows import TABLE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="the short forms: few files")
    parser.add_argument("--only", action="append", choices=sorted(TABLE), help="these rows only; may be repeated")
    parser.add_argument("--lie", action="store_true", help="read falsely: every row misses")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"There is no {DATA}: AGENTIC_RAG_TEST_DATA names the folder of the files.", file=sys.stderr)
        return 2
    logging.disable(logging.CRITICAL)
    rows = list[Row]()
    for name in options.only or TABLE:
        measured = TABLE[name]
        rows += measured.measure(measured.lie(read) if options.lie else read, options.short)
    target = "documents-part" if options.only or options.lie or options.short else "documents"
    return publish_report(target, rows)


if __name__ == "__main__":
    sys.exit(main())
