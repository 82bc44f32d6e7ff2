"""Cached answers in Redis."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import time
from collections.abc import Awaitable, Generator
from contextlib import contextmanager, suppress
from typing import Any

from agentic_rag.adapters.redis.connection import CONNECT_SECONDS, T, answer_within, redis_errors, waiting_client
from agentic_rag.adapters.redis.quick_connections import QuickConnections
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.tenancy.principals import WorkspaceRef

# KEYS[1] the workspace's index: a sorted set of its entries by expiry in seconds. Index and entries share a hash tag.
PUT = """
redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3] - 1)
redis.call('ZADD', KEYS[1], ARGV[3] + ARGV[2], KEYS[2])
if redis.call('TTL', KEYS[1]) <= tonumber(ARGV[2]) then
    redis.call('EXPIRE', KEYS[1], ARGV[2] + 1)
end
"""

FORGET = """
local entries = redis.call('ZRANGE', KEYS[1], 0, -1)
local gone = 0
for first = 1, #entries, 500 do
    gone = gone + redis.call('UNLINK', unpack(entries, first, math.min(first + 499, #entries)))
end
redis.call('UNLINK', KEYS[1])
return gone
"""


HOLDING_PAGE = 100
"""Entries that `holding` reads at a time: about 10 kB each."""


class RedisAnswerCache:
    """`answering.ports.AnswerCache`. `get` and `put` take at most about twice `timeout_seconds`. After a failure they
    skip the server for `pause_seconds`, so that an outage does not slow every answer down.
    """

    def __init__(
        self, url: str, *, prefix: str = "agentic-rag", timeout_seconds: float = 0.1, pause_seconds: float = 1.0
    ) -> None:
        self._client = waiting_client(url, connect_seconds=CONNECT_SECONDS)
        self._quick = QuickConnections(url, connect_seconds=CONNECT_SECONDS)
        self._forget = self._client.register_script(FORGET)
        self._put = self._client.register_script(PUT)
        self._prefix = prefix
        self._timeout = timeout_seconds
        self._pause = pause_seconds
        self._down_since: float | None = None

    async def get(self, workspace: WorkspaceRef, key: str) -> bytes | None:
        if self._resting():
            return None
        with suppress(DependencyUnavailable), self._watch_server():
            return await self._within(self._quick.ask("GET", self._entry(workspace, key)))
        return None

    async def put(self, workspace: WorkspaceRef, key: str, value: bytes, ttl_seconds: int) -> None:
        """Store for at most `ttl_seconds`; does nothing while the server is unavailable."""
        if ttl_seconds <= 0 or self._resting():
            return
        keys = [self._index(workspace), self._entry(workspace, key)]
        with suppress(DependencyUnavailable), self._watch_server():
            await self._within(self._put(keys=keys, args=[value, ttl_seconds, int(time.time())]))

    async def forget(self, workspace: WorkspaceRef) -> int:
        with self._watch_server():
            gone: Any = await self._within(self._forget(keys=[self._index(workspace)]))
        return int(gone)

    async def holding(self, workspace: WorkspaceRef, words: bytes) -> int:
        found = 0
        with self._watch_server():
            keys: Any = await self._within(self._client.zrange(self._index(workspace), 0, -1))
            for start in range(0, len(keys), HOLDING_PAGE):
                values: Any = await self._within(self._client.mget(keys[start : start + HOLDING_PAGE]))
                found += sum(value is not None and words in value for value in values)
        return found

    @property
    def available(self) -> bool:
        return self._down_since is None

    async def aclose(self) -> None:
        await self._quick.aclose()
        await self._client.aclose(close_connection_pool=True)

    async def _within(self, call: Awaitable[T]) -> T:
        return await answer_within(2 * self._timeout, call)

    def _resting(self) -> bool:
        return self._down_since is not None and time.monotonic() - self._down_since < self._pause

    @contextmanager
    def _watch_server(self) -> Generator[None]:
        """Notices whether the server answers. Errors: `DependencyUnavailable`."""
        try:
            with redis_errors():
                yield
        except DependencyUnavailable:
            self._down_since = time.monotonic()
            raise
        self._down_since = None

    def _index(self, workspace: WorkspaceRef) -> str:
        return f"{self._prefix}:cache:{{{workspace.org_id}:{workspace.workspace_id}}}"

    def _entry(self, workspace: WorkspaceRef, key: str) -> str:
        return f"{self._index(workspace)}:{key}"
