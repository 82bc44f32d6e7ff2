"""Which figures count as missed by a row to which a lie is told."""

from __future__ import annotations

import pytest

from tests.bench.reports import Row, exactly
from tests.plants import Mutant
from tests.plants.planting import missed

LIE = Mutant("nothing is kept", lambda _: None, "documents lost")


def _ended(error: str) -> Row:
    return Row("kills: measured", error, "an end", False)


def test_the_figure_of_the_lie_is_judged_and_no_other() -> None:
    lost = exactly("kills: documents lost", 1, 0)

    assert missed([lost, exactly("kills: workers", 1, 2)], LIE) == [lost]
    assert missed([exactly("kills: documents lost", 0, 0), exactly("kills: workers", 1, 2)], LIE) == []


def test_a_lie_that_leaves_a_row_waiting_is_missed() -> None:
    waited = _ended("AssertionError: not within 30 s: all jobs finished; {'kind': 'ingest'}")

    assert missed([waited], LIE) == [waited]


@pytest.mark.parametrize(
    "error", ["KeyError: 'data'", "AssertionError: ", "ConnectionRefusedError: [Errno 111] not within reach"]
)
def test_a_row_that_broke_is_no_missed_figure(error: str) -> None:
    with pytest.raises(AssertionError, match="no figure"):
        missed([_ended(error)], LIE)
