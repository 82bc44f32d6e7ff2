"""The words that tables hold, also where a column is compressed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable

import asyncpg

RUNS = "rag_runs"


async def rows_as_text(server: asyncpg.Connection, table: str) -> list[str]:
    """Each row as text; a run with its answer as it was before it was compressed."""
    rows = [row["text"] for row in await server.fetch(f"SELECT t::text AS text FROM {table} t")]
    if table == RUNS:
        stored = await server.fetch("SELECT stored_answer FROM rag_runs WHERE stored_answer IS NOT NULL")
        rows += [zlib.decompress(row["stored_answer"]).decode() for row in stored]
    return rows


async def tables_with(server: asyncpg.Connection, names: Iterable[str], words: str) -> list[str]:
    """The tables that hold the words in any column of any row, as they are or as JSON writes them."""
    forms = {words, json.dumps(words)[1:-1], json.dumps(words, ensure_ascii=False)[1:-1]}
    return [one for one in names if any(form in row for row in await rows_as_text(server, one) for form in forms)]
