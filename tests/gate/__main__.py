"""`make gate`: when the documents will do. Prints one table, writes build/reports/gate.json, ends with 5 when a row is
missed.

The labelled set is asked once, by the product over servers of its own, and kept under build/gate/cases.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from tests.bench.processes import PATHS
from tests.bench.reports import ROOT, publish_report
from tests.gate import labelled
from tests.gate.table import LABELLED, TABLE
from tests.local_model import minilm
from tests.quality.sets import DATA


def build_cases() -> None:
    """Ask the sets that are not kept yet. Errors: `CalledProcessError`."""
    missing = [name for name in labelled.SETS if not (labelled.KEPT / f"{name}.jsonl").is_file()]
    if not missing:
        return
    home = labelled.KEPT.parent / "home"
    home.mkdir(parents=True, exist_ok=True)
    given = [part for name in missing for part in ("--set", _set_of(name))]
    subprocess.run(
        [sys.executable, "-m", "eval.training.gate_set", *given, "--out", str(labelled.KEPT)],
        cwd=ROOT,
        check=True,
        env={
            **os.environ,
            "AGENTIC_RAG_HOME": str(home),
            "RAG_EMBEDDER": "onnx",
            "AGENTIC_RAG_MODEL_DIR": str(minilm()),
            "AGENTIC_RAG_LOG_LEVEL": "warning",
            "AGENTIC_RAG_SCHEDULE": "calibrate_minutes=0",
            "PYTHONPATH": os.pathsep.join([str(ROOT), *PATHS]),
        },
    )


def _set_of(name: str) -> str:
    if name != "xquad-en":
        return str(DATA / name)
    return f"{name}={DATA / 'xquad' / 'corpus.en.jsonl'},{DATA / 'xquad' / 'queries.en.dev.jsonl'}"


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m tests.gate", description="The table of the gate.")
    parser.add_argument("--short", action="store_true", help="the short forms: few cases, no question sets")
    parser.add_argument("--only", action="append", choices=sorted(TABLE), help="these rows only; may be repeated")
    options = parser.parse_args()
    names = options.only or [*TABLE]
    has_sets = not options.short and not LABELLED.isdisjoint(names)
    if has_sets:
        if not DATA.exists():
            print(f"There is no {DATA}: AGENTIC_RAG_TEST_DATA names the folder of the question sets.", file=sys.stderr)
            return 2
        build_cases()
    rows = [TABLE[name](options.short) for name in names]
    if has_sets:
        rows += [*labelled.by_set(), *labelled.bounds()]
    return publish_report("gate-part" if options.only else "gate-short" if options.short else "gate", rows)


if __name__ == "__main__":
    sys.exit(main())
