"""The product under measurement: prepared chunks in, retrieval in process, citations checked by an independent
reader.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Any
from uuid import UUID

import asyncpg
import numpy as np
from numpy.typing import NDArray
from tests.bench.corpus import KnownItem, PreparedChunk
from tests.retrieving import retrieved

from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.bootstrap import Container, build_container
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.retrieval.query import QueryVector, RetrievalQuery
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID, DEFAULT_ORG_ID, Principal, Role, WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_eval.ablation import Arm, without
from agentic_rag_migrations.upgrade import upgrade

TOKEN = "bench-token-of-thirty-two-characters"
HITS = 10
RECORDED_SECONDS = 0.4
"""After these the runs of earlier answers are recorded."""


@dataclass(frozen=True, slots=True)
class Servers:
    """Where the product's servers are, and the folder of its state."""

    database_url: str
    redis_url: str
    home: str


def variables(servers: Servers, **more: str) -> dict[str, str]:
    """The environment of a product process."""
    return {
        "DATABASE_URL": servers.database_url,
        "REDIS_URL": servers.redis_url,
        "AGENTIC_RAG_HOME": servers.home,
        "AGENTIC_RAG_TOKEN": TOKEN,
        "AGENTIC_RAG_ENABLED": "true",
        "AGENTIC_RAG_LOG_LEVEL": "warning",
        "AGENTIC_RAG_SCHEDULE": "calibrate_minutes=0",
        **more,
    }


@asynccontextmanager
async def product(servers: Servers) -> AsyncIterator[Container]:
    """A migrated, wired product with the default organisation."""
    await upgrade(servers.database_url)
    async with build_container(load_settings(variables(servers))) as container:
        await container.first_access.ensure_organisation()
        yield container


async def create_workspace(container: Container, name: str) -> WorkspaceRef:
    async with container.database.transaction(DEFAULT_ORG_ID) as transaction:
        made = await transaction.workspaces.create(
            container.ids.new(), name, WorkspaceKind.GENERAL, None, WorkspaceSettings()
        )
    return made.ref


def as_documents(chunks: Sequence[PreparedChunk]) -> list[ChunkedDocument]:
    """Whole documents of prepared chunks, in order."""
    return [
        ChunkedDocument(source_path=path, title=path, texts=tuple(chunk.text for chunk in members))
        for path, members in groupby(chunks, key=lambda chunk: chunk.document)
    ]


async def ingest_rate(container: Container, workspace: WorkspaceRef, chunks: Sequence[PreparedChunk]) -> float:
    """Chunks per second through the ingest use case: embedding, postings, entities and publish included."""
    documents = as_documents(chunks)
    began = time.perf_counter()
    await container.ingest_chunks.run(workspace, documents, "bench")
    return len(chunks) / (time.perf_counter() - began)


async def settle(url: str) -> None:
    """What autovacuum does within a minute, and the reference does for itself: statistics and visibility."""
    connection = await asyncpg.connect(url)
    await connection.execute("VACUUM ANALYZE")
    await connection.close()


@dataclass(frozen=True, slots=True)
class RetrievalFigures:
    """Seconds of each retrieval, and how often the known item was among the first ten."""

    seconds: Sequence[float]
    hit_at_10: float


async def retrieval(
    container: Container,
    workspace: WorkspaceRef,
    chunks: Sequence[PreparedChunk],
    questions: Sequence[KnownItem],
) -> RetrievalFigures:
    """Ask every question in process: embed, one snapshot, all arms, fusion, texts."""
    wanted = {chunk.number: (chunk.document, chunk.text.strip()) for chunk in chunks}
    seconds: list[float] = []
    hits = 0
    for item in questions:
        began = time.perf_counter()
        vector = (await container.embedder.embed([item.question]))[0]
        found = await retrieved(container, workspace, item.question, vector, container.fusion_weights, HITS)
        seconds.append(time.perf_counter() - began)
        hits += wanted[item.gold] in {(chunk.source_path, chunk.text.strip()) for chunk, _ in found.chunks}
    return RetrievalFigures(seconds, hits / len(questions))


@dataclass(frozen=True, slots=True)
class GraphCost:
    """Median seconds of a retrieval with the graph and without it, vectors given."""

    on: float
    off: float


