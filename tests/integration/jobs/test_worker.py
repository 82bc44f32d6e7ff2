"""What a worker survives: lapsed leases, a Redis that forgets, double deliveries, kill -9, being told to stop."""

import asyncio
import gc
import json
import signal
import subprocess
import sys
import warnings
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import redis.asyncio
from arq.connections import ArqRedis
from tests.integration.jobs.data_plane import QUICK, DataPlane, paragraphs, until
from tests.programs import PYTHONPATH, Program

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.jobs.job import GiveUp, JobRef, JobState, QueueName
from agentic_rag.jobs.message import FUNCTION, queue_key
from agentic_rag.kernel.errors import Permanent
from agentic_rag_worker.metrics_http import MetricsServer

pytestmark = [pytest.mark.integration, pytest.mark.network]


async def test_an_emptied_redis_loses_nothing(plane: DataPlane, folder: Path) -> None:
    for n in range(12):
        (folder / f"{n:02}.md").write_text(f"Water flows in pipe {n}.")
    await plane.sync(folder)
    hold = plane.hold_embedder()
    async with redis.asyncio.Redis.from_url(plane.redis_url) as server, plane.worker(slots=2):
        await until(hold.reached.is_set, "work began")
        await server.flushall()
        hold.go_on.set()
        await plane.until_idle()

    assert [job.state for job in await plane.jobs()] == [JobState.DONE] * 12
    assert await plane.rows("rag_chunks") == 12


