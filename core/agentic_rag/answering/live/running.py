"""The runs that go on in this process, so that they can be cancelled by id."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.kernel.concurrency import Turnstile
from agentic_rag.kernel.errors import RunCancelled
from agentic_rag.tenancy.access import may_manage_access
from agentic_rag.tenancy.principals import Principal, WorkspaceRef


@dataclass(slots=True)
class _Going:
    workspace: WorkspaceRef
    subject: str
    limit: asyncio.Timeout
    is_cancelled: bool = False


class RunningRuns:
    """What runs here. A run is cancelled for the caller who asked; others who share its work go on."""

    def __init__(self) -> None:
        self._going: dict[UUID, _Going] = {}
        self._turnstile = Turnstile()

    @asynccontextmanager
    async def enter(self, run_id: UUID, workspace: WorkspaceRef, subject: str) -> AsyncGenerator[None]:
        """The block is the run. Errors: `RunCancelled`."""
        going = _Going(workspace, subject, asyncio.timeout(None))
        try:
            async with going.limit:
                self._going[run_id] = going
                try:
                    with self._turnstile.inside():
                        yield
                finally:
                    del self._going[run_id]
        except TimeoutError:
            if going.is_cancelled:
                raise RunCancelled("The run was cancelled before it had an answer.") from None
            raise

    async def settle(self) -> None:
        """Wait until the runs that go on at the call have ended."""
        await self._turnstile.settle()

    def cancel(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> bool:
        """Whether a run of this id goes on here that the caller may cancel: its own, or any for who manages the
        workspace. It is cancelled.
        """
        going = self._going.get(run_id)
        if going is None or going.workspace != workspace:
            return False
        if going.subject != principal.subject_id and not may_manage_access(principal):
            return False
        if not going.is_cancelled:
            going.is_cancelled = True
            going.limit.reschedule(asyncio.get_running_loop().time())
        return True