async def graph_cost(
    container: Container, workspace: WorkspaceRef, questions: Sequence[str], vectors: NDArray[np.float32]
) -> GraphCost:
    """Each question is asked both ways in turn, so that a machine that slows down slows both."""
    seconds: dict[Arm | None, list[float]] = {None: [], Arm.GRAPH: []}
    for text, vector in zip(questions, vectors, strict=True):
        for off, taken in seconds.items():
            weights = container.fusion_weights if off is None else without(off, container.fusion_weights)
            began = time.perf_counter()
            await retrieved(container, workspace, text, vector, weights, HITS)
            taken.append(time.perf_counter() - began)
    return GraphCost(median(seconds[None]), median(seconds[Arm.GRAPH]))


async def retrieve_one(
    container: Container, workspace: WorkspaceRef, question: str, vector: NDArray[np.float32]
) -> None:
    """One retrieval by the default path."""
    await retrieved(container, workspace, question, vector, container.fusion_weights, HITS)


async def statements_of_answers(container: Container, workspace: WorkspaceRef, questions: Sequence[str]) -> list[int]:
    """How many statements each uncached answer waits for: those that are sent before it is there."""
    sent: list[str] = []
    run = PostgresConnection._run

    async def counted(self: PostgresConnection, call: Any, *arguments: Any, **options: Any) -> Any:
        sent.append(arguments[0])
        return await run(self, call, *arguments, **options)

    asker = Principal(DEFAULT_ORG_ID, "bench", Role.ADMIN)
    counts: list[int] = []
    PostgresConnection._run = counted  # type: ignore[method-assign]
    try:
        for text in questions:
            question = Question(workspace, text, options=AnswerOptions(cache=CacheMode.BYPASS))
            sent.clear()
            await container.answer.ask(asker, question)
            counts.append(len(sent))
            # The record of the run is written behind the answer.
            await asyncio.sleep(RECORDED_SECONDS)
    finally:
        PostgresConnection._run = run  # type: ignore[method-assign]
    return counts


async def unverified_citations(url: str, workspace: WorkspaceRef, replies: Sequence[dict]) -> tuple[int, int]:
    """(citations, those whose quote is not the stored text), read with plain SQL by a superuser, not by the product."""
    connection = await asyncpg.connect(url)
    checked = wrong = 0
    try:
        for reply in replies:
            for citation in reply["ragAnswer"]["citations"]:
                span = citation["sourceSpan"]
                stored = await connection.fetchval(
                    "SELECT substr(r.text, $3 + 1, $4 - $3) FROM rag_revisions r JOIN rag_documents d "
                    "USING (org_id, workspace_id, document_id) "
                    "WHERE d.workspace_id = $1 AND d.source_path = $2 AND r.revision_id = d.revision_id",
                    workspace.workspace_id, citation["sourcePath"], span["start"], span["end"],
                )  # fmt: skip
                checked += 1
                wrong += stored != citation["snippet"]
    finally:
        await connection.close()
    return checked, wrong


async def publishing_readers(container: Container, publishes: int) -> tuple[int, int, int]:
    """(reads, reads that mixed versions, reads of half a document) while a document is published again and again.

    Every revision of the one document says its number in each of its chunks, so a reader can tell.
    """
    workspace = await create_workspace(container, f"publishing-{container.ids.new()}")
    chunk_count = 12
    done = asyncio.Event()
    figures = [0, 0, 0]

    def texts(number: int) -> tuple[str, ...]:
        return tuple(f"revision{number} of the rotating manual, part {part}" for part in range(chunk_count))

    await container.ingest_chunks.run(workspace, [ChunkedDocument("manual.md", "manual", texts(0))], "bench")

    async def read() -> None:
        while not done.is_set():
            vector = (await container.embedder.embed(["rotating manual part"]))[0]
            async with container.database.snapshot(workspace) as snapshot:
                query = RetrievalQuery(
                    workspace.workspace_id, "rotating manual part",
                    QueryVector(container.embedder.space, vector), SearchScope((DEFAULT_ACCESS_ID,)), top_k=50,
                )  # fmt: skip
                found = await container.retrieve.run(snapshot, query)
            revisions: set[UUID | str] = {chunk.text.split()[0] for chunk, _ in found.chunks}
            figures[0] += 1
            figures[1] += len(revisions) > 1
            figures[2] += len(found.chunks) != chunk_count

    readers = [asyncio.create_task(read()) for _ in range(2)]
    for number in range(1, publishes + 1):
        await container.ingest_chunks.run(workspace, [ChunkedDocument("manual.md", "manual", texts(number))], "bench")
    done.set()
    await asyncio.gather(*readers)
    return figures[0], figures[1], figures[2]
