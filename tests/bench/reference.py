"""The reference design, without any product code: asyncpg, a narrow halfvec table scanned exactly, BM25 postings summed
in numpy, reciprocal rank fusion, and one read of the ten texts. Also the indexed raw floor for ingestion.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from statistics import median

import asyncpg
import numpy as np
from numpy.typing import NDArray
from pgvector.asyncpg import register_vector
from tests.bench.corpus import PreparedChunk

WORD = re.compile(r"\w+")

SCHEMA = """
DROP TABLE IF EXISTS reference_vectors, reference_texts;
CREATE TABLE reference_vectors (id integer PRIMARY KEY, v halfvec({dimensions}) NOT NULL);
ALTER TABLE reference_vectors ALTER COLUMN v SET STORAGE PLAIN;
CREATE TABLE reference_texts (id integer PRIMARY KEY, text text NOT NULL);
"""

# Vectors are of unit length: the inner product orders them as the cosine does.
DENSE = "SELECT id FROM reference_vectors ORDER BY v <#> $1 LIMIT 50"

FLOOR_SCHEMA = """
DROP TABLE IF EXISTS floor_chunks;
CREATE TABLE floor_chunks (
    id integer PRIMARY KEY, text text NOT NULL, v halfvec({dimensions}) NOT NULL,
    words tsvector GENERATED ALWAYS AS (to_tsvector('english', text)) STORED
);
CREATE INDEX ON floor_chunks USING hnsw (v halfvec_cosine_ops);
CREATE INDEX ON floor_chunks USING gin (words);
"""


def fuse_ranks(dense: Sequence[int], lexical: Sequence[int]) -> list[int]:
    """The ten best positions of two rankings by reciprocal rank fusion (k 60); of equal ones the lower."""
    fused: dict[int, float] = {}
    for ranking in (dense, lexical):
        for rank, position in enumerate(ranking, 1):
            fused[position] = fused.get(position, 0.0) + 1 / (60 + rank)
    return sorted(fused, key=lambda position: (-fused[position], position))[:10]


async def p50(
    retrieve: Callable[[str, NDArray[np.float32]], Awaitable[object]],
    questions: Sequence[str],
    vectors: NDArray[np.float32],
) -> float:
    """Median seconds of one retrieval."""
    seconds: list[float] = []
    for question, vector in zip(questions, vectors, strict=True):
        began = time.perf_counter()
        await retrieve(question, vector)
        seconds.append(time.perf_counter() - began)
    return median(seconds)


class ReferenceIndex:
    """BM25 postings by word, in memory; `k1` is its saturation."""

    def __init__(self, chunks: Sequence[PreparedChunk], k1: float = 1.5) -> None:
        self._k1 = k1
        postings: dict[str, list[tuple[int, int]]] = {}
        lengths: list[int] = []
        for position, chunk in enumerate(chunks):
            counts = Counter(WORD.findall(chunk.text.lower()))
            lengths.append(sum(counts.values()))
            for word, count in counts.items():
                postings.setdefault(word, []).append((position, count))
        self.lengths = np.array(lengths, dtype=np.float64)
        self.average = float(self.lengths.mean())
        self.postings = {word: np.array(rows, dtype=np.int64).T for word, rows in postings.items()}

    def top(self, question: str, limit: int = 50) -> NDArray[np.int64]:
        scores = np.zeros(len(self.lengths))
        for word in set(WORD.findall(question.lower())):
            rows = self.postings.get(word)
            if rows is None:
                continue
            positions, counts = rows
            idf = math.log(1 + (len(scores) - len(positions) + 0.5) / (len(positions) + 0.5))
            norm = self._k1 * (0.25 + 0.75 * self.lengths[positions] / self.average)
            scores[positions] += idf * counts * (self._k1 + 1) / (counts + norm)
        best = np.argpartition(-scores, limit)[:limit] if len(scores) > limit else np.arange(len(scores))
        return best[np.lexsort((best, -scores[best]))]


class Reference:
    """Answers a question with the ten best texts."""

    def __init__(self, connection: asyncpg.Connection, chunks: Sequence[PreparedChunk]) -> None:
        self._connection = connection
        self._index = ReferenceIndex(chunks)

    @classmethod
    async def load(cls, url: str, chunks: Sequence[PreparedChunk], vectors: NDArray[np.float32]) -> Reference:
        connection = await asyncpg.connect(url)
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        await register_vector(connection)
        await connection.execute(SCHEMA.format(dimensions=vectors.shape[1]))
        if not np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3):
            raise ValueError("the inner product orders only vectors of unit length as the cosine does")
        half = vectors.astype(np.float16)
        await connection.copy_records_to_table("reference_vectors", records=list(enumerate(half)))
        await connection.copy_records_to_table(
            "reference_texts", records=[(i, chunk.text.replace("\0", "")) for i, chunk in enumerate(chunks)]
        )
        await connection.execute("VACUUM ANALYZE reference_vectors, reference_texts")
        return cls(connection, chunks)

    async def retrieve(self, question: str, vector: NDArray[np.float32]) -> list[int]:
        dense = [row["id"] for row in await self._connection.fetch(DENSE, vector.astype(np.float16))]
        best = fuse_ranks(dense, self._index.top(question).tolist())
        await self._connection.fetch("SELECT id, text FROM reference_texts WHERE id = ANY($1)", best)
        return best

    async def close(self) -> None:
        await self._connection.execute("DROP TABLE IF EXISTS reference_vectors, reference_texts")
        await self._connection.close()


async def raw_floor(url: str, chunks: Sequence[PreparedChunk], vectors: NDArray[np.float32]) -> float:
    """Chunks per second of COPY into one table with HNSW and GIN indexes in place."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        await register_vector(connection)
        await connection.execute(FLOOR_SCHEMA.format(dimensions=vectors.shape[1]))
        half = vectors.astype(np.float16)
        records = [(i, chunk.text.replace("\0", ""), half[i]) for i, chunk in enumerate(chunks)]
        began = time.perf_counter()
        for start in range(0, len(records), 1000):
            await connection.copy_records_to_table(
                "floor_chunks", records=records[start : start + 1000], columns=["id", "text", "v"], timeout=600
            )
        return len(records) / (time.perf_counter() - began)
    finally:
        await connection.execute("DROP TABLE IF EXISTS floor_chunks")
        await connection.close()
