"""What comes out of Redis and is no message of ours: kept byte for byte, shown, taken off the queue, never executed."""

import asyncio
import base64
import json
import pickle
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
import redis.asyncio
from tests.integration.jobs.data_plane import DataPlane, until

from agentic_rag.jobs.job import JobKind, JobRef, JobState, NewJob, QueueName, Replay
from agentic_rag.jobs.message import (
    FUNCTION,
    StoredUndecodableMessage,
    UndecodableMessage,
    delivery_id,
    encode,
    queue_key,
)
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.tenancy.principals import WorkspaceRef

pytestmark = [pytest.mark.integration, pytest.mark.network]


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return Path.write_text, (self.target, "unpickled")


def envelope(**changes: object) -> bytes:
    valid = {"t": None, "f": FUNCTION, "a": ["x"], "k": {}, "et": 1_700_000_000_000}
    return json.dumps(valid | changes).encode()


async def found(plane: DataPlane) -> list[StoredUndecodableMessage]:
    store = plane.dead_payloads()
    try:
        return list((await store.page(PageRequest(100))).items)
    finally:
        await store.aclose()


async def is_empty(plane: DataPlane) -> bool:
    async with redis.asyncio.Redis.from_url(plane.redis_url) as server:
        return not await server.zcard(queue_key(plane.queue_name, QueueName.BULK))


async def test_everything_that_is_no_message_of_ours_is_kept_byte_for_byte(
    plane: DataPlane, folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "unpickled"
    foreign = {
        b"garbage": bytes(range(256)),
        b"empty": b"",
        b"pickle": pickle.dumps({"t": None, "f": FUNCTION, "a": (Bomb(target),), "k": {}, "et": 1}),
        b"function": envelope(f="rm"),
        b"list": b"[1,2]",
        b"arguments": envelope(a=["nonsense"]),
        b"two": envelope(a=["x", "y"]),
        b"keywords": envelope(k={"shell": True}),
        b"time": envelope(et=10**30),
        b"try": envelope(t=2_000_000),
        b"infinite": envelope(a=['{"org":"","workspace":"","job":"","turn":1e999}']),
        b"deep": b"[" * 100_000,
        b"extra": json.dumps({"t": None, "f": FUNCTION, "a": [], "k": {}, "et": 1, "x": 1}).encode(),
        b"name \xff\xfe": b"a name that is not UTF-8",
    }
    key = queue_key(plane.queue_name, QueueName.BULK)
    async with redis.asyncio.Redis.from_url(plane.redis_url) as server:
        for number, (entry, payload) in enumerate(foreign.items()):
            await server.set(b"arq:job:" + entry, payload)
            await server.zadd(key, {entry: number + 1})
        await server.set(b"arq:job:zero", envelope(f="zero"))
        await server.zadd(key, {b"zero": 0})
        await server.lpush("arq:job:wrong type", "x")
        await server.zadd(key, {"wrong type": 1, "gone": 1})
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)

    async with plane.worker(slots=2):
        await plane.until_idle()
        await until(lambda: is_empty(plane), "everything taken off the queue")

    kept = {one.message.entry: one.message.payload for one in await found(plane)}
    wrong_type = kept.pop(b"wrong type")
    assert kept == foreign | {b"zero": envelope(f="zero")}
    assert wrong_type, "a key of another type is kept as Redis dumps it"
    assert not target.exists()
    assert await plane.chunk_texts("a.md") == ["Water flows."]
    async with redis.asyncio.Redis.from_url(plane.redis_url) as server:
        assert [name for name in await server.keys("arq:*") if b"health" not in name] == []


async def test_what_was_found_is_mirrored_and_published_as_base64(plane: DataPlane) -> None:
    channel = f"{plane.queue_name}:dlq"
    async with redis.asyncio.Redis.from_url(plane.redis_url) as server, server.pubsub() as listener:
        await listener.subscribe(channel)
        await listener.get_message(timeout=5)
        await server.set("arq:job:alien", b"\xff\x00")
        await server.zadd(queue_key(plane.queue_name, QueueName.BULK), {"alien": 1})
        async with plane.worker():
            await until(lambda: is_empty(plane), "the queue is empty")
        (entry,) = await server.lrange(channel, 0, -1)
        message = await listener.get_message(timeout=5)

    letter = json.loads(entry)
    assert base64.b64decode(letter["base64"]) == b"\xff\x00"
    assert (letter["code"], letter["bytes"], letter["truncated"]) == ("JOB_MESSAGE_INVALID", 2, False)
    assert message is not None
    assert json.loads(message["data"]) == letter
    assert plane.telemetry.counters["rag_dead_letters_total", (("kind", "payload"),)] == 1


async def test_the_same_bytes_delivered_again_are_counted_not_doubled(plane: DataPlane) -> None:
    key = queue_key(plane.queue_name, QueueName.BULK)
    async with redis.asyncio.Redis.from_url(plane.redis_url) as server, plane.worker():
        for _ in range(2):
            await server.set("arq:job:alien", b"x")
            await server.zadd(key, {"alien": 1})
            await until(lambda: is_empty(plane), "the queue is empty")

    [one] = await found(plane)
    assert one.deliveries == 2
    store = plane.dead_payloads()
    assert await store.get(one.message.payload_id) == one
    assert await store.purge(one.message.payload_id)
    assert not await store.purge(one.message.payload_id)
    await store.aclose()


