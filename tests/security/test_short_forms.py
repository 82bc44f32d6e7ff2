"""The short form of every row of `make security`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.security.ground import Ground, ground_on
from tests.security.table import TABLE
from tests.stack import Stack

pytestmark = [pytest.mark.integration, pytest.mark.network, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def ground(session_stack: Stack) -> Iterator[Ground]:
    with ground_on(session_stack) as ground:
        yield ground


NIGHTLY = {
    # `tenant-canaries-mutant` sends the same requests to the product with fewer walls, and no word may be seen either;
    # the self-attack of this row is in tests/integration/memory/test_leak_canaries.py.
    "tenant-canaries",
}


def _rows() -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.nightly] * (name in NIGHTLY)) for name in TABLE]


@pytest.mark.parametrize("name", _rows())
async def test_the_short_form_of_a_row_holds(ground: Ground, name: str) -> None:
    rows = await TABLE[name](ground, True)

    # What hangs on the clock is judged by the full run, on a machine that does nothing else.
    assert [row for row in rows if not row.ok and not row.timed] == []
    assert rows
