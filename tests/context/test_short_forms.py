"""The short form of every row of `make context`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.bench.product import Servers
from tests.context.ground import opened_ground
from tests.context.table import TABLE

pytestmark = [pytest.mark.integration, pytest.mark.network, pytest.mark.timeout(300)]


NIGHTLY = {
    # Judged by their time alone, and short forms judge none.
    "beyond-retrieval",
    "rate",
    # Servers of its own; tests/unit/answering/test_context.py has a database that is away and one that is late.
    "postgres-away",
    # A server process and its answers; tests/integration/memory/test_read_text.py reads spans at versions.
    "texts-at-spans",
    # tests/contract/ingestion/test_source_connectors.py does the same for every kind.
    "sources",
}


def _rows() -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.nightly] * (name in NIGHTLY)) for name in TABLE]


@pytest.mark.parametrize("name", _rows())
async def test_the_short_form_of_a_row_holds(name: str, migrated_database: str, redis_url: str, tmp_path: Path) -> None:
    async with opened_ground(Servers(migrated_database, redis_url, str(tmp_path))) as ground:
        rows = await TABLE[name](ground, True)

    # What hangs on the clock is judged by the full run, on a machine that does nothing else.
    assert [row for row in rows if not row.ok and not row.timed] == []
    assert rows
