"""A soak: clients of every kind and faults of every kind on the real servers, then a look at all that must hold."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeVar

import asyncpg
import httpx2
import numpy as np

from agentic_rag.bootstrap import Container, build_container
from agentic_rag.embedded.stack import EmbeddedStack
from agentic_rag.kernel.public_ids import decode
from agentic_rag.operations.findings import Severity
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import WorkspaceRef
from tests.bench.processes import resident_megabytes
from tests.bench.product import Servers, create_workspace, product, variables
from tests.operate.servers import running
from tests.soak.clients import POPULATION, Clients
from tests.soak.facts import Ledger
from tests.soak.faults import WORKERS, Workers, end, strike
from tests.waiting import eventually

T = TypeVar("T")
WORKSPACES = ("north", "south")
SAMPLE_SECONDS = 2.0
WARM = 1 / 3
"""The part of the time whose samples of memory are left out: caches fill."""
IDLE_SECONDS = 300.0
CALM_SECONDS = 90.0
"""From the end of the last job until the connections of the load are given back."""

UNFINISHED = "SELECT count(*) FROM rag_jobs WHERE state IN ('QUEUED', 'RUNNING')"
DEAD = "SELECT kind, error_code, count(*) FROM rag_jobs WHERE state = 'DEAD' GROUP BY 1, 2"
READY = """
SELECT d.document_id, d.workspace_id, d.source_path, string_agg(c.text, ' ') AS text
FROM rag_documents d LEFT JOIN rag_chunks c USING (org_id, workspace_id, document_id)
WHERE d.status = 'READY' AND c.visible_to IS NULL GROUP BY 1, 2, 3
"""
THERE = "SELECT document_id FROM rag_documents"
CONNECTIONS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


@dataclass(frozen=True, slots=True)
class Soak:
    """What came of it."""

    minutes: float
    faults: Counter[str]
    ledger: Ledger
    lost: int
    """Documents that were acknowledged, or files of a synchronised folder, which are not READY with their content."""
    back: int
    """Documents that were deleted and are there."""
    dead: int
    """Jobs that ended as dead letters, or did not end."""
    findings: int
    """What `rag verify --full` calls wrong."""
    slope: float
    """MB a minute that the server's memory grows."""
    connections: int
    """Connections to the database beyond those before the load."""


async def soak(stack: EmbeddedStack, servers: Servers, minutes: float, seed: int) -> Soak:
    """`servers` names an empty database on `stack`, with an empty home."""
    draw = Random(seed)
    own = variables(servers, RAG_EMBEDDER="deterministic", AGENTIC_RAG_LOG_LEVEL="error")
    async with product(servers) as system:
        refs = {name: await create_workspace(system, name) for name in WORKSPACES}
    workers = Workers(servers, Path(servers.home) / "workers.log")
    with running(servers, 1, RAG_EMBEDDER="deterministic") as (server,):
        async with build_container(load_settings(own, dotenv=Path(servers.home) / "none")) as container:
            for _ in range(WORKERS):
                workers.start()
            try:
                clients = Clients(
                    f"http://127.0.0.1:{server.port}", container, refs, _folders(servers), Ledger(draw), draw
                )
                await _warm(clients)
                base = await _connections_at_rest(servers.database_url)
                memory, faults = await _under_load(clients, stack, workers, server.pid, minutes)
                await _settle(clients, servers.database_url)
                connections = await _at_rest(servers.database_url, base)
                for line in server.told("request_failed")[:3]:
                    print(f"  the server's log: {line}")
                return Soak(
                    minutes=minutes,
                    faults=faults,
                    ledger=clients.ledger,
                    lost=await _lost(clients, servers.database_url),
                    back=await _back(clients, servers.database_url),
                    dead=await _dead(servers.database_url),
                    findings=await _findings(container, list(refs.values())),
                    slope=slope_of(memory),
                    connections=connections,
                )
            finally:
                end(workers)


def slope_of(samples: Sequence[tuple[float, float]]) -> float:
    """The slope of a line through the samples (seconds, MB) after the first third, in MB a minute."""
    if len(samples) < 3:
        return 0.0
    first, last = samples[0][0], samples[-1][0]
    kept = [one for one in samples if one[0] >= first + WARM * (last - first)]
    seconds, megabytes = np.array(kept).T
    return float(60.0 * np.polyfit(seconds, megabytes, 1)[0])


def _folders(servers: Servers) -> dict[str, Path]:
    found = {name: Path(servers.home) / f"folder-{name}" for name in WORKSPACES}
    for one in found.values():
        one.mkdir()
    return found


