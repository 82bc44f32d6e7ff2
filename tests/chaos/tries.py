"""What several tries of a row come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.bench.reports import Row


def over_tries(tries: Sequence[Sequence[Row]]) -> list[Row]:
    """Each figure once. Of a time, ratio or size the median of its tries, of an even number the worse of the two in the
    middle; of all else the first try that was missed, if any: a document that was lost once is lost.
    """
    figures: dict[str, list[Row]] = {}
    for rows in tries:
        for row in rows:
            figures.setdefault(row.name, []).append(row)
    return [_judged(rows) for rows in figures.values()]


def holds(rows: Sequence[Row]) -> bool:
    """Whether there are rows and all of them hold."""
    return bool(rows) and all(row.ok for row in rows)


def _judged(tries: Sequence[Row]) -> Row:
    values = [row for row in tries if row.value is not None]
    if len(values) == len(tries):
        more_is_worse = not tries[0].must.startswith("≥")
        ordered = sorted(values, key=lambda row: row.value or 0.0, reverse=not more_is_worse)
        chosen, what = ordered[len(ordered) // 2], "median of "
    else:
        chosen, what = next((row for row in tries if not row.ok), tries[-1]), "worst of "
    shown = "1 try" if len(tries) == 1 else f"{what}{len(tries)} tries"
    return replace(chosen, measured=f"{chosen.measured} ({shown})")
