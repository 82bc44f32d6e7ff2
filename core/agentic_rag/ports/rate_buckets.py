"""Where requests are counted against their limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.rate_limits import Bucket, Refused


class RateBuckets(Protocol):
    """Buckets of organisations, as `domain.rate_limits` describes them."""

    async def take(self, org_id: UUID, buckets: Sequence[Bucket]) -> Refused | None:
        """Take from all of the buckets or from none: None when all had enough, else the one to wait longest for.

        Errors: `DependencyUnavailable`.
        """
        ...
