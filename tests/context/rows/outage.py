"""Postgres goes away in the middle: an agent gets an empty context that says so, in time."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from agentic_rag.embedded.stack import EmbeddedStack
from agentic_rag_client import AsyncRagClient
from tests.bench import processes, product
from tests.bench.product import Servers
from tests.bench.reports import Row, at_most, exactly
from tests.context.ground import Ground, opened_ground

LIMIT_MS = 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an agent got, and after how long."""

    milliseconds: float
    has_text: bool
    has_fault: bool


@contextmanager
def frozen(stack: EmbeddedStack) -> Iterator[None]:
    """Every process of the server stands still: connections stay open and nobody answers."""
    postmaster = int((stack.postgres.directory / "data" / "postmaster.pid").read_text("utf-8").splitlines()[0])
    backends = [int(one) for one in Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()]
    for pid in (postmaster, *backends):
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in (*backends, postmaster):
            os.kill(pid, signal.SIGCONT)


async def postgres_away(_: Ground, short: bool) -> list[Row]:
    """Frozen first, then stopped; the same server process goes on once it is back. Asked by the workspace's id over
    REST, and by its name with the Python client.
    """
    tries = 3 if short else 20
    with tempfile.TemporaryDirectory(prefix="rag-context-outage-") as folder:
        Path(folder).chmod(0o755)
        with EmbeddedStack(Path(folder) / "state") as stack:
            servers = Servers(stack.database_url, stack.redis_url, str(Path(folder) / "state"))
            async with opened_ground(servers) as ground:
                library = await ground.library(short=True)
            asked = {
                "query": library.corpus.questions[0].question,
                "workspaces": [{"workspaceId": library.workspace_id}],
                "template": "reference_guidelines",
                "minSimilarity": 0.0,
            }
            with processes.server(servers, processes.PRODUCT) as port:
                url = f"http://127.0.0.1:{port}"
                async with (
                    httpx2.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {product.TOKEN}"}) as client,
                    AsyncRagClient(url, product.TOKEN, library.name) as agent,
                ):

                    async def by_id() -> Outcome:
                        began = time.perf_counter()
                        reply = await client.post("/v1/context", json=asked)
                        taken = 1000 * (time.perf_counter() - began)
                        body = reply.json() if reply.status_code == 200 else {"text": "", "fault": None}
                        return Outcome(taken, bool(body["text"]), bool(body["fault"]))

                    async def by_name() -> Outcome:
                        began = time.perf_counter()
                        found = await agent.prepare_context(asked["query"], template="reference_guidelines")
                        taken = 1000 * (time.perf_counter() - began)
                        return Outcome(taken, bool(found.knowledge_context), bool(found.fault))

                    before = [await one() for one in (by_id, by_name)]
                    with frozen(stack):
                        hanging = [await one() for _ in range(tries) for one in (by_id, by_name)]
                    stack.postgres.stop()
                    refused = [await one() for _ in range(tries) for one in (by_id, by_name)]
                    stack.postgres.start()
                    after = [await _until_text(one) for one in (by_id, by_name)]
    away = [*hanging, *refused]
    return [
        at_most("Postgres frozen: slowest empty context", max(one.milliseconds for one in hanging), LIMIT_MS, " ms"),
        at_most("Postgres stopped: slowest empty context", max(one.milliseconds for one in refused), LIMIT_MS, " ms"),
        exactly(
            f"Postgres away: contexts of {len(away)} that are not empty and flagged",
            sum(one.has_text or not one.has_fault for one in away),
            0,
        ),
        exactly("Postgres there: contexts without text", sum(not one.has_text for one in (*before, *after)), 0),
    ]


async def _until_text(context: Callable[[], Awaitable[Outcome]]) -> Outcome:
    deadline = time.monotonic() + 30
    while True:
        found = await context()
        if found.has_text or time.monotonic() > deadline:
            return found


ROWS = {"postgres-away": postgres_away}
