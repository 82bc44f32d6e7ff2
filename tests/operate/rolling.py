"""A rolling restart: two servers behind a balancer are stopped and started in turn while clients ask. Meanwhile the
schema grows, as by the migration of a next version that serves this one.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle

import asyncpg
import httpx2

from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.tenancy.principals import WorkspaceRef
from tests.bench.corpus import BenchCorpus
from tests.bench.product import TOKEN, Servers, as_documents, create_workspace, product
from tests.operate.servers import ServerProcess, balanced, running
from tests.waiting import eventually

CLIENTS = 16
BETWEEN = 3 * CLIENTS
"""Answers between two restarts: every client meets the servers as they are."""
PATIENCE_SECONDS = 300.0

GROW = (
    *(f"ALTER TABLE rag_{name} ADD COLUMN later text" for name in ("documents", "chunks", "runs", "workspaces")),
    "UPDATE rag_schema_version SET version_num = '9999'",
)

ASK = """
mutation ($input: RagAnswerInput!) { ragAnswer(input: $input) { outcome degraded userErrors { code } } }
"""


@dataclass(frozen=True, slots=True)
class Rolling:
    """What came of it."""

    restarts: int
    requests: int
    failures: Counter[str]
    """By what the client saw."""
    slowest_stop: float
    """Seconds, without requests under way; the servers name a collector that takes connections and never answers."""


@dataclass
class Askers:
    """Clients that ask one question after the other."""

    url: str
    bodies: Sequence[dict[str, object]]
    answered: int = 0
    failures: Counter[str] = field(default_factory=Counter[str])
    is_over: bool = False

    async def ask(self, client: httpx2.AsyncClient, body: dict[str, object]) -> None:
        try:
            reply = await client.post(f"{self.url}/graphql", json=body)
        except httpx2.TransportError as error:
            self.failures[f"{type(error).__name__}: {error}"] += 1
            return
        if reply.status_code != 200:
            self.failures[f"status {reply.status_code}"] += 1
            return
        told = reply.json()
        if told.get("errors") or told["data"]["ragAnswer"]["userErrors"] or told["data"]["ragAnswer"]["degraded"]:
            self.failures[str(told)[:200]] += 1
        self.answered += 1

    async def run(self, number: int) -> None:
        """One client, until it is over. It keeps its connection as long as the server does."""
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as client:
            for body in cycle([*self.bodies[number:], *self.bodies[:number]]):
                if self.is_over:
                    return
                await self.ask(client, body)

    async def until_answered(self, more: int) -> None:
        """Return when so many more answers came."""
        wanted = self.answered + more

        async def came() -> bool:
            return self.answered >= wanted

        await eventually(came, f"{more} more answers came", PATIENCE_SECONDS)


def bodies_of(workspace: WorkspaceRef, corpus: BenchCorpus) -> list[dict[str, object]]:
    """Requests for the corpus' questions, past the cache."""
    return [
        {"query": ASK, "variables": {"input": {"workspaceId": encode_workspace(workspace.workspace_id),
                                               "question": item.question, "options": {"cache": "BYPASS"}}}}
        for item in corpus.questions
    ]  # fmt: skip


async def roll(servers: Servers, corpus: BenchCorpus, rounds: int) -> Rolling:
    """Restart each of two servers `rounds` times under load."""
    async with product(servers) as system:
        workspace = await create_workspace(system, "rolling")
        await system.ingest_chunks.run(workspace, as_documents(corpus.chunks), "rolling")
    bodies = bodies_of(workspace, corpus)
    with silent_collector() as collector, running(servers, 2, OTEL_EXPORTER_OTLP_ENDPOINT=collector) as pair:
        async with balanced([one.port for one in pair]) as port:
            askers = Askers(f"http://127.0.0.1:{port}", bodies)
            clients = [asyncio.create_task(askers.run(number)) for number in range(CLIENTS)]
            try:
                await askers.until_answered(BETWEEN)
                await _grow(servers.database_url)
                for _ in range(rounds):
                    for one in pair:
                        await askers.until_answered(BETWEEN)
                        await _restart(one)
                await askers.until_answered(BETWEEN)
            finally:
                askers.is_over = True
                await asyncio.gather(*clients)
        stops = [one.stop() for one in pair]
    return Rolling(2 * rounds, askers.answered + askers.failures.total(), askers.failures, max(stops))


async def _restart(server: ServerProcess) -> None:
    await asyncio.to_thread(server.stop)
    server.start()
    await asyncio.to_thread(server.until_ready)


async def _grow(url: str) -> None:
    """What is under way on a table ends first, and what comes waits meanwhile."""
    connection = await asyncpg.connect(url)
    try:
        for statement in GROW:
            await connection.execute(statement)
    finally:
        await connection.close()


@contextmanager
def silent_collector() -> Iterator[str]:
    """The address of a collector that takes connections and says nothing."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
