"""`workspaces.ports.RateBuckets` for a single process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from uuid import UUID

from agentic_rag.kernel.clock import Clock
from agentic_rag.workspaces.rate_limits import (
    MICROS_PER_SECOND,
    WINDOW_MICROS,
    Bucket,
    RateLimitRefusal,
    full_after,
    wait_micros,
)

MAX_BUCKETS = 10_000


class MemoryRateBuckets:
    """Keeps the most recently used buckets; an evicted bucket counts as full. Of `processes` that serve together each
    lets a share in: a request takes so many times its cost, a full bucket at most.
    """

    def __init__(self, clock: Clock, max_buckets: int = MAX_BUCKETS, processes: int = 1) -> None:
        self._clock = clock
        self._max = max_buckets
        self._processes = processes
        self._full_at: OrderedDict[tuple[UUID, str], int] = OrderedDict()

    async def take(self, org_id: UUID, buckets: Sequence[Bucket]) -> RateLimitRefusal | None:
        now = int(self._clock.monotonic() * MICROS_PER_SECOND)
        costs = [max(one.micros, min(WINDOW_MICROS, self._processes * one.micros)) for one in buckets]
        full_at = [self._full_at.get((org_id, one.key), now) for one in buckets]
        after = [full_after(full, now, cost) for full, cost in zip(full_at, costs, strict=True)]
        waits = [wait_micros(full, now) for full in after]
        longest = max(waits, default=0)
        if longest > 0:
            return RateLimitRefusal(waits.index(longest), longest / MICROS_PER_SECOND)
        for one, full in zip(buckets, after, strict=True):
            self._full_at[org_id, one.key] = full
            self._full_at.move_to_end((org_id, one.key))
        while len(self._full_at) > self._max:
            self._full_at.popitem(last=False)
        return None
