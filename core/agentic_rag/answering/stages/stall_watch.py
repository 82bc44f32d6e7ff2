"""Tells a run in which something was slow from a process that had no processor time, or was stopped."""

from __future__ import annotations

import asyncio
from types import TracebackType

from agentic_rag.answering.runs.ask_request import PipelineResult
from agentic_rag.kernel.clock import Clock

STALLED_SECONDS = 3.0
"""Of an event loop that stood still. A busy one is late by tenths of a second. Set by hand."""
TICK_SECONDS = 0.5


class StallWatch:
    """Looks at the clock again and again from when a question comes. What is awaited meanwhile is no stall. Its caller
    and the run of its stages, which may go on for others, each hold it open.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen = 0.0
        self._holders = 0
        self._longest = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> StallWatch:
        self._holders += 1
        if self._holders == 1:
            self._seen = self._clock.monotonic()
            self._tick()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._look()
        self._holders -= 1
        if not self._holders and self._timer is not None:
            self._timer.cancel()

    @property
    def has_stalled(self) -> bool:
        """Whether the event loop stood still for `STALLED_SECONDS` at a time."""
        return self._longest > STALLED_SECONDS + TICK_SECONDS

    def _tick(self) -> None:
        self._look()
        self._timer = asyncio.get_running_loop().call_later(TICK_SECONDS, self._tick)

    def _look(self) -> None:
        now = self._clock.monotonic()
        self._longest, self._seen = max(self._longest, now - self._seen), now


def is_cut_short(result: PipelineResult) -> bool:
    """Whether a run did without something that it waits for, or without a stage."""
    lacks_time = result.evidence_truncated or any(one.outcome == "BUDGET" for one in result.stages)
    return lacks_time or bool(result.answer.degraded)
