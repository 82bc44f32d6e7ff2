"""`workspaces.ports.RateBuckets` in Redis: shared by all processes, timed by Redis's clock."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from agentic_rag.adapters.redis.connection import CONNECT_SECONDS, answer_within, redis_errors, waiting_client
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


class RedisRateBuckets:
    """One round trip per call, bounded by about twice `timeout_seconds`."""

    def __init__(self, url: str, *, prefix: str = "agentic-rag", timeout_seconds: float = 0.1) -> None:
        self._client = waiting_client(url, connect_seconds=CONNECT_SECONDS)
        self._take = self._client.register_script(TAKE)
        self._prefix = prefix
        self._timeout = timeout_seconds

    async def take(self, org_id: UUID, buckets: Sequence[Bucket]) -> RateLimitRefusal | None:
        keys = [f"{self._prefix}:rate:{{{org_id}}}:{one.key}" for one in buckets]
        with redis_errors():
            taking = self._take(keys=keys, args=[WINDOW_MICROS, *(one.micros for one in buckets)])
            answer: Any = await answer_within(2 * self._timeout, taking)
        place, wait = int(answer[0]), int(answer[1])
        return None if place == 0 else RateLimitRefusal(place - 1, wait / MICROS_PER_SECOND)

    async def aclose(self) -> None:
        await self._client.aclose(close_connection_pool=True)
