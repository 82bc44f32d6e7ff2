"""The short form of every row of `make chaos`: real processes, real servers, few documents."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.chaos.ground import Servers, started_servers
from tests.chaos.table import TABLE

pytestmark = [pytest.mark.integration, pytest.mark.network, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    """Servers of their own: some rows stop them."""
    with started_servers() as servers:
        yield servers


@pytest.mark.parametrize("name", TABLE)
async def test_the_short_form_of_a_row_holds(servers: Servers, name: str) -> None:
    rows = await TABLE[name](servers, True)

    # What hangs on the clock is judged by the full run, on a machine that does nothing else.
    assert [row for row in rows if not row.ok and not row.timed] == []
    assert rows
