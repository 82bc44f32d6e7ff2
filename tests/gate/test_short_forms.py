"""The short form of every row of `make gate`."""

from __future__ import annotations

import pytest

from tests.gate.table import TABLE


@pytest.mark.parametrize("name", TABLE)
def test_the_short_form_of_a_row_holds(name: str) -> None:
    row = TABLE[name](True)

    # Milliseconds are judged by the full run, on a machine that does nothing else.
    assert row.ok or row.timed, row
