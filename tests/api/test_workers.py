"""`workers`: what operators see of worker processes."""

from types import SimpleNamespace
from typing import Any

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.jobs.workers import WorkerIdentity
from tests.api.builders import Container, query
from tests.api.test_rate_limits import OPERATOR
from tests.memory_store.jobs.job_board import MemoryJobBoard
from tests.memory_store.session.store import MemoryStore

SHOWN = "{ workers { name host pid version slots endedAt } }"


async def test_operators_see_every_worker_and_nobody_else_does() -> None:
    board: Any = MemoryJobBoard(MemoryStore(SystemClock()))
    for number in (1, 2):
        await board.beat(WorkerIdentity(f"host:{number}:a", "host", number, "0.1.0", 8))
    await board.sign_off(WorkerIdentity("host:2:a", "host", 2, "0.1.0", 8))
    product = Container(
        identity=OPERATOR, job_board=lambda: SimpleNamespace(workers=board.workers, aclose=board.aclose)
    )

    shown = await query(product, SHOWN, token="operator-token")
    refused = await query(product, SHOWN, token="viewer-token")

    first, second = shown["data"]["workers"]
    assert first == {"name": "host:1:a", "host": "host", "pid": 1, "version": "0.1.0", "slots": 8, "endedAt": None}
    assert second["endedAt"] is not None
    assert refused["errors"][0]["extensions"]["code"] == "FORBIDDEN"
