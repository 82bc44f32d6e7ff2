"""Decisions are the same everywhere, and their contributions are their score."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

from tests.bench.processes import PATHS, ROOT
from tests.bench.reports import Row
from tests.gate.generated import situations

CASES, FEW = 10_000, 200
PROCESSES = 3


def environment(seed: int) -> dict[str, str]:
    """Of a process whose sets are in another order."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, "PYTHONHASHSEED": str(seed), "PYTHONPATH": os.pathsep.join([str(ROOT), *PATHS])}


def identical(short: bool) -> Row:
    """The whole decision, with its reasons."""
    count = FEW if short else CASES
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.gate.generated", str(count)],
            env=environment(seed),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in range(1, PROCESSES + 1)
    ]
    digests = [child.communicate(timeout=300)[0] for child in children]
    if any(child.returncode for child in children):
        raise RuntimeError("a process could not decide")
    different = len(set(digests))
    name = f"{count:,} cases in {PROCESSES} processes: different decisions"
    return Row(name, str(different - 1), "0", different == 1)


def summed(short: bool) -> Row:
    """Added exactly, each number as it is shown."""
    count = FEW if short else CASES
    decisions = [one.decide() for one in situations(count)]
    wrong = sum(
        sum(Fraction(str(one.contribution)) for one in decision.contributions) != Fraction(str(decision.score))
        or any(round(one.value * one.weight, 6) != one.contribution for one in decision.contributions)
        for decision in decisions
    )
    return Row(f"{count:,} cases: contributions that are not their score", str(wrong), "0", wrong == 0)
