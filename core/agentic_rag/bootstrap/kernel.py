"""The process itself: settings, clocks, ids, telemetry, processes for computing."""

from __future__ import annotations

from contextlib import AsyncExitStack
from functools import cached_property
from typing import Protocol, TypeVar

from agentic_rag import __version__
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.collector import give_back_freed_memory
from agentic_rag.adapters.system.compute import ProcessCompute
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.adapters.telemetry.facade import ProcessTelemetry, TelemetryOptions
from agentic_rag.erasure.process_memory import ProcessMemory
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.compute import Compute
from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.kernel.ids import Ids
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.retrieval.ports import Reranker
from agentic_rag.settings import Settings
from agentic_rag_migrations import HEAD


class Closable(Protocol):
    """Holds connections or processes until it is closed."""

    async def aclose(self) -> None: ...


T = TypeVar("T", bound=Closable)


COMPUTE_PROCESSES = 2
"""Of one process, for embedding and indexing large batches; they start with the first."""


class KernelParts:
    """The base of the container. A part is made on first use; what holds connections is closed with the container.
    Limits that live in a process are divided by the number of `processes` that serve together.
    """

    def __init__(self, settings: Settings, *, reranker: Reranker | None = None, processes: int = 1) -> None:
        if not settings.stores.database_url or not settings.stores.redis_url:
            raise Misconfigured(
                "DATABASE_URL and REDIS_URL are needed here. `rag up` starts embedded servers and sets both."
            )
        self.settings = settings
        self._reranker = reranker
        self.processes = processes
        self._closing = AsyncExitStack()

    async def aclose(self) -> None:
        """Close every opened part, last first."""
        await self._closing.aclose()

    @cached_property
    def clock(self) -> Clock:
        return SystemClock()

    @cached_property
    def ids(self) -> Ids:
        return RandomIds()

    @cached_property
    def telemetry(self) -> Telemetry:
        """Spans, metrics and the log of this process. Logs a warning for each removed setting."""
        settings = self.settings.operations
        telemetry = ProcessTelemetry(
            TelemetryOptions(
                service_name=settings.service_name,
                service_version=settings.deploy,
                log_level=settings.log_level,
                export=self.settings.telemetry_export,
            )
        )
        self._closing.callback(telemetry.shutdown)
        telemetry.gauge("rag_build_info", 1, version=__version__, schema=HEAD)
        for warning in self.settings.warnings:
            telemetry.event("rag_setting_removed", level="warning", detail=warning)
        return telemetry

    @cached_property
    def _compute(self) -> Compute:
        compute = self._owned(ProcessCompute(COMPUTE_PROCESSES))
        self.memory.is_ended_by(compute.end_processes)
        return compute

    @cached_property
    def memory(self) -> ProcessMemory:
        """What this process holds of documents, for an erasure to drop. Who makes a holder names it here."""
        memory = ProcessMemory()
        memory.holds_late(give_back_freed_memory)
        return memory

    def _owned(self, part: T) -> T:
        """The part, which is closed with the container."""
        self._closing.push_async_callback(part.aclose)
        return part
