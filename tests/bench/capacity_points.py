"""Measured points for the capacity model: answers by size of a workspace and number of clients.

`python -m tests.bench.capacity_points FOLDER` starts the embedded servers under FOLDER and prints a line of JSON for
each point; workspaces that an earlier run filled there are asked as they are. One server process on the cores of the
load client and Postgres; answers are not cached; above 20,000 chunks the corpus repeats under other names.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from itertools import cycle, islice
from pathlib import Path

import asyncpg
from tests.bench import http_load, processes, product
from tests.bench.corpus import PreparedChunk, load_corpus
from tests.bench.measures import QUERY
from tests.bench.product import Servers

from agentic_rag.bootstrap import Container
from agentic_rag.embedded.stack import EmbeddedStack
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.tenancy.principals import WorkspaceRef

SIZES = (1_000, 10_000, 40_000, 100_000, 300_000, 1_000_000)
ROUNDS = 2
REFUSED_SECONDS = 1.0
CLIENTS = (1, 4, 16, 64, 256)
RESIDENT_MB = "8192"
"""What a process may hold: all workspaces of the run."""

DATABASE_BYTES = "SELECT pg_database_size(current_database())"
FILLED = """
SELECT w.org_id, w.workspace_id, coalesce(sum(d.chunk_count), 0) AS chunks
FROM rag_workspaces w LEFT JOIN rag_documents d USING (org_id, workspace_id)
WHERE w.name = $1 GROUP BY w.org_id, w.workspace_id
"""


def chunks_up_to(number: int) -> list[PreparedChunk]:
    """The corpus, repeated with a word more for each turn."""
    given = load_corpus(20_000).chunks
    return [
        PreparedChunk(n, f"{n // len(given)}/{given[n % len(given)].document}", given[n % len(given)].text)
        for n in range(number)
    ]


async def load(endpoint: http_load.Endpoint, bodies: list[bytes], clients: int, requests: int) -> dict[str, float]:
    """Answers a second, and how often a client was refused and asked again."""
    connections = [await http_load.Connection.open(endpoint) for _ in range(clients)]
    left = islice(cycle(bodies), requests)
    refused = 0

    async def drain(place: int) -> None:
        nonlocal refused
        for body in left:
            while True:
                try:
                    reply = json.loads(await connections[place].post(body))
                    break
                except RuntimeError:  # the server has as much to do as it can
                    refused += 1
                    await connections[place].close()
                    await asyncio.sleep(REFUSED_SECONDS)
                    connections[place] = await http_load.Connection.open(endpoint)
            if reply.get("errors"):
                raise RuntimeError(json.dumps(reply["errors"])[:500])

    began = time.perf_counter()
    await asyncio.gather(*(drain(place) for place in range(clients)))
    elapsed = time.perf_counter() - began
    await asyncio.gather(*(connection.close() for connection in connections))
    return {"answers_per_second": round(requests / elapsed, 2), "refused": refused}


def pace() -> float:
    """Seconds of a fixed piece of work: machines change their pace from minute to minute."""
    began = time.perf_counter()
    sum(number * number for number in range(1_500_000))
    return time.perf_counter() - began


async def compact(container: Container, workspace: WorkspaceRef) -> None:
    """What the worker's upkeep does with the postings of a workspace that grew."""
    done: int | None = None
    while done is None:
        async with container.database.transaction(workspace.org_id) as transaction:
            done = await transaction.publisher.compact(workspace)


async def fill(container: Container, server: asyncpg.Connection, size: int) -> WorkspaceRef:
    """The workspace of a size; one that an earlier run filled is only brought up to date."""
    for row in await server.fetch(FILLED, f"capacity {size}"):
        workspace = WorkspaceRef(row["org_id"], row["workspace_id"])
        if row["chunks"] == size:
            began = time.perf_counter()
            await compact(container, workspace)
            say(chunks=size, compaction_seconds=round(time.perf_counter() - began, 1))
            await product.settle(container.settings.stores.database_url)
            return workspace
    begun = await bytes_of(server)
    workspace = await product.create_workspace(container, f"capacity {size}")
    rate = await product.ingest_rate(container, workspace, chunks_up_to(size))
    await compact(container, workspace)
    await product.settle(container.settings.stores.database_url)
    say(chunks=size, ingested_per_second=round(rate, 1), database_bytes=await bytes_of(server) - begun)
    return workspace


async def bytes_of(server: asyncpg.Connection) -> int:
    """Of the database that it is connected to."""
    return int(await server.fetchval(DATABASE_BYTES) or 0)


async def measure(servers: Servers) -> None:
    """A workspace of each size, then all points in turn, and again."""
    questions = [item.question for item in load_corpus(1_000).questions][:100]
    bodies: dict[int, list[bytes]] = {}
    async with product.product(servers) as container:
        server = await asyncpg.connect(servers.database_url)
        for size in SIZES:
            address = encode_workspace((await fill(container, server, size)).workspace_id)
            given = {"workspaceId": address, "options": {"cache": "BYPASS"}}
            bodies[size] = [http_load.body_of(QUERY, {"input": {**given, "question": one}}) for one in questions]
        await server.close()
    with processes.server(servers, processes.PRODUCT, AGENTIC_RAG_RESIDENT_MB=RESIDENT_MB) as port:
        endpoint = http_load.Endpoint(port, product.TOKEN)
        for size, each in bodies.items():
            began = time.perf_counter()
            await http_load.sequential(endpoint, each[:1])
            first = round(time.perf_counter() - began, 2)
            await http_load.sequential(endpoint, each[1:20])
            say(chunks=size, first_answer_seconds=first)
        for _ in range(ROUNDS):
            for size, each in bodies.items():
                for clients in CLIENTS:
                    before = pace()
                    found = await load(endpoint, each, clients, max(40, clients))
                    say(chunks=size, clients=clients, **found, pace=round((before + pace()) / 2, 4))


def say(**values: float) -> None:
    """Print a line."""
    print(json.dumps(values), flush=True)


if __name__ == "__main__":
    os.umask(0o022)
    folder = Path(sys.argv[1])
    with EmbeddedStack(folder / "state") as stack:
        asyncio.run(measure(Servers(stack.database_url, stack.redis_url, str(folder / "state"))))
