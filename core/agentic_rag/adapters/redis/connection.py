"""Redis clients: patient for the queue, impatient for the cache."""

# arq's and redis-py's annotations are incomplete.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

import orjson
from arq.connections import ArqRedis
from redis.asyncio import BlockingConnectionPool, ConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.exceptions import (
    BusyLoadingError,
    ConnectionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    TimeoutError,
)

from agentic_rag.adapters.redis.pools import pool_of
from agentic_rag.jobs.redis_address import CLUSTER_FORM
from agentic_rag.kernel.errors import DependencyUnavailable

OUTAGES: tuple[type[Exception], ...] = (ConnectionError, TimeoutError, BusyLoadingError)
"""Errors worth a retry: the server is away, slow, or still loading its data."""

T = TypeVar("T")

CONNECT_SECONDS = 5.0
"""For clients whose calls are bounded by `answer_within`: it ends what a swallowed cancellation leaves connecting."""

LOOKS = 25
"""A command takes about four turns of the loop, with a new connection twelve."""

FAILURES: tuple[type[Exception], ...] = (RedisError, OSError)


def to_json(value: dict[str, Any]) -> bytes:
    """Serialise arq's envelope; a value that JSON cannot hold (an exception as a job's result) becomes its `repr`."""
    return orjson.dumps(value, default=repr)


def from_json(data: bytes) -> dict[str, Any]:
    """Read arq's envelope. Errors: `ValueError`."""
    value = orjson.loads(data)
    if not isinstance(value, dict):
        raise ValueError("an envelope is a JSON object")
    return value  # pyright: ignore[reportUnknownVariableType]


def queue_pool(url: str, *, retries: int = 5, timeout_seconds: float = 5.0) -> ArqRedis:
    """A client for arq that survives a short outage: `retries` retries with 50 ms to 2 s between them."""
    pool = pool_of(
        ConnectionPool,
        url,
        socket_timeout=timeout_seconds,
        socket_connect_timeout=timeout_seconds,
        socket_keepalive=True,
        health_check_interval=30,
        retry=Retry(ExponentialBackoff(cap=2.0, base=0.05), retries),
        retry_on_error=list(OUTAGES),
    )
    return ArqRedis(pool_or_conn=pool, job_serializer=to_json, job_deserializer=from_json)


def waiting_client(url: str, *, connect_seconds: float = 0.5) -> Redis:
    """A client whose commands may block without a time-out: the caller bounds the wait. One immediate retry replaces a
    connection that the server closed.
    """
    # The plain pool looks at a connection before each use under one lock: callers would wait for each other's turns.
    pool = pool_of(
        BlockingConnectionPool,
        url,
        max_connections=1_000,
        timeout=None,
        socket_timeout=None,
        socket_connect_timeout=connect_seconds,
        retry=Retry(NoBackoff(), 1),
        retry_on_error=[ConnectionError],
    )
    return Redis(connection_pool=pool)


async def answer_within(seconds: float, call: Awaitable[T]) -> T:
    """The answer of a server that has `seconds` for it. A time-out of the event loop would count the time in which the
    loop was busy with other work, and fire before it reads the answer that has come meanwhile: here the loop looks at
    its sockets between each two of `LOOKS` parts of the time. Errors: `TimeoutError`, those of the call.
    """
    asked = asyncio.ensure_future(call)
    try:
        for _ in range(LOOKS):
            await asyncio.wait([asked], timeout=seconds / LOOKS)
            if asked.done():
                return asked.result()
        raise TimeoutError(f"no answer within {seconds:g} s")
    finally:
        # Not awaited: redis-py 5 swallows a cancellation that arrives while it connects.
        asked.cancel()
        asked.add_done_callback(lambda ended: ended.cancelled() or ended.exception())


@contextmanager
def redis_errors() -> Generator[None]:
    """Raises `DependencyUnavailable` for a failed call; its cause names the address."""
    try:
        yield
    except FAILURES as error:
        if _takes_no_writes(error):
            raise DependencyUnavailable(
                "Redis answers and takes no writes: free its disk or raise its memory; REDIS_URL must name the "
                "primary. `rag doctor` shows what it says.",
                dependency="redis",
                code="STORE_READ_ONLY",
            ) from error
        if _is_a_cluster(error):
            raise DependencyUnavailable(
                f"REDIS_URL leads to a node of a Redis Cluster as if it were one server: write {CLUSTER_FORM}.",
                dependency="redis",
                code="REDIS_CLUSTER",
            ) from error
        raise DependencyUnavailable(
            "Redis did not answer. Check REDIS_URL and `rag doctor`.", dependency="redis"
        ) from error


def _takes_no_writes(error: BaseException) -> bool:
    """A full disk (MISCONF), a full memory, a replica."""
    return isinstance(error, ReadOnlyError | OutOfMemoryError) or str(error).startswith("MISCONF")


def _is_a_cluster(error: BaseException) -> bool:
    """A key of another node, keys of several slots, a database other than 0."""
    said = str(error)
    return said.startswith("MOVED ") or "CROSSSLOT" in said or "not allowed in cluster mode" in said
