"""The same questions over the same corpus rank the same passages with the same scores and paths, wherever the graph is
kept.
"""

from __future__ import annotations

import os
from pathlib import Path
from statistics import median
from time import perf_counter

import orjson
import pytest
from tests.integration.neo4j.world import GraphWorld

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument
from agentic_rag.retrieval.candidates import Hop, HopKind, Retriever, SearchScope
from agentic_rag.retrieval.fusion import HASHED_TRUST
from agentic_rag.retrieval.query import QueryVector, RetrievalQuery
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID

pytestmark = [pytest.mark.integration, pytest.mark.network, pytest.mark.slow]

DATA = Path(os.environ.get("AGENTIC_RAG_TEST_DATA") or Path(__file__).parents[4] / "shared" / "data")
WHOLE = os.environ.get("AGENTIC_RAG_TEST_WHOLE_SETS") == "1"
PASSAGES, QUESTIONS = (None, None) if WHOLE else (120, 8)
"""A part of each set, unless the whole is asked for."""

Ranking = list[tuple[int, float, tuple[tuple[str, int, float], ...], tuple[Hop, ...]]]


def rows_of(name: str, file: str, limit: int | None) -> list[dict[str, str]]:
    """The first rows of a data set."""
    path = DATA / name / file
    if not path.exists():
        pytest.skip(f"data: no {path} (AGENTIC_RAG_TEST_DATA)")
    with path.open("rb") as lines:
        return [orjson.loads(line) for line in lines][:limit]


async def rankings(
    world: GraphWorld, database: PostgresDatabase, questions: list[str]
) -> tuple[list[Ranking], list[float]]:
    """Every question's candidates with what each arm gave them, and the seconds the graph took."""
    retrieve, embedder = Retrieve(world.telemetry), DeterministicEmbedder()
    vectors = await embedder.embed(questions)
    found: list[Ranking] = []
    seconds: list[float] = []
    for question, vector in zip(questions, vectors, strict=True):
        query = RetrievalQuery(
            world.workspace.workspace_id,
            question,
            QueryVector(embedder.space, vector),
            SearchScope((DEFAULT_ACCESS_ID,)),
            top_k=20,
            dense_trust=HASHED_TRUST,
        )
        async with database.snapshot(world.workspace) as snapshot:
            retrieved = await retrieve.run(snapshot, query)
            assert retrieved.degraded == ()
            asked = [one.ordinal for one, _ in retrieved.chunks[:4]]
            began = perf_counter()
            await snapshot.graph.vicinity([], asked, 40)
            seconds.append(perf_counter() - began)
            assert snapshot.graph.version == snapshot.version
        found.append(
            [
                (
                    chunk.ordinal,
                    one.score,
                    tuple((arm.retriever.value, arm.rank, arm.raw) for arm in one.arms),
                    one.path,
                )
                for chunk, one in retrieved.chunks
            ]
        )
    return found, seconds


@pytest.mark.timeout(900 if WHOLE else 180)
@pytest.mark.parametrize("name", ["musique", pytest.param("hotpotqa", marks=pytest.mark.nightly)])
async def test_both_stores_rank_alike(world: GraphWorld, name: str) -> None:
    passages = rows_of(name, "corpus.jsonl", PASSAGES)
    questions = [row["question"] for row in rows_of(name, "queries.dev.jsonl", QUESTIONS)]
    await world.ingest([ChunkedDocument(row["id"], row["title"], (row["text"],)) for row in passages])
    began = perf_counter()
    await world.follow()
    written = perf_counter() - began
    counts = (await world.sync.status(world.workspace)).held
    assert counts is not None

    in_neo4j, neo4j_seconds = await rankings(world, world.database, questions)
    in_postgres, postgres_seconds = await rankings(world, world.plain_database, questions)

    assert in_neo4j == in_postgres
    by_graph = sum(any(arm[0] == Retriever.GRAPH.value for arm in arms) for one in in_neo4j for _, _, arms, _ in one)
    assert by_graph > len(questions)
    hops = [hop for one in in_neo4j for _, _, _, path in one for hop in path]
    assert {hop.kind for hop in hops} >= {HopKind.NAMES, HopKind.SHARES}
    assert all(hop.via for hop in hops if hop.kind is not HopKind.COVERS)
    assert counts == await world.feed.counts(world.workspace)
    figures: dict[str, object] = {
        "set": name,
        "passages": len(passages),
        "questions": len(questions),
        "counts": str(counts),
        "write_seconds": round(written, 2),
        "mentions_per_second": round(counts.mentions / written),
    }
    for store, seconds in (("neo4j", neo4j_seconds), ("postgres", postgres_seconds)):
        figures[f"{store}_p50_ms"] = round(1000 * median(seconds), 2)
        figures[f"{store}_p95_ms"] = round(1000 * sorted(seconds)[int(0.95 * len(seconds))], 2)
    print(orjson.dumps(figures).decode())
