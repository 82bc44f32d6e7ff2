"""What a citation costs at the end of a text of eight million characters: what it costs at its beginning."""

from __future__ import annotations

import json
from pathlib import Path

import asyncpg
import pytest
from tests.bench.product import create_workspace
from tests.integration.postgres.test_restored_rights import system_at

from agentic_rag.adapters.postgres.documents.document_reader_sql import REVISION_SPANS
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument

pytestmark = [pytest.mark.integration, pytest.mark.network]

CHARACTERS = 8_000_000
CHUNKS = tuple(f"Valve {number} opens at {number} bar. {'It is tested in May. ' * 950}" for number in range(402))


async def test_a_span_at_the_end_of_a_long_text_reads_no_more_than_one_at_its_beginning(
    migrated_database: str, fresh_redis: str, tmp_path: Path
) -> None:
    system = system_at(migrated_database, fresh_redis, tmp_path)
    server = await asyncpg.connect(migrated_database)
    try:
        await system.first_access.ensure_organisation()
        workspace = await create_workspace(system, "long")
        await system.ingest_chunks.run(workspace, [ChunkedDocument("valves.md", "Valves", CHUNKS)], "test")
        revision, length = await server.fetchrow("SELECT revision_id, length(text) FROM rag_revisions")
        await server.execute("ANALYZE")

        async def blocks(start: int) -> int:
            asked = (*workspace.key, [revision], [start], [start + 40])
            told = await server.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {REVISION_SPANS}", *asked)
            [plan] = json.loads(told)
            return plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]

        read = [await blocks(start) for start in (0, length // 2, length - 40)]
    finally:
        await server.close()
        await system.aclose()

    assert length >= CHARACTERS
    assert max(read) <= 2 * min(read)
