"""The scheduled self-attack: the worker that leads runs it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.operations.leak_canaries import CanaryReport

LOOK_SECONDS = 1.0
"""How often a worker looks whether it leads and a round is due."""


CanaryRound = Callable[[], Awaitable[CanaryReport]]
"""Runs one round of the self-attack."""


class CanarySchedule:
    """Runs a round when this worker begins to lead, and then each `every_seconds`."""

    def __init__(
        self,
        attack: CanaryRound,
        every_seconds: float,
        leads: Callable[[], bool],
        clock: Clock,
        telemetry: Telemetry,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._attack = attack
        self._every = every_seconds
        self._leads = leads
        self._clock = clock
        self._telemetry = telemetry
        self._look = look_seconds
        self._next = 0.0
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Until stopped; a round under way ends with the worker."""
        while not self._stopping.is_set():
            if self._leads() and self._clock.monotonic() >= self._next:
                self._next = self._clock.monotonic() + self._every
                await self._round()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), self._look)

    def stop(self) -> None:
        """End `run` after the round that is under way."""
        self._stopping.set()

    async def _round(self) -> None:
        try:
            report = await self._attack()
        except AgenticRagError as error:
            self._telemetry.count("rag_tenant_leak_checks_total", outcome="failed")
            self._telemetry.event("rag_tenant_canaries_failed", level="warning", code=error.code)
            return
        self._telemetry.event(
            "rag_tenant_canaries_checked",
            organisations=report.organisations,
            checks=report.checks,
            leaks=len(report.leaks),
        )
