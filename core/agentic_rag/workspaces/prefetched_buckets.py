"""Takes from shared buckets in advance, so that a caller of many requests a second needs fewer round trips.

A round trip takes, besides the request's own demand, the amount that refills within `LEASE_SECONDS`. It pays for the
next requests of this process. The amount leaves the shared bucket before it is used, so all processes together never
admit more than the bucket holds. An amount unused for `KEPT_SECONDS` is lost to the organisation, at most a tenth of a
second's worth each time. A limit below ten requests a second gets no advance and is counted per request.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from agentic_rag.kernel.clock import Clock
from agentic_rag.workspaces.ports import RateBuckets
from agentic_rag.workspaces.rate_limits import Bucket, RateLimitRefusal

LEASE_SECONDS = 0.1
KEPT_SECONDS = 1.0
MAX_LEASES = 10_000


@dataclass(slots=True)
class _Prefetch:
    """An amount taken from a bucket and not yet used."""

    left: int = 0
    until: float = 0.0
    on_its_way: bool = False


@dataclass(frozen=True, slots=True)
class _Share:
    """The payment of a request's demand in one bucket: from the advance, and the rest from the shared bucket."""

    lease: _Prefetch
    held: int
    bucket: Bucket
    """The demand on the shared bucket."""


class PrefetchedBuckets:
    """Implements `workspaces.ports.RateBuckets` over `shared`. Errors: those of `shared`."""

    def __init__(self, shared: RateBuckets, clock: Clock, max_leases: int = MAX_LEASES) -> None:
        self._shared = shared
        self._clock = clock
        self._max = max_leases
        self._leases: OrderedDict[tuple[UUID, str, int], _Prefetch] = OrderedDict()

    async def take(self, org_id: UUID, buckets: Sequence[Bucket]) -> RateLimitRefusal | None:
        """Take from all buckets or from none."""
        shares = [self._share(org_id, one) for one in buckets]
        asked = [place for place, share in enumerate(shares) if share.bucket.cost]
        if not asked:
            return None
        try:
            refused = await self._ask(org_id, [shares[place] for place in asked])
        except BaseException:
            _give_back(shares)
            raise
        if refused is None:
            return None
        _give_back(shares)
        return replace(refused, index=asked[refused.index])

    async def _ask(self, org_id: UUID, shares: Sequence[_Share]) -> RateLimitRefusal | None:
        # The shared bucket may hold too little for the advance and enough for the request.
        if await self._in_advance(org_id, shares):
            return None
        return await self._shared.take(org_id, [share.bucket for share in shares])

    async def _in_advance(self, org_id: UUID, shares: Sequence[_Share]) -> bool:
        advances = [_advance(share) for share in shares]
        if not any(advances):
            return False
        asked = [
            replace(share.bucket, cost=share.bucket.cost + advance)
            for share, advance in zip(shares, advances, strict=True)
        ]
        leases = [(share.lease, advance) for share, advance in zip(shares, advances, strict=True) if advance]
        for lease, _ in leases:
            lease.on_its_way = True
        try:
            if await self._shared.take(org_id, asked) is not None:
                return False
        finally:
            for lease, _ in leases:
                lease.on_its_way = False
        for lease, advance in leases:
            lease.left += advance
            lease.until = self._clock.monotonic() + KEPT_SECONDS
        return True

    def _share(self, org_id: UUID, bucket: Bucket) -> _Share:
        key = (org_id, bucket.key, bucket.per_minute)
        lease = self._leases.setdefault(key, _Prefetch())
        self._leases.move_to_end(key)
        while len(self._leases) > self._max:
            self._leases.popitem(last=False)
        if self._clock.monotonic() >= lease.until:
            lease.left = 0
        cost = min(bucket.cost, bucket.per_minute)
        held = min(lease.left, cost)
        lease.left -= held
        return _Share(lease, held, replace(bucket, cost=cost - held))


def _advance(share: _Share) -> int:
    """The amount to take beyond the request's demand; one request at a time takes an advance."""
    bucket = share.bucket
    advance = int(bucket.per_minute * LEASE_SECONDS / 60)
    return 0 if share.lease.on_its_way or bucket.cost + advance > bucket.per_minute else advance


def _give_back(shares: Sequence[_Share]) -> None:
    for share in shares:
        share.lease.left += share.held
