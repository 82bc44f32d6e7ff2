"""The short form of every row of `make console`."""

from __future__ import annotations

import pytest

from tests.console.table import TABLE


@pytest.mark.parametrize("name", TABLE)
def test_the_short_form_of_a_row_holds(name: str) -> None:
    missed = [row for row in TABLE[name](True) if not row.ok and not row.timed]

    assert missed == []