async def _warm(clients: Clients) -> None:
    """Fill the corpus, and let every client work once."""
    await clients.allow_web()
    async with httpx2.AsyncClient(base_url=clients.url, timeout=60, trust_env=False) as client:
        for name in clients.workspaces:
            for _ in range(POPULATION):
                await clients.upload(client, name)
        await asyncio.gather(*(clients.ask(client, name) for name in clients.workspaces for _ in range(50)))


async def _under_load(
    clients: Clients, stack: EmbeddedStack, workers: Workers, server: int, minutes: float
) -> tuple[list[tuple[float, float]], Counter[str]]:
    over = clients.is_over
    striking = asyncio.create_task(strike(clients.draw, stack, workers, server, over))
    tasks = clients.tasks()
    memory: list[tuple[float, float]] = []
    began = time.monotonic()
    try:
        while (passed := time.monotonic() - began) < 60.0 * minutes:
            failed = [one for one in (striking, *tasks) if one.done()]
            if failed:
                await failed[0]
                raise AssertionError("a client ended before its time")
            memory.append((passed, resident_megabytes(server)))
            await asyncio.sleep(SAMPLE_SECONDS)  # the soak itself
    finally:
        over.set()
        await asyncio.gather(*tasks)
    return memory, await striking


async def _settle(clients: Clients, url: str) -> None:
    """Faults are over: take the folders once more, try unfinished deletions again, and let every job end."""
    async with httpx2.AsyncClient(base_url=clients.url, timeout=60, trust_env=False) as client:
        for key, fact in list(clients.ledger.unsure.items()):
            await clients.erase(client, key, fact)
        for name in clients.workspaces:
            assert await clients.synchronise(name), "a folder is not taken though no fault strikes"

    async def is_idle() -> bool:
        return not await _value(url, UNFINISHED)

    try:
        await eventually(is_idle, "every job ended", IDLE_SECONDS)
    except AssertionError as error:
        print(f"  {error}")


async def _connections_at_rest(url: str) -> int:
    """What the processes hold when nobody asks any more."""

    async def is_idle() -> bool:
        return not await _value(url, UNFINISHED)

    await eventually(is_idle, "every job of the beginning ended", IDLE_SECONDS)
    return int(await _value(url, CONNECTIONS))


async def _at_rest(url: str, base: int) -> int:
    """Connections beyond `base` that stay."""

    async def is_calm() -> bool:
        return int(await _value(url, CONNECTIONS)) <= base

    try:
        await eventually(is_calm, "connections are given back", CALM_SECONDS)
    except AssertionError:
        return int(await _value(url, CONNECTIONS)) - base
    return 0


async def _lost(clients: Clients, url: str) -> int:
    """What is not READY, or states something else, by a look into the tables."""
    ready = await _on(url, lambda server: server.fetch(READY))
    by_id = {row["document_id"]: row["text"] or "" for row in ready}
    by_path = {(row["workspace_id"], row["source_path"]): row["text"] or "" for row in ready}
    missing = [fact for key, fact in clients.ledger.kept.items() if fact.serial not in by_id.get(decode(key).key, "")]
    for (name, path), fact in clients.synced.items():
        place = clients.workspaces[name].workspace_id, path
        if fact.serial not in by_path.get(place, ""):
            missing.append(fact)
    for fact in missing[:5]:
        print(f"  lost: {fact}")
    return len(missing)


async def _back(clients: Clients, url: str) -> int:
    there = {row["document_id"] for row in await _on(url, lambda server: server.fetch(THERE))}
    return sum(decode(key).key in there for key in clients.ledger.erased)


async def _dead(url: str) -> int:
    found = await _on(url, lambda server: server.fetch(DEAD))
    for row in found:
        print(f"  dead letters: {dict(row)}")
    return sum(row["count"] for row in found) + int(await _value(url, UNFINISHED))


async def _findings(container: Container, refs: Sequence[WorkspaceRef]) -> int:
    errors = 0
    for ref in refs:
        report = await container.verify.run(ref, full=True)
        wrong = [one for one in report.findings if one.severity is Severity.ERROR]
        for one in wrong[:5]:
            print(f"  rag verify --full: {one}")
        errors += len(wrong)
    return errors


async def _value(url: str, statement: str) -> int:
    return await _on(url, lambda server: server.fetchval(statement))


async def _on(url: str, work: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
    server = await asyncpg.connect(url)
    try:
        return await work(server)
    finally:
        await server.close()
