"""Stores runs and fills the cache behind the response: bounded, batched, drained on close."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.answering.ports import AnswerCache, RunStore
from agentic_rag.answering.run import EncodedAnswer, Run
from agentic_rag.answering.runs.cache_entry import TenantGuard, encode_entry
from agentic_rag.kernel.concurrency import detached_task
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, Retryable
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.principals import WorkspaceRef

CAPACITY = 2048
"""Runs that may wait. Further runs are dropped and counted: answering matters more than its record."""
BATCH = 64
LINGER_SECONDS = 0.25
"""How long the first run of a batch waits for others. A batch costs as many statements as a run; storing each run at
once slowed the vector scan of the next question by a third. Runs that come while a batch is stored wait as long: at a
few hundred questions a second they would else make a batch for every two.
"""
FIRST_REST_SECONDS = 0.5
LONGEST_REST_SECONDS = 8.0
"""How long runs wait for the next try while the database does not take them, twice as long after each."""
TRIES_OF_A_DRAIN = 3
"""A process that ends does not wait for a database that stays away."""


@dataclass(frozen=True, slots=True)
class CacheFill:
    """An answer to be cached."""

    workspace: WorkspaceRef
    key: str
    answer: EncodedAnswer
    ttl_seconds: int
    seen_version: int
    """The newest corpus version when the answer was made."""


class RunRecorder:
    """One background task. Nothing it does may fail a request."""

    def __init__(
        self,
        database: Database,
        runs: RunStore,
        cache: AnswerCache,
        telemetry: Telemetry,
        *,
        capacity: int = CAPACITY,
    ) -> None:
        self._database = database
        self._runs = runs
        self._cache = cache
        self._telemetry = telemetry
        self._capacity = capacity
        self._wall = TenantGuard(telemetry)
        self._waiting: OrderedDict[tuple[WorkspaceRef, UUID], Run] = OrderedDict()
        self._fills: OrderedDict[tuple[WorkspaceRef, str], CacheFill] = OrderedDict()
        self._wake = asyncio.Event()
        self._is_ripe = False
        """The waiting runs shall be stored now."""
        self._is_draining = False
        """So shall those that come meanwhile."""
        self._failures = 0
        """Tries in a row that the database did not take the waiting runs: the next one comes after a rest, however many
        wait.
        """
        self._idle = asyncio.Event()
        self._idle.set()
        self._timer: asyncio.TimerHandle | None = None
        self._worker: asyncio.Task[None] | None = None
        self._closing = False

    def submit(self, run: Run, fill: CacheFill | None = None) -> None:
        """Take a run (and an answer to cache) for storing soon."""
        if len(self._waiting) >= self._capacity:
            self._telemetry.count("rag_runs_unrecorded_total", reason="full")
        else:
            self._waiting[run.workspace, run.run_id] = run
        if fill is not None:
            self._take(fill)
        self._start()

    async def keep(self, run: Run, fill: CacheFill | None) -> None:
        """Store a run at once, on the disk of the database, and take its answer to cache. Errors: those of
        `RunStore.record`.
        """
        await self._runs.record([run], durable=True)
        if fill is not None:
            self._take(fill)
            self._start()

    def find(self, workspace: WorkspaceRef, run_id: UUID) -> Run | None:
        """A run that was taken and is not stored yet."""
        run = self._waiting.get((workspace, run_id))
        return run if run is not None and self._wall.check_owner(workspace, run.workspace, "waiting run") else None

    def filling(self, workspace: WorkspaceRef, key: str) -> EncodedAnswer | None:
        """An answer on its way into the cache, so that the same question need not run again."""
        fill = self._fills.get((workspace, key))
        if fill is None or not self._wall.check_owner(workspace, fill.workspace, "waiting answer"):
            return None
        return fill.answer

    async def drain(self) -> None:
        """Wait until everything taken is stored, cached or given up."""
        self._is_draining = not self._idle.is_set()
        self._ripen()
        await self._idle.wait()

    async def aclose(self) -> None:
        """Drain and end the task."""
        await self.drain()
        self._closing = True
        self._ripen()
        if self._worker is not None:
            await asyncio.wait([self._worker])
            self._worker = None

    def _take(self, fill: CacheFill) -> None:
        if len(self._fills) < self._capacity:
            self._fills[(fill.workspace, fill.key)] = fill

    def _ripen(self) -> None:
        self._is_ripe = True
        self._wake.set()

    def _ripen_in(self, seconds: float) -> None:
        """Instead of what was meant before."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._ripen)

    def _start(self) -> None:
        if self._idle.is_set():
            self._idle.clear()
            self._ripen_in(LINGER_SECONDS)
        if len(self._waiting) >= BATCH and not self._failures:
            self._ripen()
        elif self._fills:
            self._wake.set()
        if self._worker is None:
            self._worker = detached_task(self._work())
            self._worker.add_done_callback(self._on_worker_end)

    def _on_worker_end(self, worker: asyncio.Task[None]) -> None:
        """An unexpected error loses the waiting runs, with a metric and an event; a drain and the next run go on."""
        if not worker.cancelled() and (fault := worker.exception()) is not None:
            lost = len(self._waiting)
            self._telemetry.count("rag_runs_unrecorded_total", float(lost), reason="INTERNAL")
            self._telemetry.event(
                "rag_runs_unrecorded", level="warning", code="INTERNAL", runs=lost, fault=repr(fault)[:200]
            )
        self._worker = None
        self._waiting.clear()
        self._fills.clear()
        self._is_draining = False
        self._idle.set()

    async def _work(self) -> None:
        while not self._closing:
            await self._wake.wait()
            self._wake.clear()
            await self._fill_cache()
            if self._fills:
                self._wake.set()
            if not self._is_ripe:
                continue
            self._is_ripe = False
            if self._waiting:
                await self._store([run for _, run in zip(range(BATCH), self._waiting.values(), strict=False)])
                await self._fill_cache()
            if not self._waiting and not self._fills:
                self._is_draining = False
                self._idle.set()
            elif self._failures:
                self._ripen_in(self._rest_seconds())
            elif self._is_draining or len(self._waiting) >= BATCH:
                self._ripen()
            else:
                self._ripen_in(LINGER_SECONDS)

    def _rest_seconds(self) -> float:
        if self._is_draining:
            return FIRST_REST_SECONDS
        return min(LONGEST_REST_SECONDS, FIRST_REST_SECONDS * 2 ** (self._failures - 1))

    async def _fill_cache(self) -> None:
        """Cache as many answers as a batch has runs: they may come as fast as they are cached, and runs wait too."""
        for place, fill in [held for _, held in zip(range(BATCH), self._fills.items(), strict=False)]:
            await self._cache_one(fill)
            self._fills.pop(place, None)

    async def _cache_one(self, fill: CacheFill) -> None:
        """Cache an answer of the newest corpus version. An erasure empties the cache after its commit: the second check
        catches one that commits between the first check and the put.
        """
        try:
            if await self._is_current(fill):
                await self._cache.put(
                    fill.workspace, fill.key, encode_entry(fill.workspace, fill.answer), fill.ttl_seconds
                )
                if not await self._is_current(fill):
                    await self._cache.forget(fill.workspace)
        except AgenticRagError as error:
            self._telemetry.event("rag_cache_put_failed", level="warning", code=error.code)

    async def _is_current(self, fill: CacheFill) -> bool:
        return await self._database.corpus_version(fill.workspace) == fill.seen_version

    async def _store(self, batch: list[Run]) -> None:
        """Store runs. They go on waiting while the database is away; a run that it refuses loses no other."""
        try:
            await self._runs.record(batch)
        except (DependencyUnavailable, Retryable) as error:
            self._failures += 1
            if not self._is_draining or self._failures < TRIES_OF_A_DRAIN:
                self._telemetry.event("rag_runs_delayed", level="warning", code=error.code, runs=len(self._waiting))
                return
            batch = [*self._waiting.values()]
            self._lose(batch, error)
        except AgenticRagError as error:
            if len(batch) > 1:
                for run in batch:
                    await self._store([run])
                return
            self._lose(batch, error)
        else:
            self._failures = 0
        for run in batch:
            self._waiting.pop((run.workspace, run.run_id), None)

    def _lose(self, batch: Sequence[Run], error: AgenticRagError) -> None:
        self._telemetry.count("rag_runs_unrecorded_total", float(len(batch)), reason=error.code)
        self._telemetry.event("rag_runs_unrecorded", level="warning", code=error.code, runs=len(batch))
