"""A backup of long texts is restored: triggers cut them into pieces, and earlier backups hold pieces too."""

from __future__ import annotations

from pathlib import Path

import asyncpg
import pytest
from tests.bench.product import create_workspace
from tests.operate.drill import empty_places, product_on
from tests.stack import Stack

from agentic_rag.adapters.postgres.operations import backup
from agentic_rag.bootstrap import open_directory
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument

pytestmark = pytest.mark.integration

LONG = tuple(f"Valve {number} opens at {number} bar. {'It is tested in May. ' * 40}" for number in range(120))
"""Chunks of 100 KB, beyond what is cut."""
PIECES = "SELECT start, md5(text) FROM rag_text_pieces ORDER BY start"


@pytest.mark.parametrize("with_pieces", [False, True])
async def test_a_backup_of_a_long_text_is_restored(
    postgres_url: str,
    session_stack: Stack,
    fresh_redis: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    with_pieces: bool,
) -> None:
    async with empty_places(postgres_url, session_stack, fresh_redis, tmp_path) as (before, after):
        target = open_directory(tmp_path / "backup")
        with monkeypatch.context() as patch:
            if with_pieces:
                patch.setattr(backup, "NOT_IN_A_BACKUP", backup.NOT_IN_A_BACKUP - {"rag_text_pieces"})
            async with product_on(before) as system:
                await system.first_access.ensure_organisation()
                workspace = await create_workspace(system, "long")
                await system.ingest_chunks.run(workspace, [ChunkedDocument("valves.md", "Valves", LONG)], "long")
                manifest = await system.create_backup.run(target, lambda *_: None)
        async with product_on(after) as system:
            await system.restore_backup.run(target, lambda *_: None)
            report = await system.verify.run(workspace, full=True)
        pieces = [await fetched(one.database_url) for one in (before, after)]

    assert ("rag_text_pieces" in {one.table.name for one in manifest.tables}) is with_pieces
    assert pieces[0] == pieces[1]
    assert len(pieces[0]) > 4
    assert report.findings == ()


async def fetched(url: str) -> list[asyncpg.Record]:
    """The pieces of the texts."""
    server = await asyncpg.connect(url)
    try:
        return await server.fetch(PIECES)
    finally:
        await server.close()
