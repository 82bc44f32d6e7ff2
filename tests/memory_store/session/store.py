"""The committed state, and the working copies of the one transaction that may write."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from tests.memory_store.session.state import Committed, WorkspaceState

from agentic_rag.erasure.workspace_erasure import WorkspaceErasure
from agentic_rag.jobs.workers import WorkerRecord
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.errors import NotFound
from agentic_rag.models.billing.usage import UsageLine
from agentic_rag.models.providers.provider_keys import Provider, ProviderKey
from agentic_rag.tenancy.api_keys import ApiKey
from agentic_rag.tenancy.audit import AuditRecord
from agentic_rag.tenancy.entering import bound_principals
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.organisation import Organisation


@dataclass(frozen=True, slots=True)
class OrganisationState:
    """What belongs to an organisation as a whole; `organisation` is None for one that was never made."""

    organisation: Organisation | None = None
    audit: tuple[AuditRecord, ...] = ()
    """Oldest first."""
    usage: tuple[UsageLine, ...] = ()
    provider_keys: Mapping[Provider, ProviderKey] = field(default_factory=dict[Provider, ProviderKey])
    api_keys: tuple[ApiKey, ...] = ()
    """Newest first."""
    erasures: tuple[WorkspaceErasure, ...] = ()
    """Newest first."""


Organisations = Mapping[UUID, OrganisationState]


def entered(states: Committed, workspace: WorkspaceRef) -> WorkspaceState | None:
    """The workspace, unless the bound caller may not enter it."""
    state, caller = states.get(workspace), bound_principals()
    named = state.workspace.entering if state else None
    return None if caller and named is not None and set(named).isdisjoint(caller) else state


class Working:
    """A transaction's view: what it wrote over what was committed. It knows the workspaces of one organisation; None
    stands for all.
    """

    def __init__(
        self,
        committed: Committed,
        organisations: Organisations,
        workers: Mapping[str, WorkerRecord],
        clock: Clock,
        org_id: UUID | None,
    ) -> None:
        self._states = dict(committed)
        self.workers = workers
        self._organisations = dict(organisations)
        self._org_id = org_id
        self._written: set[WorkspaceRef] = set()
        self._ended = False
        self._clock = clock

    @property
    def states(self) -> Committed:
        """Every workspace as this transaction sees it."""
        return self._states

    def read(self, workspace: WorkspaceRef) -> WorkspaceState | None:
        """The workspace, not to be changed; None when this transaction knows no such, or its caller may not enter."""
        if self._org_id not in (None, workspace.org_id):
            return None
        return entered(self._states, workspace)

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

    def drop(self, workspace: WorkspaceRef) -> None:
        """Forget a workspace. Errors: `RuntimeError` after the end."""
        self._check_open()
        del self._states[workspace]

    def organisation(self, org_id: UUID) -> OrganisationState:
        """What belongs to the organisation as a whole."""
        return self._organisations.get(org_id, OrganisationState())

    def names_of_others(self, org_id: UUID) -> set[str]:
        """The names of all organisations but one."""
        found = [state.organisation for key, state in self._organisations.items() if key != org_id]
        return {one.name for one in found if one is not None}

    def put_organisation(self, org_id: UUID, state: OrganisationState) -> None:
        """Replace what belongs to it. Errors: `RuntimeError` after the end."""
        self._check_open()
        self._organisations[org_id] = state

    def audit(self, org_id: UUID, record: AuditRecord) -> None:
        """Append to an organisation's audit log. Errors: `RuntimeError` after the end."""
        state = self.organisation(org_id)
        self.put_organisation(org_id, replace(state, audit=(*state.audit, record)))

    def end(self) -> tuple[Committed, Organisations]:
        """Every workspace and organisation as this transaction leaves them; nothing can be written any more."""
        self._ended = True
        for state in (self._states[ref] for ref in self._written if ref in self._states):
            state.version_times.setdefault(state.workspace.corpus_version, self.now())
        return self._states, self._organisations

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
        self.organisations: Organisations = {}
        """Replaced as a whole by each commit too."""
        self.workers: dict[str, WorkerRecord] = {}
        """Worker processes by name; no transaction of a tenant changes them."""
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
                working = Working(self.committed, self.organisations, self.workers, self.clock, org_id)
                yield working
                self.committed, self.organisations = working.end()
            finally:
                self._writer = None
