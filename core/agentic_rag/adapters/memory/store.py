"""The committed state, and the working copies of the one transaction that may write."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from uuid import UUID

from agentic_rag.adapters.memory.state import Committed, WorkspaceState
from agentic_rag.domain.audit import AuditRecord
from agentic_rag.domain.errors import NotFound
from agentic_rag.domain.tenancy import WorkspaceRef
from agentic_rag.ports.clock import Clock


class Working:
    """A transaction's view: what it wrote over what was committed. It knows the workspaces of one organisation; None
    stands for all.
    """

    def __init__(
        self, committed: Committed, audit: Mapping[UUID, tuple[AuditRecord, ...]], clock: Clock, org_id: UUID | None
    ) -> None:
        self._states = dict(committed)
        self._audit = dict(audit)
        self._org_id = org_id
        self._written: set[WorkspaceRef] = set()
        self._ended = False
        self._clock = clock

    @property
    def states(self) -> Committed:
        """Every workspace as this transaction sees it."""
        return self._states

    def read(self, workspace: WorkspaceRef) -> WorkspaceState | None:
        """The workspace, not to be changed; None when this transaction knows no such."""
        if self._org_id not in (None, workspace.org_id):
            return None
        return self._states.get(workspace)

    def write(self, workspace: WorkspaceRef) -> WorkspaceState:
        """The workspace as a copy of this transaction's own. Errors: `NotFound`; `RuntimeError` after the end."""
        self._check_open()
        state = self.read(workspace)
        if state is None:
            raise NotFound(f"There is no workspace {workspace.workspace_id}.")
        if workspace not in self._written:
            state = self._states[workspace] = state.clone()
            self._written.add(workspace)
        return state

    def add(self, state: WorkspaceState) -> None:
        """Make a workspace. Errors: `RuntimeError` after the end."""
        self._check_open()
        self._states[state.workspace.ref] = state
        self._written.add(state.workspace.ref)

    def audit(self, org_id: UUID, record: AuditRecord) -> None:
        """Append to an organisation's audit log. Errors: `RuntimeError` after the end."""
        self._check_open()
        self._audit[org_id] = (*self.audited(org_id), record)

    def audited(self, org_id: UUID) -> tuple[AuditRecord, ...]:
        """An organisation's audit log, oldest first."""
        return self._audit.get(org_id, ())

    def end(self) -> tuple[Committed, Mapping[UUID, tuple[AuditRecord, ...]]]:
        """Every workspace and audit log as this transaction leaves them; nothing can be written any more."""
        self._ended = True
        return self._states, self._audit

    def _check_open(self) -> None:
        if self._ended:
            raise RuntimeError("a transaction was used after its end")

    def now(self) -> datetime:
        """The current instant."""
        return self._clock.now()


class MemoryStore:
    """What several adapters share, as they would share a server: database, job board and run store."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.committed: Committed = {}
        """Replaced as a whole by each commit, so whoever holds it has a snapshot."""
        self.audit: Mapping[UUID, tuple[AuditRecord, ...]] = {}
        """By organisation; replaced as a whole by each commit too."""
        self.leader: object | None = None
        """The job board that leads."""
        self._turn = asyncio.Lock()
        self._writer: asyncio.Task[object] | None = None

    @asynccontextmanager
    async def transaction(self, org_id: UUID | None) -> AsyncGenerator[Working]:
        """One writer at a time, over one organisation or (None) all; commits when the block ends, forgets everything on
        an exception. Errors: `RuntimeError` inside another one of the same task, which would wait for itself.
        """
        task = asyncio.current_task()
        if self._writer is not None and self._writer is task:
            raise RuntimeError("a transaction was opened inside another one of the same task")
        async with self._turn:
            self._writer = task
            try:
                working = Working(self.committed, self.audit, self.clock, org_id)
                yield working
                self.committed, self.audit = working.end()
            finally:
                self._writer = None
