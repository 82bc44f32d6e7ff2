"""Completes certificates once every server and worker has dropped what it held of erased documents in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.erasure.ports import DropProgress
from agentic_rag.jobs.job import Lease
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.principals import WorkspaceRef

WAIT_SECONDS = 60.0
"""How long one order is waited for: longer than `process_memory.LAPSE_SECONDS`, and than a question under way takes."""

ERASURES = 100
"""Erasures that one order names: its message holds their ids, in at most 8,000 bytes."""

_FIRST_LOOK, _LAST_LOOK = 0.01, 0.5
"""Seconds between looks at who has followed; each pause is twice the one before."""


@dataclass(frozen=True, slots=True)
class ConfirmDrops:
    """The body of FORGET jobs. What it does not reach stays due: upkeep enqueues another job."""

    database: Database
    telemetry: Telemetry
    wait_seconds: float = WAIT_SECONDS

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Confirm all erasures of the workspace that are committed. Errors: `DependencyUnavailable`."""
        workspace = lease.job.workspace
        while True:
            async with self.database.transaction(workspace.org_id) as transaction:
                held = await transaction.erasures.held(workspace, ERASURES)
            if not held:
                return
            ids = [one.document_id for one in held]
            told = await ask_processes(self.database, workspace, ids, self.wait_seconds, progress.advance)
            if told.silent:
                self.telemetry.event("rag_memory_held", level="warning", processes=told.silent, erasures=len(held))
                return
            async with self.database.transaction(workspace.org_id) as transaction:
                await transaction.erasures.confirm(workspace, held, told)
            self.telemetry.event("rag_memory_dropped", processes=told.followed, lapsed=told.lapsed, erasures=len(held))


async def ask_processes(
    database: Database,
    workspace: WorkspaceRef,
    document_ids: Sequence[UUID],
    seconds: float,
    advance: Callable[[], None],
) -> DropProgress:
    """Tell all processes to drop what they hold of a workspace, and wait until each has followed or fallen silent,
    `seconds` at most. To be called after the commit that erased: what is read since does not hold it. No documents:
    all of the workspace was erased. Errors: `DependencyUnavailable`.
    """
    async with database.transaction(workspace.org_id) as transaction:
        order = await transaction.erasures.order_drop(workspace, document_ids)
    loop = asyncio.get_running_loop()
    ends, pause = loop.time() + seconds, _FIRST_LOOK
    while True:
        async with database.transaction(workspace.org_id) as transaction:
            told = await transaction.erasures.drop_progress(order)
        if not told.silent or loop.time() >= ends:
            return told
        advance()
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LAST_LOOK)
