"""The short form of every row of `make documents`, and the lie that each misses."""

from __future__ import annotations

from functools import cache

import pytest

from tests.documents.reading import DATA, read
from tests.documents.rows import TABLE

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="data: the shared test files are not here")


@pytest.mark.parametrize("name", TABLE)
def test_the_short_form_of_a_row_holds_and_misses_its_lie(name: str) -> None:
    measured = TABLE[name]
    # The lie changes what was read: a page is recognised once for both.
    read_once = cache(read)

    rows = measured.measure(read_once, True)
    lied = measured.measure(measured.lie(read_once), True)

    # What hangs on the clock is judged by the full run, on a machine that does nothing else.
    assert [row for row in rows if not row.ok and not row.timed] == []
    assert any(not row.ok for row in lied)
