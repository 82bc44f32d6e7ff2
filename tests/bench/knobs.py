"""What Postgres `work_mem` and the number of workers change: `python -m tests.bench.knobs` (docs/scaling.md).

Prints figures, judges none. `work_mem` is set for the database, so that every new connection has it; what a phase
spilled is the difference of `pg_stat_database.temp_bytes`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import asyncpg
from tests.bench import product
from tests.bench.corpus import BenchCorpus, load_corpus
from tests.bench.processes import ROOT, environment
from tests.bench.product import Servers

from agentic_rag.embedded.stack import EmbeddedStack
from agentic_rag.jobs.job import JobState
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.tenancy.principals import WorkspaceRef

MEMORIES = ("1MB", "4MB", "32MB")
FLEETS = ((1, 1), (1, 8), (2, 8))
"""Worker processes, and jobs each runs at a time."""

FILES = 120

# What a comparison of stores does with every chunk: joined with its vector, grouped by document, sorted by text hash.
COMPARISON = """
SELECT document_id, count(*), string_agg(chunk_id::text, ',' ORDER BY content_hash)
FROM rag_chunks c JOIN rag_embeddings e USING (org_id, workspace_id, ordinal)
WHERE workspace_id = $1 GROUP BY document_id
"""


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--only", choices=("memory", "workers"))
    chosen = parser.parse_args()
    corpus = load_corpus(chosen.chunks)
    os.umask(0o022)
    with tempfile.TemporaryDirectory(prefix="rag-knobs-") as folder:
        home = Path(folder)
        home.chmod(0o755)
        with EmbeddedStack(home / "state") as stack:
            servers = Servers(stack.database_url, stack.redis_url, str(home / "state"))
            for memory in () if chosen.only == "workers" else (*MEMORIES, *reversed(MEMORIES)):
                await under_memory(servers, corpus, memory)
            for processes, slots in () if chosen.only == "memory" else FLEETS:
                await with_workers(servers, corpus, home, processes, slots)


async def under_memory(servers: Servers, corpus: BenchCorpus, memory: str) -> None:
    server = await asyncpg.connect(servers.database_url)
    await server.execute(f"ALTER DATABASE \"{urlsplit(servers.database_url).path[1:]}\" SET work_mem = '{memory}'")
    async with product.product(servers) as container:
        workspace = await product.create_workspace(container, f"{memory} {container.ids.new()}")
        before = await spilled(server)
        rate = await product.ingest_rate(container, workspace, corpus.chunks)
        after_ingest = await spilled(server)
        await product.settle(servers.database_url)
        await product.retrieval(container, workspace, corpus.chunks, corpus.questions[:20])
        before_asking = await spilled(server)
        found = await product.retrieval(container, workspace, corpus.chunks, corpus.questions[20:170])
        after_asking = await spilled(server)
        compared, compare_spill = await comparison(server, workspace, memory)
    print(
        f"work_mem {memory:>5}: ingest {rate:6.0f} chunks/s, spilled {mb(after_ingest - before)}; retrieval p50 "
        f"{1000 * median(found.seconds):5.1f} ms, spilled {mb(after_asking - before_asking)}; comparison "
        f"{compared:5.2f} s, spilled {mb(compare_spill)}",
        flush=True,
    )
    await server.close()


async def comparison(server: asyncpg.Connection, workspace: WorkspaceRef, memory: str) -> tuple[float, int]:
    await server.execute(f"SET work_mem = '{memory}'")
    before = await spilled(server)
    began = time.perf_counter()
    await server.fetch(COMPARISON, workspace.workspace_id)
    seconds = time.perf_counter() - began
    return seconds, await spilled(server) - before


async def spilled(server: asyncpg.Connection) -> int:
    """Bytes of temporary files so far. Sessions report at their end or within a second."""
    await asyncio.sleep(1.2)
    await server.execute("SELECT pg_stat_force_next_flush()")
    await server.execute("SELECT pg_stat_clear_snapshot()")
    found: Any = await server.fetchval("SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()")
    return int(found)


def mb(size: int) -> str:
    return f"{size / 2**20:.1f} MB"


async def with_workers(servers: Servers, corpus: BenchCorpus, home: Path, processes: int, slots: int) -> None:
    folder = home / f"source-{processes}-{slots}"
    folder.mkdir()
    for number in range(FILES):
        texts = [chunk.text for chunk in corpus.chunks[number * 20 : number * 20 + 20]]
        (folder / f"{number:04}.md").write_text("\n\n".join(f"# Part {n}\n\n{text}" for n, text in enumerate(texts)))
    async with product.product(servers) as container:
        workspace = await product.create_workspace(container, folder.name)
        await container.sync_source.run(workspace, container.directory_source(folder), "bench")
        with workers(servers, processes, slots):
            began = time.perf_counter()
            await all_done(container, workspace)
            seconds = time.perf_counter() - began
        server = await asyncpg.connect(servers.database_url)
        chunks = await server.fetchval(
            "SELECT count(*) FROM rag_chunks WHERE workspace_id = $1", workspace.workspace_id
        )
        await server.close()
    print(
        f"{processes} worker processes x {slots} jobs: {chunks} chunks of {FILES} files in {seconds:.1f} s, start "
        f"included: {chunks / seconds:.0f} chunks/s",
        flush=True,
    )


async def all_done(container: product.Container, workspace: WorkspaceRef) -> None:
    states = (JobState.QUEUED, JobState.RUNNING)
    while True:
        async with container.database.transaction(workspace.org_id) as transaction:
            if not (await transaction.jobs.page(workspace, PageRequest(1), states)).items:
                return
        await asyncio.sleep(0.1)


@contextmanager
def workers(servers: Servers, processes: int, slots: int) -> Iterator[None]:
    variables = environment(servers, AGENTIC_RAG_WORKER_METRICS_PORT="0", AGENTIC_RAG_WORKER_CONCURRENCY=str(slots))
    with ExitStack() as ending:
        for _ in range(processes):
            child = subprocess.Popen([sys.executable, "-m", "agentic_rag_cli", "worker"], env=variables, cwd=ROOT)
            ending.callback(child.wait, 60)
            ending.callback(child.terminate)
        yield


if __name__ == "__main__":
    asyncio.run(main())
