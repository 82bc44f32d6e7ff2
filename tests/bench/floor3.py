"""Floor3: a plain fast design without any product code. asyncpg, a narrow halfvec table with an HNSW index (m 16,
ef_construction 64), BM25 postings (k1 1.2, b 0.75) held in numpy, reciprocal rank fusion (k 60), ten texts by id.

Unlike the reference it is approximate and has a connection for each client.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import cycle, islice
from typing import Any

import asyncpg
import numpy as np
from numpy.typing import NDArray
from pgvector.asyncpg import register_vector
from tests.bench.corpus import PreparedChunk
from tests.bench.reference import ReferenceIndex, fuse_ranks

K1 = 1.2
CANDIDATES = 50
EF_SEARCH = 64

SCHEMA = """
DROP TABLE IF EXISTS floor3_vectors, floor3_texts;
CREATE TABLE floor3_vectors (id integer PRIMARY KEY, v halfvec({dimensions}) NOT NULL);
ALTER TABLE floor3_vectors ALTER COLUMN v SET STORAGE PLAIN;
CREATE TABLE floor3_texts (id integer PRIMARY KEY, text text NOT NULL);
"""
INDEX = "CREATE INDEX ON floor3_vectors USING hnsw (v halfvec_ip_ops) WITH (m = 16, ef_construction = 64)"
DENSE = f"SELECT id FROM floor3_vectors ORDER BY v <#> $1 LIMIT {CANDIDATES}"
TEXTS = "SELECT id, text FROM floor3_texts WHERE id = ANY($1)"
DROP = "DROP TABLE IF EXISTS floor3_vectors, floor3_texts"


class Floor3:
    """Answers a question with the ten best texts; safe to share between as many tasks as it has connections."""

    def __init__(self, pool: Any, chunks: Sequence[PreparedChunk]) -> None:
        self._pool = pool
        self._index = ReferenceIndex(chunks, K1)

    @classmethod
    async def load(
        cls, url: str, chunks: Sequence[PreparedChunk], vectors: NDArray[np.float32], clients: int
    ) -> Floor3:
        """The tables, filled and indexed, and `clients` open connections."""
        half = vectors.astype(np.float16)
        connection = await asyncpg.connect(url)
        try:
            await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            await register_vector(connection)
            await connection.execute(SCHEMA.format(dimensions=vectors.shape[1]))
            await connection.copy_records_to_table("floor3_vectors", records=list(enumerate(half)))
            await connection.copy_records_to_table(
                "floor3_texts", records=[(i, chunk.text.replace("\0", "")) for i, chunk in enumerate(chunks)]
            )
            await connection.execute(INDEX, timeout=600)
            await connection.execute("VACUUM ANALYZE floor3_vectors, floor3_texts")
        finally:
            await connection.close()
        return cls(await asyncpg.create_pool(url, min_size=clients, max_size=clients, init=_prepare), chunks)

    async def retrieve(self, question: str, vector: NDArray[np.float32]) -> list[int]:
        async with self._pool.acquire() as connection:
            dense = [row["id"] for row in await connection.fetch(DENSE, vector.astype(np.float16))]
            best = fuse_ranks(dense, self._index.top(question, CANDIDATES).tolist())
            await connection.fetch(TEXTS, best)
        return best

    async def close(self) -> None:
        await self._pool.execute(DROP)
        await self._pool.close()


async def rate(
    retrieve: Callable[[str, NDArray[np.float32]], Awaitable[object]],
    questions: Sequence[str],
    vectors: NDArray[np.float32],
    clients: int,
    asked: int,
) -> float:
    """Questions per second of `clients` tasks that share `asked` questions."""
    left = islice(cycle(zip(questions, vectors, strict=True)), asked)

    async def drain() -> None:
        for question, vector in left:
            await retrieve(question, vector)

    began = time.perf_counter()
    await asyncio.gather(*(drain() for _ in range(clients)))
    return asked / (time.perf_counter() - began)


async def _prepare(connection: asyncpg.Connection) -> None:
    await register_vector(connection)
    await connection.execute(f"SET hnsw.ef_search = {EF_SEARCH}")