async def test_a_double_delivery_runs_once(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    (job,) = await plane.jobs()
    await plane.queue.offer(QueueName.BULK, [JobRef(plane.workspace, job.job_id, turn) for turn in range(5)])

    async with plane.worker():
        await plane.until_idle()
        await until(lambda: _is_empty(plane), "all deliveries done")

    (job,) = await plane.jobs()
    assert (job.state, job.attempts) == (JobState.DONE, 1)
    assert plane.embedder.paid == ["Water flows."]


async def test_offering_a_waiting_job_again_changes_nothing(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    (job,) = await plane.jobs()
    ref = JobRef(plane.workspace, job.job_id, 7)

    assert await plane.queue.offer(QueueName.BULK, [ref]) == 1
    assert await plane.queue.offer(QueueName.BULK, [ref]) == 0
    assert await plane.queue.depth(QueueName.BULK) == 1


async def test_redis_holds_ids_as_json_only(plane: DataPlane, folder: Path) -> None:
    (folder / "secret plan.md").write_text("Water flows.")
    await plane.sync(folder)
    (job,) = await plane.jobs()
    await plane.queue.offer(QueueName.BULK, [JobRef(plane.workspace, job.job_id, 3)])

    async with redis.asyncio.Redis.from_url(plane.redis_url) as server:
        (entry,) = await server.zrange(queue_key(plane.queue_name, QueueName.BULK), 0, -1)
        envelope = json.loads(await server.get(b"arq:job:" + entry))

    assert envelope["f"] == FUNCTION
    assert json.loads(envelope["a"][0]) == {
        "org": str(plane.workspace.org_id),
        "workspace": str(plane.workspace.workspace_id),
        "job": str(job.job_id),
        "turn": 3,
    }


async def test_messages_that_are_no_jobs_are_dropped_and_work_goes_on(plane: DataPlane, folder: Path) -> None:
    key = queue_key(plane.queue_name, QueueName.BULK)
    async with redis.asyncio.Redis.from_url(plane.redis_url) as server:
        await server.set("arq:job:pickle", b"\x80\x04K\x01.")
        await server.set("arq:job:function", json.dumps({"t": 1, "f": "rm", "a": [], "k": {}, "et": 1}))
        await server.set("arq:job:args", json.dumps({"t": 1, "f": FUNCTION, "a": ["nonsense"], "k": {}, "et": 1}))
        await server.zadd(key, {"pickle": 1, "function": 2, "args": 3, "gone": 4})
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)

    async with plane.worker():
        await plane.until_idle()
        await until(lambda: _is_empty(plane), "everything taken off the queue")

    assert await plane.chunk_texts("a.md") == ["Water flows."]
    assert "rag_job_message_dropped" in {event.name for event in plane.telemetry.events}


async def test_a_worker_told_to_stop_gives_unfinished_work_back_uncounted(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    hold = plane.hold_embedder()
    async with plane.worker(timings=replace(QUICK, grace=0.05)) as stop:
        await until(hold.reached.is_set, "work began")
        stop.set()

    (job,) = await plane.jobs()
    assert (job.state, job.attempts) == (JobState.QUEUED, 0)


async def test_a_worker_told_to_stop_finishes_what_it_can(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    hold = plane.hold_embedder()
    async with plane.worker() as stop:
        await until(hold.reached.is_set, "work began")
        stop.set()
        hold.go_on.set()

    (job,) = await plane.jobs()
    assert (job.state, job.attempts) == (JobState.DONE, 1)


async def test_a_long_job_keeps_its_lease_while_others_wait(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    hold = plane.hold_embedder()
    async with plane.worker():
        await until(hold.reached.is_set, "work began")
        begun = await _lease_until(plane)
        await until(lambda: _lease_moved_by(plane, begun, 1.5), "the lease was renewed past its first length")
        hold.go_on.set()
        await plane.until_idle()

    (job,) = await plane.jobs()
    assert (job.state, job.attempts) == (JobState.DONE, 1)


async def test_the_loser_of_a_lease_publishes_nothing(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    hold = plane.hold_embedder()
    async with plane.worker():
        await until(hold.reached.is_set, "the first worker is at it")
        async with plane.pool.transaction(plane.workspace.org_id) as connection:
            await connection.execute("UPDATE rag_jobs SET fence = fence + 1, state = 'QUEUED'")
        plane.embedder.before = None
        await plane.until_idle()
        winner = await plane.database.corpus_version(plane.workspace)
        hold.go_on.set()

    assert await plane.database.corpus_version(plane.workspace) == winner
    assert await plane.rows("rag_chunks") == 1


async def test_kill_9_in_the_middle_of_embedding_pays_for_no_finished_batch_again(
    plane: DataPlane, folder: Path, tmp_path: Path
) -> None:
    (folder / "a.md").write_text(paragraphs(*[f"part{n}" for n in range(10)]))
    await plane.sync(folder)
    log = tmp_path / "paid.jsonl"
    victim = Program(
        [sys.executable, "-m", "tests.integration.jobs.victim"],
        stdin=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
        env={"PYTHONPATH": PYTHONPATH, "PATH": "/usr/bin:/bin"},
    )
    assert victim.stdin is not None
    victim.stdin.write(
        json.dumps(
            {
                "database": plane.database_url,
                "redis": plane.redis_url,
                "blobs": str(plane.blob_root),
                "workspace": str(plane.workspace.workspace_id),
                "log": str(log),
            }
        ).encode()
    )
    victim.stdin.close()
    try:
        await until(lambda: log.exists() and len(log.read_text().splitlines()) >= 3, "three batches asked for")
    finally:
        victim.send_signal(signal.SIGKILL)
        await asyncio.to_thread(victim.wait)
    asked = [json.loads(line) for line in log.read_text().splitlines()]

    async with plane.worker():
        await plane.until_idle()

    finished = [text for batch in asked[:-1] for text in batch]
    (job,) = await plane.jobs()
    assert (job.state, job.attempts) == (JobState.DONE, 2)
    assert not set(finished) & set(plane.embedder.paid)
    assert len(finished) + len(plane.embedder.paid) == len(await plane.chunk_texts("a.md"))


async def test_the_metrics_port_answers_probes_and_refuses_the_rest(plane: DataPlane) -> None:
    server = MetricsServer(plane.telemetry, plane.readiness, "127.0.0.1", 0)
    await server.start()
    try:
        answers = [
            await _http(server.port, head)
            for head in ("GET /healthz", "GET /readyz", "GET /metrics", "GET /etc/passwd", "POST /metrics", "nonsense")
        ]
    finally:
        await server.aclose()

    assert answers == [200, 200, 200, 404, 405, 400]


async def _http(port: int, head: str) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{head} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    status = (await reader.readline()).split()[1]
    writer.close()
    await writer.wait_closed()
    return int(status)


async def _is_empty(plane: DataPlane) -> bool:
    async with redis.asyncio.Redis.from_url(plane.redis_url) as server:
        return not await server.zcard(queue_key(plane.queue_name, QueueName.BULK))


async def _lease_until(plane: DataPlane) -> float:
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        value = await connection.fetchval("SELECT extract(epoch FROM lease_until) FROM rag_jobs")
    return float(value)


async def _lease_moved_by(plane: DataPlane, begun: float, seconds: float) -> bool:
    return await _lease_until(plane) >= begun + seconds


async def test_a_job_that_hangs_is_ended_and_tried_again(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    calls = 0

    def hang_once(_: object) -> object:
        nonlocal calls
        calls += 1
        return asyncio.get_running_loop().create_future() if calls == 1 else None

    plane.embedder.before = hang_once
    async with plane.worker(stall_seconds=5.0):
        await plane.until_idle()

    (job,) = await plane.jobs()
    assert (job.state, job.attempts) == (JobState.DONE, 2)
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        attempts = await transaction.jobs.attempts(plane.workspace, job.job_id)
    assert [(attempt.outcome, attempt.error_code) for attempt in attempts] == [("RETRY", "JOB_STALLED"), ("DONE", None)]


async def test_a_job_that_kills_its_workers_ends_as_a_dead_letter(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    (job,) = await plane.jobs()
    ref = JobRef(plane.workspace, job.job_id)
    board = plane.job_board()
    for _ in range(plane.retry_policy.attempts):
        async with plane.database.transaction(plane.workspace.org_id) as transaction:
            assert await transaction.jobs.lease(ref, "killed", timedelta(seconds=-1)) is not None
        await board.expire_leases()
    await board.aclose()

    async with plane.worker():
        await plane.until_idle()

    (job,) = await plane.jobs()
    assert (job.state, job.error_code) == (JobState.DEAD, "WORKER_LOST")
    document = await plane.document("a.md")
    assert document is not None
    assert document.fault is not None
    assert document.fault.code == "WORKER_LOST"
    assert plane.embedder.paid == []


class NoProgress:
    def advance(self) -> None:
        return None


async def test_workers_that_die_after_they_published_convict_no_document(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    (job,) = await plane.jobs()
    board = plane.job_board()
    for attempt in range(plane.retry_policy.attempts):
        async with plane.database.transaction(plane.workspace.org_id) as transaction:
            lease = await transaction.jobs.lease(JobRef(plane.workspace, job.job_id), "killed", timedelta(seconds=60))
        assert lease is not None
        if not attempt:
            await plane.ingest.run(lease, NoProgress())
        async with plane.database.transaction(plane.workspace.org_id) as transaction:
            await transaction.jobs.renew(lease.ref, lease.fence, timedelta(seconds=-1), 0)
        await board.expire_leases()
    await board.aclose()

    async with plane.worker():
        await plane.until_idle()

    (job,) = await plane.jobs()
    document = await plane.document("a.md")
    assert document is not None
    assert (job.state, document.status, document.fault) == (JobState.DONE, DocumentStatus.READY, None)


async def test_a_job_given_up_after_it_published_leaves_the_document_ready(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    (job,) = await plane.jobs()
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        lease = await transaction.jobs.lease(JobRef(plane.workspace, job.job_id), "worker", timedelta(seconds=60))
    assert lease is not None
    await plane.ingest.run(lease, NoProgress())

    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        await plane.ingest.record_failure(transaction, lease, Permanent("too late"), GiveUp())

    document = await plane.document("a.md")
    assert document is not None
    assert (document.status, document.fault) == (DocumentStatus.READY, None)


async def test_dead_letters_are_mirrored_without_arguments(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")

    def refuse(_: object) -> None:
        raise Permanent("The provider refuses.", code="PROVIDER_REFUSED")

    plane.embedder.before = refuse
    await plane.ingest_folder(folder)

    async with redis.asyncio.Redis.from_url(plane.redis_url) as server:
        (letter,) = [json.loads(entry) for entry in await server.lrange(f"{plane.queue_name}:dlq", 0, -1)]
    assert set(letter) == {"org", "workspace", "job", "kind", "code", "attempts"}
    assert letter["kind"] == "ingest"


async def test_two_workers_share_the_work_and_do_none_twice(plane: DataPlane, folder: Path) -> None:
    for n in range(30):
        (folder / f"{n:02}.md").write_text(f"Water flows in pipe {n}.")
    await plane.sync(folder)

    async with plane.worker(slots=2), plane.worker(slots=2):
        await plane.until_idle()

    assert len(plane.embedder.paid) == 30
    assert {(job.state, job.attempts) for job in await plane.jobs()} == {(JobState.DONE, 1)}
    assert await plane.rows("rag_chunks") == 30


async def test_a_worker_that_stops_leaves_no_command_half_sent(
    plane: DataPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deliveries that another worker has make every poll look at their marks: each stop comes amid that command."""
    entries = {f"elsewhere:{n}": 1.0 for n in range(300)}
    polled, look = asyncio.Event(), ArqRedis.mget

    async def looking(self: ArqRedis, keys: list[bytes]) -> list[bytes | None]:
        polled.set()
        return await look(self, keys)

    monkeypatch.setattr(ArqRedis, "mget", looking)
    async with redis.asyncio.Redis.from_url(plane.redis_url) as server:
        await server.zadd(queue_key(plane.queue_name, QueueName.BULK), entries)
        await server.mset({f"arq:in-progress:{name}": "1" for name in entries})
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", ResourceWarning)
            for _ in range(8):
                polled.clear()
                async with plane.worker(), asyncio.timeout(30):
                    await polled.wait()
                gc.collect()

    assert not [str(one.message) for one in told if "Unclosed client session" in str(one.message)]
