"""Redis clients: patient for the queue, impatient for the cache."""

# arq's and redis-py's annotations are incomplete.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import orjson
from arq.connections import ArqRedis
from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.exceptions import BusyLoadingError, ConnectionError, RedisError, TimeoutError

from agentic_rag.kernel.errors import DependencyUnavailable

OUTAGES: tuple[type[Exception], ...] = (ConnectionError, TimeoutError, BusyLoadingError)
"""Errors worth a retry: the server is away, slow, or still loading its data."""

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
    pool: ConnectionPool = ConnectionPool.from_url(
        url,
        socket_timeout=timeout_seconds,
        socket_connect_timeout=timeout_seconds,
        socket_keepalive=True,
        health_check_interval=30,
        retry=Retry(ExponentialBackoff(cap=2.0, base=0.05), retries),
        retry_on_error=list(OUTAGES),
    )
    return ArqRedis(pool_or_conn=pool, job_serializer=to_json, job_deserializer=from_json)


def cache_client(url: str, *, timeout_seconds: float) -> Redis:
    """A client that gives up after `timeout_seconds`; one immediate retry replaces a connection the server closed."""
    pool: ConnectionPool = ConnectionPool.from_url(
        url,
        socket_timeout=timeout_seconds,
        socket_connect_timeout=timeout_seconds,
        retry=Retry(NoBackoff(), 1),
        retry_on_error=[ConnectionError],
    )
    return Redis(connection_pool=pool)


def waiting_client(url: str, *, connect_seconds: float = 0.5) -> Redis:
    """A client whose commands may block without a time-out: the caller bounds the wait."""
    pool: ConnectionPool = ConnectionPool.from_url(
        url,
        socket_timeout=None,
        socket_connect_timeout=connect_seconds,
        retry=Retry(NoBackoff(), 1),
        retry_on_error=[ConnectionError],
    )
    return Redis(connection_pool=pool)


@contextmanager
def redis_errors() -> Generator[None]:
    """Raises `DependencyUnavailable` for a failed call; its cause names the address."""
    try:
        yield
    except FAILURES as error:
        raise DependencyUnavailable(
            "Redis did not answer. Check REDIS_URL and `rag doctor`.", dependency="redis"
        ) from error
