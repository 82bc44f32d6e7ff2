"""The rows of `make context`, by name: what each module of `tests/context/rows` lists as `ROWS`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Mapping

from tests.bench.reports import Row
from tests.context import rows
from tests.context.ground import Ground

Measure = Callable[[Ground, bool], Awaitable[list[Row]]]
"""Measures rows of the table; the second argument asks for the short form, of a few seconds."""


def _collected() -> dict[str, Measure]:
    table: dict[str, Measure] = {}
    for module in sorted(found.name for found in pkgutil.iter_modules(rows.__path__)):
        for name, measure in importlib.import_module(f"{rows.__name__}.{module}").ROWS.items():
            if name in table:
                raise ValueError(f"two rows of tests/context/rows are called {name}")
            table[name] = measure
    return table


TABLE: Mapping[str, Measure] = _collected()
