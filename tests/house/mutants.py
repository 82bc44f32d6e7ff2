"""Plant every fault of `tests/house/faults.py`, one at a time, in a copy of the checkout, and see whether tests fail.

python -m tests.house.mutants                  # fast: pure tests and the memory side of contracts, without servers
python -m tests.house.mutants --suite full     # what the fast suite misses also meets the suites with real servers
python -m tests.house.mutants --only fusion    # the faults whose file or note holds the word
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench.reports import ROOT, Row, publish_report
from tests.house.faults import FAULTS, Fault

FAST = ("tests/unit", "tests/api", "tests/contract")
SERVERS = ("tests/integration", "tests/security", "tests/acceptance", "tests/chaos")
QUICK = ("-m", "not slow and not integration", "--hypothesis-profile", "fast")
PARALLEL = ("-n", "auto", "--maxprocesses", "4", "--dist", "worksteal")
LONGEST_SECONDS = 1200
LEAST_SHARE = 0.9


def check_table(root: Path) -> list[str]:
    """The faults that cannot be planted: their text does not stand exactly once in their file."""
    return [
        f"{fault.file}: {fault.old.strip()}"
        for fault in FAULTS
        if not (root / fault.file).exists() or (root / fault.file).read_text("utf-8").count(fault.old) != 1
    ]


def copy_checkout(target: Path) -> None:
    """The files that git knows, as they are now."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def failing_test(copy: Path, paths: Sequence[str], *options: str) -> str | None:
    """The first test of `paths` that fails, `None` when all pass."""
    found = [path for path in paths if (copy / path).exists()]
    if not found:
        return None
    command = [sys.executable, "-m", "pytest", *found, "-x", "-rfE", "--tb=no", "--no-header", *options]
    packages = ("core", "server", "worker", "cli", "eval", "migrations", "")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(copy / name) for name in packages)}
    run = subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS
    )
    if run.returncode in (0, 5):
        return None
    told = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return told[0].split(" - ")[0] if told else f"pytest ended with {run.returncode}"


def closest_tests(copy: Path, fault: Fault) -> list[str]:
    """The files among the fast tests that import the module in which the fault is planted."""
    named = f"from {fault.file.partition('/')[2].removesuffix('.py').replace('/', '.')} import"
    files = [file for path in FAST for file in sorted((copy / path).rglob("test_*.py"))]
    return [str(file.relative_to(copy)) for file in files if named in file.read_text("utf-8")]


def noticed_by(copy: Path, fault: Fault, *, full: bool) -> str | None:
    """Plant one fault, run tests until one fails, and mend it."""
    file = copy / fault.file
    sound = file.read_text("utf-8")
    file.write_text(sound.replace(fault.old, fault.new), "utf-8")
    try:
        near = () if full else QUICK
        first = (
            failing_test(copy, closest_tests(copy, fault), *near)
            or failing_test(copy, fault.tests, *near)
            or failing_test(copy, FAST, *QUICK, *PARALLEL)
        )
        if first is not None or not full:
            return first
        return failing_test(copy, (*SERVERS, *FAST), "-m", "slow or integration", *PARALLEL)
    finally:
        file.write_text(sound, "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", choices=["fast", "full"], default="fast")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if stale := check_table(ROOT):
        print("These faults stand nowhere any more; write them anew:", *stale, sep="\n  ", file=sys.stderr)
        return 2
    chosen = [fault for fault in FAULTS if options.only in f"{fault.file} {fault.note}"]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="rag-mutants-") as folder:
        copy = Path(folder)
        # As root the embedded servers run as another user, who must be able to enter the folder.
        copy.chmod(0o755)
        copy_checkout(copy)
        if broken := failing_test(copy, FAST, *QUICK, *PARALLEL):
            print(f"Without any fault, {broken} fails.", file=sys.stderr)
            return 2
        for fault in chosen:
            began = time.monotonic()
            test = noticed_by(copy, fault, full=options.suite == "full")
            print(f"  {time.monotonic() - began:5.1f} s  {test or 'MISSED'}  {fault.note}", file=sys.stderr, flush=True)
            rows.append(Row(fault.note, test or "missed", "noticed", test is not None))
    caught = sum(row.ok for row in rows)
    least = round(LEAST_SHARE * len(rows))
    total = Row("faults noticed", f"{caught} of {len(rows)}", f"≥ {least}", caught >= least)
    publish_report(f"mutants-{options.suite}", [*rows, total], [])
    return 0 if total.ok else 1


if __name__ == "__main__":
    sys.exit(main())
