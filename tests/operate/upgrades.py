"""Upgrades: databases of earlier schemas with a corpus are migrated while statements run, and answer as before.

The current program writes the corpus, and its rows are copied into a database of the earlier schema, as far as that
schema has the columns. So what a revision adds comes from the revision itself.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import asyncpg

from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_migrations.catalogue import TABLES
from agentic_rag_migrations.upgrade import upgrade
from tests.bench.corpus import BenchCorpus
from tests.bench.product import Servers, as_documents, create_workspace
from tests.operate.drill import answer, product_on

READ = (
    "rag_organizations", "rag_workspaces", "rag_access_sets", "rag_restricted_versions", "rag_embedding_spaces",
    "rag_documents", "rag_document_labels", "rag_revisions", "rag_chunks", "rag_closed_ordinals",
    "rag_moved_ordinals", "rag_embeddings", "rag_segments", "rag_entities", "rag_mentions",
)  # fmt: skip
"""The tables that an answer is made of."""

REWRITTEN = {"uploaded_by", "principals", "settings"}
"""Columns that a revision rewrites: who is named in them got a kind (0017), and features got switches (0011)."""

SAMPLE = ("0016", "0027", "0036")
"""Earlier schemas of a short run."""

COLUMNS = """
SELECT table_name AS name, array_agg(column_name::text ORDER BY ordinal_position) AS columns
FROM information_schema.columns
WHERE table_schema = 'public' AND table_name = ANY ($1::text[]) AND is_generated = 'NEVER'
GROUP BY table_name
"""
PROBES = (
    "SELECT count(*) FROM rag_workspaces",
    "SELECT count(*) FROM (SELECT FROM rag_documents LIMIT 10) d",
    "SELECT count(*) FROM (SELECT FROM rag_chunks LIMIT 10) c",
    "SELECT count(*) FROM (SELECT FROM rag_jobs LIMIT 10) j",
    "SELECT count(*) FROM (SELECT FROM rag_runs LIMIT 10) r",
    "UPDATE rag_documents SET title = title WHERE false",
    "UPDATE rag_jobs SET state = state WHERE false",
)
"""What answers and workers of the old version ask meanwhile."""


@dataclass(frozen=True, slots=True)
class Upgrades:
    """What came of them."""

    chunks: int
    questions: int
    schemas: int
    """Earlier schemas that were upgraded."""
    tables_changed: int
    """Tables with another row in a column that the earlier schema had."""
    answers_changed: int
    longest_wait: float
    """Seconds that a statement took while a migration ran, longest of all."""


async def upgrades(
    place: Callable[[str], Awaitable[Servers]], corpus: BenchCorpus, questions: int, revisions: Sequence[str]
) -> Upgrades:
    """`place` gives a database without a schema, by its name, with an empty home."""
    asked = [item.question for item in corpus.questions[:questions]]
    current = await place("current")
    await upgrade(current.database_url)
    async with product_on(current) as product:
        await product.first_access.ensure_organisation()
        workspace = await create_workspace(product, "upgrades")
        await product.ingest_chunks.run(workspace, as_documents(corpus.chunks), "upgrades")
    expected = await _answers(current, workspace, asked)
    tables_changed = answers_changed = 0
    longest = 0.0
    answered: set[str] = set()
    for revision in revisions:
        earlier = await place(f"from_{revision}")
        await upgrade(earlier.database_url, revision)
        columns = await copy_rows(current.database_url, earlier.database_url)
        waited = await _upgrade_under_probes(earlier.database_url)
        longest = max(longest, waited)
        before, after = [await _digests(one.database_url, columns) for one in (current, earlier)]
        changed = [name for name in before if before[name] != after[name]]
        tables_changed += len(changed)
        # Answers follow from the rows that they are made of: the same rows are asked once.
        content = "".join((await _digests(earlier.database_url, await _columns(earlier.database_url, READ))).values())
        if content not in answered:
            answered.add(content)
            given = await _answers(earlier, workspace, asked)
            answers_changed += sum(one != other for one, other in zip(expected, given, strict=True))
        told = f"tables changed: {', '.join(changed) or 'none'}; answers changed so far: {answers_changed}"
        print(f"  {revision}: a statement took {waited:.3f} s at most; {told}", flush=True)
    return Upgrades(len(corpus.chunks), len(asked), len(revisions), tables_changed, answers_changed, longest)


async def _answers(servers: Servers, workspace: WorkspaceRef, asked: Sequence[str]) -> list[bytes]:
    async with product_on(servers) as product:
        return [await answer(product, workspace, question) for question in asked]


async def _columns(url: str, tables: Sequence[str]) -> dict[str, list[str]]:
    connection = await asyncpg.connect(url)
    try:
        return {row["name"]: row["columns"] for row in await connection.fetch(COLUMNS, list(tables))}
    finally:
        await connection.close()


async def copy_rows(source: str, target: str) -> Mapping[str, Sequence[str]]:
    """Copy every row into an earlier schema; the columns of each table of `READ` that it has."""
    names = [name for name in TABLES if name != "rag_schema_version"]
    here, there = await _columns(source, names), await _columns(target, names)
    common = {name: [one for one in columns if one in here[name]] for name, columns in there.items() if name in here}
    reader, writer = [await asyncpg.connect(url) for url in (source, target)]
    try:
        # Checks of foreign keys are triggers: tables are copied in no order.
        await writer.execute("SET session_replication_role = replica")
        for name, columns in common.items():
            rows = io.BytesIO()
            listed = ", ".join(f'"{one}"' for one in columns)
            await reader.copy_from_query(f"SELECT {listed} FROM {name}", output=rows)
            rows.seek(0)
            await writer.copy_to_table(name, source=rows, columns=columns)
    finally:
        await reader.close()
        await writer.close()
    return {name: sorted({*columns} - REWRITTEN) for name, columns in common.items() if name in READ}


async def _digests(url: str, columns: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """A hash of all rows of each table, in these columns."""
    connection = await asyncpg.connect(url)
    found: dict[str, str] = {}
    try:
        for name, listed in columns.items():
            wanted = ", ".join(f'"{one}"' for one in listed)
            digest = hashlib.sha256()
            ordered = f"SELECT {wanted} FROM {name} ORDER BY {wanted}"

            async def take(piece: bytes, digest: hashlib._Hash = digest) -> None:
                digest.update(piece)

            await connection.copy_from_query(ordered, output=take)
            found[name] = digest.hexdigest()
    finally:
        await connection.close()
    return found


async def _upgrade_under_probes(url: str) -> float:
    """Seconds of the statement that took longest while the migration ran."""
    over = asyncio.Event()
    probes = [asyncio.create_task(_probe(url, statement, over)) for statement in PROBES]
    try:
        await asyncio.to_thread(asyncio.run, upgrade(url))
    finally:
        over.set()
        waits = await asyncio.gather(*probes)
    return max(waits)


async def _probe(url: str, statement: str, over: asyncio.Event) -> float:
    connection = await asyncpg.connect(url)
    longest = 0.0
    try:
        while not over.is_set():
            began = time.perf_counter()
            await connection.fetchval(statement)
            longest = max(longest, time.perf_counter() - began)
            await asyncio.sleep(0.002)
    finally:
        await connection.close()
    return longest
