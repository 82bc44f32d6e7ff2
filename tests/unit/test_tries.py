"""What several tries of a row of `make chaos` come to, and what its workers have that users do not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.bench.reports import Row, at_least, at_most, exactly
from tests.chaos.tries import holds, over_tries


def lost(count: int) -> Row:
    return exactly("lost", count, 0)


def took(seconds: float) -> Row:
    return at_most("took", seconds, 10, " s")


def test_a_time_is_the_median_of_its_tries_and_says_how_many() -> None:
    [row] = over_tries([[took(12)], [took(9)], [took(4)]])

    assert (row.measured, row.ok) == ("9.00 s (median of 3 tries)", True)


@pytest.mark.parametrize("order", [(12, 9), (9, 12)])
def test_one_good_try_beside_a_bad_one_does_not_hold(order: tuple[float, float]) -> None:
    [row] = over_tries([[took(seconds)] for seconds in order])

    assert (row.measured, row.ok) == ("12.00 s (median of 2 tries)", False)


def test_less_is_worse_where_more_is_wanted() -> None:
    [row] = over_tries([[at_least("ratio", value, 0.6)] for value in (0.5, 0.7)])

    assert (row.measured, row.ok) == ("0.50× (median of 2 tries)", False)


def test_what_was_lost_once_stays_lost_however_often_it_is_tried_again() -> None:
    [row] = over_tries([[lost(0)], [lost(2)], [lost(0)]])

    assert (row.measured, row.ok) == ("2 (worst of 3 tries)", False)


def test_a_try_that_broke_is_a_row_that_is_missed() -> None:
    rows = over_tries([[Row("row: measured", "AssertionError", "an end", False)], [lost(0)]])

    assert [row.ok for row in rows] == [False, True]
    assert not holds(rows)


def test_nothing_holds_that_was_not_tried() -> None:
    assert not holds(over_tries([]))
    assert holds(over_tries([[lost(0), took(1)]]))


def test_every_switch_that_users_do_not_have_is_listed() -> None:
    root = Path(__file__).parents[2]
    text = "".join(path.read_text("utf-8") for path in (root / "tests" / "chaos").rglob("*.py"))
    switches = set(re.findall(r"CHAOS_[A-Z_]*[A-Z]", text)) - {"CHAOS_FOLDER", "CHAOS_MARK"}

    listed = (root / "docs" / "chaos.md").read_text("utf-8")
    assert [one for one in sorted(switches) if f"| `{one}" not in listed] == []
