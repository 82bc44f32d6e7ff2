"""A Redis that goes away and comes back empty costs time only."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import redis.asyncio
from tests.integration.jobs.data_plane import DataPlane, until
from tests.stack import FROM_SYSTEM, redis_program

from agentic_rag.jobs.job import JobState, QueueName
from agentic_rag.kernel.errors import DependencyUnavailable

pytestmark = [pytest.mark.integration, pytest.mark.network]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@asynccontextmanager
async def redis_at(port: int, folder: Path) -> AsyncIterator[None]:
    """A Redis that keeps nothing, killed at the end."""
    server = await asyncio.create_subprocess_exec(
        redis_program(FROM_SYSTEM), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder),
        stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with redis.asyncio.Redis(port=port) as client:
            await until(lambda: _answers(client), "redis answers")
        yield
    finally:
        server.kill()
        await server.wait()


async def _answers(client: redis.asyncio.Redis) -> bool:
    try:
        return bool(await client.ping())
    except redis.exceptions.ConnectionError:
        return False


@pytest.mark.tells("rag_queue_reachable")
@pytest.mark.tells("rag_queue_unreachable")
async def test_work_goes_on_after_an_outage_of_redis(migrated_database: str, tmp_path: Path, folder: Path) -> None:
    port = free_port()
    plane = DataPlane(migrated_database, f"redis://127.0.0.1:{port}", tmp_path / "blobs")
    await plane.prepare()
    (folder / "a.md").write_text("Water flows.")
    async with redis_at(port, tmp_path):
        await plane.sync(folder)
        started = plane.worker()
        await started.__aenter__()
        await plane.until_idle()
    with pytest.raises(DependencyUnavailable):
        await plane.queue.depth(QueueName.BULK)
    (folder / "b.md").write_text("Water flows back.")
    await plane.sync(folder)
    await until(
        lambda: {"rag_dispatch_failed"} <= {event.name for event in plane.telemetry.events}, "the outage was noticed"
    )

    async with redis_at(port, tmp_path):
        returned = time.monotonic()
        await plane.until_idle()
        took = time.monotonic() - returned
        await started.__aexit__(None, None, None)

    assert took <= 10
    told = [(event.name, event.fields.get("queue")) for event in plane.telemetry.events]
    for queue in {queue for name, queue in told if name == "rag_queue_unreachable"}:
        assert told.count(("rag_queue_unreachable", queue)) == told.count(("rag_queue_reachable", queue)) == 1
    assert told.count(("rag_dispatch_failed", None)) == told.count(("rag_dispatch_resumed", None)) == 1

    assert [job.state for job in await plane.jobs()] == [JobState.DONE] * 2
    assert await plane.chunk_texts("b.md") == ["Water flows back."]
    await plane.aclose()
