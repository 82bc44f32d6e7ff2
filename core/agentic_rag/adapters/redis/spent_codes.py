"""`tenancy.ports.SpendCode` in Redis: known to all processes, and to those that start later."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import math

from agentic_rag.adapters.redis.connection import CONNECT_SECONDS, answer_within, redis_errors
from agentic_rag.adapters.redis.quick_connections import QuickConnections


class RedisSpentCodes:
    """One round trip per call, bounded by `timeout_seconds`."""

    def __init__(self, url: str, *, prefix: str = "agentic-rag", timeout_seconds: float = 2.0) -> None:
        self._connections = QuickConnections(url, connect_seconds=CONNECT_SECONDS)
        self._prefix = prefix
        self._timeout = timeout_seconds

    async def spend(self, name: str, seconds: float) -> bool:
        command = ("SET", f"{self._prefix}:spent:{name}", 1, "NX", "PX", max(1, math.ceil(seconds * 1000)))
        with redis_errors():
            return await answer_within(self._timeout, self._connections.ask(*command)) is not None

    async def aclose(self) -> None:
        await self._connections.aclose()
