"""Threads that export: what waits in batches, and metrics every interval. What cannot be delivered is dropped."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import Generic, TypeVar

from agentic_rag.adapters.telemetry.otlp_sender import OtlpSender
from agentic_rag.kernel.telemetry import ExportBatches

T = TypeVar("T")

END_SECONDS = 2.5
"""The longest that the last exports of all signals delay the end of the process."""


class Exports(Generic[T]):
    """Exports of one signal. Items come from any thread."""

    def __init__(self, sender: OtlpSender, batches: ExportBatches, encode: Callable[[Sequence[T]], bytes]) -> None:
        self._sender, self._batches, self._encode = sender, batches, encode
        self._waiting: deque[T] = deque()
        self._dropped = 0
        self._wake = Event()
        self._is_over = False
        self._thread = Thread(target=self._run, name=f"{sender.signal} over OTLP", daemon=True)
        self._thread.start()

    def offer(self, item: T) -> None:
        """Export it later; drop it where too many wait."""
        if len(self._waiting) >= self._batches.most_waiting:
            self._dropped += 1
            return
        self._waiting.append(item)
        if len(self._waiting) >= self._batches.size:
            self._wake.set()

    def end(self) -> None:
        """Export what waits, and stop."""
        self._is_over = True
        self._wake.set()
        self._thread.join()
        self._sender.close()

    def _run(self) -> None:
        while not self._is_over:
            is_full = self._wake.wait(self._batches.delay_seconds)
            self._wake.clear()
            self._export(self._batches.size if is_full else 1)
        self._export(1)

    def _export(self, least: int) -> None:
        """Send batches until fewer than `least` wait."""
        while len(self._waiting) >= least:
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._batches.size))]
            if not self._sender.deliver(self._encode(batch), self._dropped):
                self._dropped += len(batch)


class MetricExports:
    """Exports what `encode` returns every interval, and once more at the end."""

    def __init__(self, sender: OtlpSender, seconds: float, encode: Callable[[], bytes]) -> None:
        self._sender, self._seconds, self._encode = sender, seconds, encode
        self._is_over = Event()
        self._thread = Thread(target=self._run, name="metrics over OTLP", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Export once more, and stop."""
        self._is_over.set()
        self._thread.join()
        self._sender.close()

    def _run(self) -> None:
        while not self._is_over.wait(self._seconds):
            self._export()
        self._export()

    def _export(self) -> None:
        self._sender.deliver(self._encode(), 0)


def end_together(endings: Sequence[Callable[[], None]]) -> None:
    """Call all at the same time, within `END_SECONDS`: each may wait for a collector that does not answer."""
    threads = [Thread(target=one, name="last exports", daemon=True) for one in endings]
    for thread in threads:
        thread.start()
    until = time.monotonic() + END_SECONDS
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
