"""`workspaces.ports.RateBuckets` in Redis: shared by all processes, timed by Redis's clock."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha1
from typing import Any
from uuid import UUID

from redis.exceptions import NoScriptError

from agentic_rag.adapters.redis.connection import CONNECT_SECONDS, answer_within, redis_errors
from agentic_rag.adapters.redis.quick_connections import QuickConnections
from agentic_rag.workspaces.rate_limits import MICROS_PER_SECOND, WINDOW_MICROS, Bucket, RateLimitRefusal

# KEYS: the buckets, which share a hash tag. ARGV: the window, then what to take from each bucket, in microseconds. The
# rule is that of workspaces/rate_limits.py. Returns the 1-based index of the bucket with the longest wait (0: all
# granted), and that wait.
TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local window = tonumber(ARGV[1])
local place, longest, after = 0, 0, {}
for i, key in ipairs(KEYS) do
    local full = math.min(tonumber(redis.call('GET', key)) or now, now + window)
    after[i] = math.max(full, now) + tonumber(ARGV[i + 1])
    local wait = after[i] - now - window
    if wait > longest then
        place, longest = i, wait
    end
end
if place == 0 then
    for i, key in ipairs(KEYS) do
        redis.call('SET', key, string.format('%.0f', after[i]), 'PX', math.ceil((after[i] - now) / 1000))
    end
end
return {place, longest}
"""


_NAME = sha1(TAKE.encode(), usedforsecurity=False).hexdigest()
"""By which Redis knows the script, once it ran."""


class RedisRateBuckets:
    """One round trip per call, bounded by about twice `timeout_seconds`."""

    def __init__(self, url: str, *, prefix: str = "agentic-rag", timeout_seconds: float = 0.1) -> None:
        self._connections = QuickConnections(url, connect_seconds=CONNECT_SECONDS)
        self._prefix = prefix
        self._timeout = timeout_seconds

    async def take(self, org_id: UUID, buckets: Sequence[Bucket]) -> RateLimitRefusal | None:
        keys = [f"{self._prefix}:rate:{{{org_id}}}:{one.key}" for one in buckets]
        given = (len(keys), *keys, WINDOW_MICROS, *(one.micros for one in buckets))
        with redis_errors():
            answer: Any = await answer_within(2 * self._timeout, self._run(given))
        place, wait = int(answer[0]), int(answer[1])
        return None if place == 0 else RateLimitRefusal(place - 1, wait / MICROS_PER_SECOND)

    async def aclose(self) -> None:
        await self._connections.aclose()

    async def _run(self, given: tuple[str | int, ...]) -> Any:
        try:
            return await self._connections.ask("EVALSHA", _NAME, *given)
        except NoScriptError:
            return await self._connections.ask("EVAL", TAKE, *given)
