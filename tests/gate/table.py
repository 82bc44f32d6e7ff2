"""The rows of `make gate`, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.bench.reports import Row
from tests.gate import asked, crawled, decisions, labelled

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
    "rules": crawled.rules,
    "duplicates": crawled.duplicates,
    "budgets": crawled.budgets,
    "maze": crawled.maze,
    "resumed": crawled.resumed,
}
LABELLED = frozenset({"answered", "calls", "refused", "promoted"})
"""Those that need the labelled set."""
