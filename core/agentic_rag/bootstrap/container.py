"""The container of every part, and its readiness."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from agentic_rag.bootstrap.operations import OperationsParts
from agentic_rag.jobs.job import QueueName
from agentic_rag.kernel.dependency import (
    BLOBS_CHECK,
    DATABASE_CHECK,
    GRAPH_CHECK,
    OPTIONAL_FOR_WORKERS,
    REDIS_CHECK,
    REPLICA_CHECK,
)
from agentic_rag.kernel.errors import AgenticRagError, Misconfigured
from agentic_rag.retrieval.ports import Reranker
from agentic_rag.settings import Settings

Check = Callable[[], Awaitable[None]]

FIRST_LOOK_SECONDS = 2.0
"""How long the start of a program waits to learn as whom the database knows it."""

LOOK_AGAIN_SECONDS = 5.0


@asynccontextmanager
async def build_container(settings: Settings, *, reranker: Reranker | None = None) -> AsyncGenerator[Container]:
    """The wired system while the block lasts. Building it connects to nothing: checks and first uses do. A `reranker`
    may order the results of every search; the caller closes it.
    """
    container = Container(settings, reranker=reranker)
    try:
        yield container
    finally:
        await container.aclose()


class Container(OperationsParts):
    """Every part a process may use. Each room's parts extend those of the rooms below it."""

    @property
    def checks(self) -> Mapping[str, Check]:
        """A check for each dependency, by the name /readyz shows; one that fails raises a product error."""
        checks: dict[str, Check] = {
            DATABASE_CHECK: self.database.check,
            REDIS_CHECK: self._check_redis,
            BLOBS_CHECK: self._check_blobs,
        }
        if self.graph is not None:
            checks[GRAPH_CHECK] = self.graph.check
        if self.replica is not None:
            checks[REPLICA_CHECK] = self.replica.check
        return checks

    async def _check_redis(self) -> None:
        await self.queue.depth(QueueName.BULK)

    async def _check_blobs(self) -> None:
        await self.blobs.keys("readiness")

    async def readiness(self) -> Mapping[str, str | None]:
        """Each dependency that jobs cannot be done without, by name: None when it answers, else what is wrong."""
        found: dict[str, str | None] = {}
        for name, check in self.checks.items():
            if name in OPTIONAL_FOR_WORKERS:
                continue
            try:
                await check()
            except AgenticRagError as error:
                found[name] = f"[{error.code}] {error.message}"
            else:
                found[name] = None
        return found

    async def watch_login(self) -> asyncio.Task[None]:
        """What ends with `Misconfigured` as soon as the database tells that its login is one that production refuses;
        else once it is known to be none. Programs start without their database, so it may tell late. Errors:
        `Misconfigured` code DATABASE_ROLE_TOO_STRONG when it tells at once.
        """
        watch = asyncio.create_task(self._await_modest_login(), name="login")
        await asyncio.wait([watch], timeout=FIRST_LOOK_SECONDS)
        if watch.done():
            watch.result()
        return watch

    async def _await_modest_login(self) -> None:
        while self.settings.server.is_production:
            try:
                await self.database.check()
            except AgenticRagError as error:
                if isinstance(error, Misconfigured) and error.code == "DATABASE_ROLE_TOO_STRONG":
                    raise
            else:
                return
            await asyncio.sleep(LOOK_AGAIN_SECONDS)
