"""One request at a time to a site, from all crawls of a process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic

MAX_SITES = 4_096
"""Sites that are remembered while nobody asks them."""


@dataclass(slots=True)
class SiteTurn:
    """Whose turn it is at a site."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    free_at: float = 0.0

    def rest(self, seconds: float) -> None:
        """Leave the site alone for so long."""
        self.free_at = monotonic() + seconds


class SiteTurns:
    """Each crawl of a process takes its turn here, so that two crawls of a site are no ruder than one."""

    def __init__(self) -> None:
        self._sites: dict[str, SiteTurn] = {}

    @asynccontextmanager
    async def take(self, site: str, seconds: float) -> AsyncGenerator[SiteTurn | None]:
        """Wait until nobody asks the site and it has rested; None where that is not so after these seconds."""
        until = monotonic() + seconds
        if len(self._sites) >= MAX_SITES:
            now = monotonic()
            self._sites = {name: one for name, one in self._sites.items() if one.users or one.free_at > now}
        turn = self._sites.setdefault(site, SiteTurn())
        turn.users += 1
        try:
            if not await _lock(turn.lock, seconds):
                yield None
                return
            try:
                now = monotonic()
                if turn.free_at > until:
                    yield None
                    return
                if turn.free_at > now:
                    await asyncio.sleep(turn.free_at - now)
                yield turn
            finally:
                turn.lock.release()
        finally:
            turn.users -= 1


async def _lock(lock: asyncio.Lock, seconds: float) -> bool:
    """Whether it was had within this time."""
    try:
        async with asyncio.timeout(max(0.0, seconds)):
            return await lock.acquire()
    except TimeoutError:
        return False
