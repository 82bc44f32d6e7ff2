"""`tenancy.ports.SpendCode` for a single process."""

from __future__ import annotations

from agentic_rag.kernel.clock import Clock


class MemorySpentCodes:
    """Forgets with the process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    async def spend(self, name: str, seconds: float) -> bool:
        now = self._clock.monotonic()
        self._until = {one: until for one, until in self._until.items() if until > now}
        if name in self._until:
            return False
        self._until[name] = now + seconds
        return True
