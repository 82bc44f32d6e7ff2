"""Ingest throughput against what the same chunks cost when nothing is queued, leased, fenced or recovered."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg
import numpy as np
from pgvector.asyncpg import register_vector

from agentic_rag.adapters.deterministic.hashed_embedding import embed_texts
from agentic_rag.language.tokenizer import term_counts
from tests.bench.corpus import PreparedChunk, load_corpus
from tests.bench.reports import Row, at_least, exactly
from tests.chaos import corpus
from tests.chaos.children import crew
from tests.chaos.ground import Ground, Servers, new_ground

FLOOR_SCHEMA = """
CREATE TABLE floor_chunks (id integer PRIMARY KEY, text text NOT NULL, terms bytea NOT NULL, v halfvec(384) NOT NULL)
"""
BATCH = 1_000
PIECES = 100
"""Of the bench corpus in one document: a manual of 20 to 30 pages."""
ROUNDS = 3
"""Judged together: on shared cores the floor alone varies by a third from one half minute to the next."""


@dataclass(frozen=True, slots=True)
class _Round:
    """One ingestion and its floor, one right after the other."""

    chunks: int
    ingest: float
    """Seconds."""
    floor: float
    """Seconds."""
    failed: int
    """Documents that are not READY."""
    lost: int
    """Workers that did not live to the end."""


async def ingest_throughput(servers: Servers, short: bool) -> list[Row]:
    """Two workers, 20,000 chunks, against tokenise + embed + COPY one after the other in one process."""
    chunks = load_corpus(1_000 if short else 20_000).chunks
    rounds = [await _round(servers, chunks) for _ in range(1 if short else ROUNDS)]
    of = f"{rounds[0].chunks} chunks" if short else f"{ROUNDS} × {rounds[0].chunks} chunks"
    ratio = sum(one.floor for one in rounds) / sum(one.ingest for one in rounds)
    return [
        at_least(f"ingest of {of} by 2 workers over tokenise + embed + COPY", ratio, 0.6),
        exactly("throughput: documents that are not READY", sum(one.failed for one in rounds), 0),
        exactly("throughput: workers lost", sum(one.lost for one in rounds), 0),
    ]


async def _round(servers: Servers, chunks: Sequence[PreparedChunk]) -> _Round:
    settings = {
        "RAG_EMBEDDER": "deterministic", "AGENTIC_RAG_JOB_LEASE_SECONDS": "30", "AGENTIC_RAG_WORKER_CONCURRENCY": "16",
        "AGENTIC_RAG_CHUNK_PROFILE": "small",
    }  # fmt: skip
    async with new_ground(servers, **settings) as ground, crew(ground) as workers:
        folder = ground.home / "source"
        folder.mkdir()
        for start in range(0, len(chunks), PIECES):
            (folder / f"manual-{start:05}.md").write_text(
                "\n\n".join(f"# Part {chunk.number}\n\n{chunk.text}" for chunk in chunks[start : start + PIECES]),
                encoding="utf-8",
            )
        # Both have started their children and made their connections before the clock runs.
        running = [workers.start(), workers.start()]
        await ground.sync(corpus.small(ground.home / "warm", 40))
        await ground.until_idle()
        began = time.perf_counter()
        found = await ground.sync(folder)
        handed = time.perf_counter() - began
        await ground.until_idle(1_200, poll=0.25)
        seconds = time.perf_counter() - began
        texts = [
            row["text"]
            for row in await ground.rows(
                "SELECT text FROM rag_chunks c JOIN rag_documents d "
                "USING (workspace_id, document_id) WHERE d.source_path LIKE 'manual-%'"
            )
        ]
        failed = await ground.value("SELECT count(*) FROM rag_documents WHERE status <> 'READY'")
        alive = len([worker for worker in running if worker.alive])
        await workers.stop()
        floor = await _floor_seconds(ground, texts)
    print(
        f"    {len(texts)} chunks of {len(found.new)} documents: floor {len(texts) / floor:.0f}/s, "
        f"two workers {len(texts) / seconds:.0f}/s, {floor / seconds:.2f} "
        f"(synchronising took {handed:.1f} s of {seconds:.1f})"
    )
    return _Round(len(texts), seconds, floor, failed, len(running) - alive)


async def _floor_seconds(ground: Ground, texts: list[str]) -> float:
    """The same texts, tokenised, embedded and copied into one plain table, one after the other."""
    connection = await asyncpg.connect(ground.database_url)
    try:
        await register_vector(connection)
        await connection.execute(FLOOR_SCHEMA)
        began = time.perf_counter()
        terms = [term_counts(text).hashes for text in texts]
        vectors = np.concatenate([embed_texts(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)])
        half = vectors.astype(np.float16)
        records = list(zip(range(len(texts)), texts, terms, half, strict=True))
        for start in range(0, len(records), BATCH):
            await connection.copy_records_to_table("floor_chunks", records=records[start : start + BATCH])
        return time.perf_counter() - began
    finally:
        await connection.close()
