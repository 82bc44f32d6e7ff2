"""Rows by the words of their names."""

from __future__ import annotations

from collections.abc import Sequence

from tests.bench.reports import Row


def rows_of(rows: Sequence[Row], figure: str) -> list[Row]:
    """Those whose name holds these words. Errors: `AssertionError` when there is none."""
    found = [row for row in rows if figure in row.name]
    assert found, f"no figure of {[(row.name, row.measured) for row in rows]} is called {figure!r}"
    return found
