"""Rows on answers that must not differ: what is foreign or hidden is answered as what never was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.bench.reports import Row

LEAST = 40
"""Fewer places than these, and the schema or the paths were not walked."""
LONGEST_LINE = 4000


@dataclass(frozen=True)
class Pair:
    """What was asked of a place with two names, and both answers."""

    place: str
    foreign: object
    unknown: object


def all_alike(name: str, pairs: Sequence[Pair]) -> Row:
    """Every pair has one answer; those that have two are printed."""
    differing = [one for one in pairs if one.foreign != one.unknown]
    for one in differing:
        print(f"  {one.place}: {[one.foreign, one.unknown]}"[:LONGEST_LINE])
    measured = f"{len(pairs) - len(differing)}/{len(pairs)}"
    return Row(name, measured, f"all of ≥ {LEAST}", not differing and len(pairs) >= LEAST)
