"""Whether hash partitions by workspace pay: copies of the two largest tables, plain and in 16 partitions, in turns.

`python -m tests.bench.partitions HOME [CHUNKS_PER_WORKSPACE]` starts an embedded Postgres under HOME and prints
a line of JSON for each measure and layout. 16 workspaces; texts of 700 characters, vectors of 384 dimensions in half
precision.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import asyncpg

from agentic_rag.embedded.postgres import EmbeddedPostgres
from agentic_rag_migrations.upgrade import upgrade

ORG = "00000000-0000-0000-0000-000000000001"
WORKSPACES = 16
PARTITIONS = 16
TURNS = 3
LAYOUTS = ("plain", "partitioned")
SOURCES = {"rag_chunks": "chunks", "rag_embeddings": "embeddings"}

FILL_CHUNKS = """
INSERT INTO {0}_chunks (org_id, workspace_id, ordinal, visible_from, document_id, revision_id, chunk_id, access_id,
                        index, char_start, char_end, line_start, line_end, heading_path, content_hash, text)
SELECT $1::uuid, $2::uuid, n, 1, md5($2::text || n / 13)::uuid, md5($2::text || n / 13)::uuid,
       md5($2::text || 'chunk' || n)::uuid, 1, n % 13, 0, 700, 1, 9, '{{}}', decode(md5(n::text), 'hex'),
       left(repeat(md5(n::text) || ' ', 22), 700)
FROM generate_series(1, $3::integer) n
"""
FILL_VECTORS = """
INSERT INTO {0}_embeddings (org_id, workspace_id, space_id, ordinal, access_id, visible_from, v)
SELECT $1::uuid, $2::uuid, 1, n, 1, 1,
       (SELECT array_agg(((n * 31 + d * 17) % 97)::real / 97) FROM generate_series(1, 384) d)::halfvec