async def test_a_message_about_a_job_that_is_not_there_is_taken_off_and_harms_nothing(plane: DataPlane) -> None:
    ghosts = [
        JobRef(plane.workspace, uuid4(), 1),
        JobRef(WorkspaceRef(uuid4(), uuid4()), uuid4(), 1),
    ]
    await plane.queue.offer(QueueName.BULK, ghosts)

    async with plane.worker():
        await until(lambda: is_empty(plane), "the queue is empty")

    assert await found(plane) == []
    assert await plane.jobs() == ()


async def test_a_worker_that_died_before_it_took_a_lease_blocks_its_job_no_longer_than_one(
    plane: DataPlane, folder: Path
) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.sync(folder)
    hold = plane.hold_embedder()
    async with redis.asyncio.Redis.from_url(plane.redis_url) as server, plane.worker():
        await until(hold.reached.is_set, "work began")
        [mark] = await server.keys("arq:in-progress:*")
        lasts = await server.pttl(mark)
        hold.go_on.set()
        await plane.until_idle()

    assert 0 < lasts <= 1_000, "the lease of these tests is a second"


async def test_no_tenant_role_may_look_at_undecodable_payloads(migrated_database: str) -> None:
    connection = await asyncpg.connect(migrated_database, server_settings={"role": "rag_app"})
    for statement in ("SELECT 1 FROM rag_dead_payloads", "DELETE FROM rag_dead_payloads"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)
    await connection.close()


async def test_a_kind_of_another_version_ends_as_a_dead_letter_with_its_arguments_and_can_be_replayed(
    plane: DataPlane,
) -> None:
    new = NewJob(plane.workspace, JobKind.COMPACT, "a", {"path": "ä.md"})
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        ref, _ = await transaction.jobs.enqueue(new)
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute("UPDATE rag_jobs SET kind = 'future'")

    async with plane.worker():
        await plane.until_idle()
        (job,) = await plane.jobs(JobKind.UNKNOWN)
        replayed = await plane.dead_letters.replay(plane.workspace, ref.job_id, "ada")
        await plane.until_idle()

    assert (job.state, job.error_code, job.kind_name) == (JobState.DEAD, "JOB_KIND_UNKNOWN", "future")
    assert job.arguments == {"path": "ä.md"}
    assert replayed.outcome is Replay.REPLAYED
    (job,) = await plane.jobs()
    assert (job.state, job.attempts, job.attempts_against_limit) == (JobState.DEAD, 2, 1)


async def test_a_hand_over_waits_no_longer_than_it_may(plane: DataPlane) -> None:
    ref = JobRef(plane.workspace, uuid4(), 3)
    await plane.queue.offer(QueueName.BULK, [ref])

    async with redis.asyncio.Redis.from_url(plane.redis_url) as server:
        lasts = await server.ttl(f"arq:job:{delivery_id(ref)}")
        payload = await server.get(f"arq:job:{delivery_id(ref)}")

    assert 0 < lasts <= 600
    assert json.loads(payload)["a"] == [encode(ref)]


@pytest.mark.tells("rag_job_message_dropped", "payload_id")
async def test_findings_wait_in_the_queue_while_postgres_is_away(plane: DataPlane) -> None:
    async with redis.asyncio.Redis.from_url(plane.redis_url) as server, plane.worker():
        owner = await asyncpg.connect(plane.database_url)
        await owner.execute("ALTER TABLE rag_dead_payloads RENAME TO away")
        await server.set("arq:job:alien", b"x")
        await server.zadd(queue_key(plane.queue_name, QueueName.BULK), {"alien": 1})
        began = time.monotonic()
        await asyncio.sleep(0)
        await until(lambda: time.monotonic() - began > 0.3, "several tries")
        assert not await is_empty(plane)
        await owner.execute("ALTER TABLE away RENAME TO rag_dead_payloads")
        await until(lambda: is_empty(plane), "it was kept")
        await owner.close()

    assert [one.message.payload for one in await found(plane)] == [b"x"]


async def test_what_was_not_seen_for_a_month_is_forgotten(outbox: DataPlane) -> None:
    store, board = outbox.dead_payloads(), outbox.job_board()
    for number in range(2):
        payload = UndecodableMessage(
            QueueName.BULK.value, b"entry", b"payload %d" % number, "JOB_UNREADABLE", "No envelope."
        )
        await store.keep(payload)
    superuser = await asyncpg.connect(outbox.database_url)
    await superuser.execute(
        "UPDATE rag_dead_payloads SET last_seen = now() - interval '31 days' WHERE payload = 'payload 0'"
    )
    await superuser.close()

    await board.upkeep()

    assert [one.message.payload for one in await found(outbox)] == [b"payload 1"]
    await store.aclose()
    await board.aclose()
