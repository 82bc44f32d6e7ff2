"""Credentials that were verified a moment ago, so that a busy caller is not verified anew with every request."""

from __future__ import annotations

from collections import OrderedDict

from agentic_rag.kernel.clock import Clock
from agentic_rag.tenancy.principals import Principal

MAX_ENTRIES = 10_000


class VerifiedPrincipals:
    """Principals by the hash of their credential, each for a time of its own. Refusals are not remembered."""

    def __init__(self, clock: Clock, max_entries: int = MAX_ENTRIES) -> None:
        self._clock = clock
        self._max_entries = max_entries
        self._known: OrderedDict[bytes, tuple[Principal, float]] = OrderedDict()

    def get(self, digest: bytes) -> Principal | None:
        """The principal, while it may be trusted."""
        known = self._known.get(digest)
        if known is None:
            return None
        if self._clock.monotonic() < known[1]:
            return known[0]
        del self._known[digest]
        return None

    def put(self, digest: bytes, principal: Principal, seconds: float) -> None:
        """Trust it for so long; not at all when that is nothing."""
        if seconds <= 0:
            return
        self._known[digest] = (principal, self._clock.monotonic() + seconds)
        self._known.move_to_end(digest)
        if len(self._known) > self._max_entries:
            self._known.popitem(last=False)