FROM generate_series(1, $3::integer) n
"""
TEXTS = """
SELECT chunk_id, text FROM {0}_chunks
WHERE org_id = $1::uuid AND workspace_id = $2::uuid AND ordinal = ANY ($3::integer[]) AND visible_to IS NULL
"""
VECTORS = """
SELECT count(*), sum(vector_dims(v)) FROM {0}_embeddings
WHERE org_id = $1::uuid AND workspace_id = $2::uuid AND space_id = 1
"""
DELETES = ("DELETE FROM {0}_embeddings WHERE org_id = $1::uuid AND workspace_id = $2::uuid",
           "DELETE FROM {0}_chunks WHERE org_id = $1::uuid AND workspace_id = $2::uuid")  # fmt: skip


def workspace(number: int) -> str:
    """The id of a workspace."""
    return f"00000000-0000-0000-0000-0000000001{number:02x}"


async def make(server: asyncpg.Connection, layout: str) -> None:
    """Copies of the tables with all their indexes, empty, without foreign keys."""
    by = " PARTITION BY HASH (workspace_id)" if layout == "partitioned" else ""
    for source, name in SOURCES.items():
        table = f"{layout}_{name}"
        await server.execute(f"DROP TABLE IF EXISTS {table} CASCADE")
        await server.execute(f"CREATE TABLE {table} (LIKE {source} INCLUDING ALL EXCLUDING INDEXES){by}")
        for part in range(PARTITIONS if by else 0):
            await server.execute(
                f"CREATE TABLE {table}_{part} PARTITION OF {table} "
                f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {part})"
            )
        for index, told in await server.fetch(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = $1", source
        ):
            await server.execute(
                told.replace(f"INDEX {index}", f"INDEX {layout}_{index}").replace(f".{source}", f".{table}")
            )
        for each in await server.fetch(
            "SELECT c.relname FROM pg_class c WHERE relkind = 'r' AND relname LIKE $1", f"{table}%"
        ):
            await server.execute(f"ALTER TABLE {each[0]} SET (autovacuum_enabled = off)")


async def timed(work: Callable[..., Awaitable[object]], *arguments: object) -> float:
    """Seconds."""
    began = time.perf_counter()
    await work(*arguments)
    return time.perf_counter() - began


async def fill(server: asyncpg.Connection, layout: str, number: int, chunks: int) -> None:
    """Write a workspace."""
    async with server.transaction():
        await server.execute(FILL_CHUNKS.format(layout), ORG, workspace(number), chunks)
        await server.execute(FILL_VECTORS.format(layout), ORG, workspace(number), chunks)


async def look_up(server: asyncpg.Connection, layout: str, chunks: int) -> float:
    """Median seconds of ten texts of one workspace, 400 times."""
    asked = await server.prepare(TEXTS.format(layout))
    took: list[float] = []
    for turn in range(400):
        ordinals = [1 + (turn * 7919 + place * 104729) % chunks for place in range(10)]
        took.append(await timed(asked.fetch, ORG, workspace(turn % WORKSPACES), ordinals))
    return statistics.median(took)


async def scan(server: asyncpg.Connection, layout: str) -> float:
    """Median seconds of a look at all vectors of a workspace."""
    asked = await server.prepare(VECTORS.format(layout))
    return statistics.median([await timed(asked.fetch, ORG, workspace(number)) for number in range(WORKSPACES)])


async def erase(server: asyncpg.Connection, layout: str, number: int) -> float:
    """Seconds to delete a workspace."""

    async def work() -> None:
        async with server.transaction():
            for statement in DELETES:
                await server.execute(statement.format(layout), ORG, workspace(number))

    return await timed(work)


async def vacuum(server: asyncpg.Connection, layout: str, number: int) -> float:
    """Seconds to vacuum what the erased workspace was in: its partitions, or the tables."""
    tables = [f"{layout}_{name}" for name in SOURCES.values()]
    if layout == "partitioned":
        tables = [
            (await server.fetchval(
                "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = $1::text::regclass "
                "AND satisfies_hash_partition("
                "inhparent, $2, split_part(inhrelid::regclass::text, '_', 3)::integer, $3::uuid)",
                table, PARTITIONS, workspace(number),
            ))
            for table in tables
        ]  # fmt: skip

    async def work() -> None:
        for table in tables:
            await server.execute(f"VACUUM {table}")

    return await timed(work)


async def measure(url: str, chunks: int) -> None:
    """All measures of both layouts, in turns."""
    await upgrade(url)
    server = await asyncpg.connect(url)
    await server.execute("SET synchronous_commit = off")
    for layout in LAYOUTS:
        await make(server, layout)
    filled = {layout: 0.0 for layout in LAYOUTS}
    for number in range(WORKSPACES):
        for layout in LAYOUTS[:: 1 if number % 2 else -1]:
            filled[layout] += await timed(fill, server, layout, number, chunks)
    for name in SOURCES.values():
        for layout in LAYOUTS:
            await server.execute(f"VACUUM (ANALYZE) {layout}_{name}")
    for layout in LAYOUTS:
        say("chunks/s written", layout, [WORKSPACES * chunks / filled[layout]])
    found: dict[tuple[str, str], list[float]] = {}
    for turn in range(TURNS):
        for layout in LAYOUTS[:: 1 if turn % 2 else -1]:
            for measured, seconds in (
                ("ms for 10 texts", await look_up(server, layout, chunks)),
                ("ms for a workspace's vectors", await scan(server, layout)),
                ("ms to erase a workspace", await erase(server, layout, turn)),
                ("ms to vacuum after it", await vacuum(server, layout, turn)),
                (
                    "ms to write a workspace again",
                    await timed(fill, server, layout, turn, chunks),
                ),
            ):
                found.setdefault((measured, layout), []).append(1000 * seconds)
    for (measured, layout), values in found.items():
        say(measured, layout, values)
    await server.close()


def say(measured: str, layout: str, values: list[float]) -> None:
    """Print a line."""
    print(json.dumps({"measure": measured, "layout": layout, "values": [round(one, 3) for one in values]}), flush=True)


if __name__ == "__main__":
    with EmbeddedPostgres(Path(sys.argv[1])) as embedded:
        asyncio.run(measure(embedded.url, int(sys.argv[2]) if len(sys.argv) > 2 else 15_000))
