"""The rows of `make gate`, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.bench.reports import Row
from tests.gate import (
    ages,
    asked,
    crawled,
    decisions,
    from_the_web,
    labelled,
    outcomes,
    parallel,
    poison,
    reranked,
    served,
)

Measure = Callable[[bool], Row]
"""Measures a row; True asks for the short form."""

TABLE: Mapping[str, Measure] = {
    "identical": decisions.identical,
    "summed": decisions.summed,
    "dials": asked.dials,
    "answered": labelled.answered,
    "calls": labelled.calls,
    "refused": labelled.refused,
    "promoted": labelled.promoted,
    "cost": asked.cost,
    "dropped": outcomes.dropped,
    "recovered": outcomes.recovered,
    "slowed": outcomes.slowed,
    "rules": crawled.rules,
    "duplicates": crawled.duplicates,
    "budgets": crawled.budgets,
    "maze": crawled.maze,
    "envelope": parallel.envelope,
    "resumed": crawled.resumed,
    "found": from_the_web.found,
    "linked": from_the_web.linked,
    "poisoned": poison.poisoned,
    "disguised": poison.disguised,
    "alone": poison.alone,
    "unsupported": served.unsupported,
    "slower": served.slower,
    "reranked": reranked.longer,
    "aged": ages.aged,
    "withheld": from_the_web.withheld,
    "verified": from_the_web.verified,
}
LABELLED = frozenset({"answered", "calls", "refused", "promoted"})
"""Those that need the labelled set."""
