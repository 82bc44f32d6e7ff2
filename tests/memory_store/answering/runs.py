"""`answering.ports.RunStore` in memory."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from tests.memory_store.session.pages import page_newest_first
from tests.memory_store.session.state import WorkspaceState
from tests.memory_store.session.store import MemoryStore, entered

from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.redaction import redact_erased_documents
from agentic_rag.answering.runs.run_filter import ALL_RUNS, RunFilter
from agentic_rag.kernel.errors import IdempotencyConflict
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.tenancy.principals import WorkspaceRef


class MemoryRunStore:
    """Opens its own transactions on the shared store."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def record(self, runs: Sequence[Run], *, durable: bool = False) -> None:
        """Store all of `runs` or none; storing a run again changes nothing. Errors: `IdempotencyConflict`, `NotFound`
        (workspace).
        """
        async with self._store.transaction(None) as working:
            for run in runs:
                state = working.write(run.workspace)
                is_kept = run.thread in (None, run.run_id) or _has_thread(state, run)
                if is_kept and not _is_known(state, run):
                    state.runs[run.run_id] = redact_erased_documents(run, state.tombstones)

    async def get(self, workspace: WorkspaceRef, run_id: UUID, subject: str | None = None) -> Run | None:
        """The run, or None."""
        state = entered(self._store.committed, workspace)
        run = None if state is None else state.runs.get(run_id)
        return run if run is not None and subject in (None, run.subject) else None

    async def by_idempotency_key(self, workspace: WorkspaceRef, key: str) -> Run | None:
        """The run that was stored under the key, or None."""
        state = entered(self._store.committed, workspace)
        return None if state is None else _under_key(state, key)

    async def page(self, workspace: WorkspaceRef, request: PageRequest, wanted: RunFilter = ALL_RUNS) -> Page[Run]:
        """Runs that the filter admits, newest first."""
        return page_newest_first(
            self._admitted(workspace, wanted), lambda run: (run.created_at, str(run.run_id)), request
        )

    async def count(self, workspace: WorkspaceRef, wanted: RunFilter = ALL_RUNS) -> int:
        """How many runs the filter admits."""
        return len(self._admitted(workspace, wanted))

    def _admitted(self, workspace: WorkspaceRef, wanted: RunFilter) -> tuple[Run, ...]:
        state = entered(self._store.committed, workspace)
        return () if state is None else tuple(run for run in state.runs.values() if wanted.admits(run))


def _has_thread(state: WorkspaceState, run: Run) -> bool:
    return any(one.thread == run.thread and one.subject == run.subject for one in state.runs.values())


def _is_known(state: WorkspaceState, run: Run) -> bool:
    if run.idempotency_key is not None:
        earlier = _under_key(state, run.idempotency_key)
        if earlier is not None and earlier.input_hash != run.input_hash:
            raise IdempotencyConflict(
                f"The idempotency key {run.idempotency_key!r} was used before with another input."
            )
        if earlier is not None:
            return True
    return run.run_id in state.runs


def _under_key(state: WorkspaceState, key: str) -> Run | None:
    return next((run for run in state.runs.values() if run.idempotency_key == key), None)
