"""Postgres goes away in the middle: an agent gets an empty context that says so, in time."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from agentic_rag.embedded.stack import EmbeddedStack
from tests.bench import processes, product
from tests.bench.product import Servers
from tests.bench.reports import Row, at_most, exactly
from tests.context.ground import Ground, opened_ground

LIMIT_MS = 300


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
    """Frozen first, then stopped; the same server process goes on once it is back."""
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
                async with httpx2.AsyncClient(
                    base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {product.TOKEN}"}
                ) as client:

                    async def context() -> tuple[float, bool, bool]:
                        """(milliseconds, whether it has text, whether it says what is missing)"""
                        began = time.perf_counter()
                        reply = await client.post("/v1/context", json=asked)
                        taken = 1000 * (time.perf_counter() - began)
                        body = reply.json()
                        is_context = reply.status_code == 200
                        return taken, is_context and bool(body["text"]), is_context and bool(body["fault"])

                    before = [await context() for _ in range(3)]
                    with frozen(stack):
                        hanging = [await context() for _ in range(tries)]
                    stack.postgres.stop()
                    refused = [await context() for _ in range(tries)]
                    stack.postgres.start()
                    after = await _until_text(context)
    away = [*hanging, *refused]
    return [
        at_most("Postgres frozen: slowest empty context", max(one[0] for one in hanging), LIMIT_MS, " ms"),
        at_most("Postgres stopped: slowest empty context", max(one[0] for one in refused), LIMIT_MS, " ms"),
        exactly(
            f"Postgres away: contexts of {len(away)} that are not empty and flagged",
            sum(t or not f for _, t, f in away),
            0,
        ),
        exactly("Postgres there: contexts without text", sum(not text for _, text, _f in (*before, after)), 0),
    ]


async def _until_text(context: object) -> tuple[float, bool, bool]:
    deadline = time.monotonic() + 30
    while True:
        found = await context()  # type: ignore[operator]
        if found[1] or time.monotonic() > deadline:
            return found


ROWS = {"postgres-away": postgres_away}
