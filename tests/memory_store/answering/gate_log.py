"""`answering.ports.GateLog` in memory."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from tests.memory_store.session.store import MemoryStore, entered

from agentic_rag.answering.feedback.feedback import Feedback
from agentic_rag.answering.gate.stored_decision import StoredDecision, decision_to_store
from agentic_rag.tenancy.principals import WorkspaceRef


class MemoryGateLog:
    """Decisions are those of the stored runs; feedback is that on them."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._feedback: dict[tuple[WorkspaceRef, UUID, str], Feedback] = {}

    async def decisions(
        self, workspace: WorkspaceRef, since: datetime, subject: str | None, most: int
    ) -> list[StoredDecision]:
        """Decisions of runs, newest first; only those of one subject when one is named."""
        state = entered(self._store.committed, workspace)
        held = [] if state is None else [run for run in state.runs.values() if subject in (None, run.subject)]
        found = [one for one in map(decision_to_store, held) if one is not None and one.decided_at >= since]
        return sorted(found, key=lambda one: (one.decided_at, str(one.run_id)), reverse=True)[:most]

    async def add_feedback(self, workspace: WorkspaceRef, feedback: Feedback) -> bool:
        """Keep it in place of what its subject said before; False where the run is not stored."""
        state = entered(self._store.committed, workspace)
        if state is None or feedback.run_id not in state.runs:
            return False
        self._feedback[workspace, feedback.run_id, feedback.subject] = feedback
        return True

    async def feedback_of(self, workspace: WorkspaceRef, run_id: UUID, subject: str | None) -> list[Feedback]:
        """What was said of a run, oldest first."""
        found = [one for one in self._stored(workspace) if one.run_id == run_id and subject in (None, one.subject)]
        return sorted(found, key=lambda one: (one.given_at, one.subject))

    async def feedback_since(
        self, workspace: WorkspaceRef, since: datetime, subject: str | None, most: int
    ) -> list[Feedback]:
        """What was said of runs that were made since then, newest first."""
        state = entered(self._store.committed, workspace)
        runs = {} if state is None else state.runs
        of = [one for one in self._stored(workspace) if runs[one.run_id].created_at >= since]
        found = [one for one in of if subject in (None, runs[one.run_id].subject)]
        ordered = sorted(sorted(found, key=lambda one: one.subject), key=lambda one: one.given_at, reverse=True)
        return ordered[:most]

    def _stored(self, workspace: WorkspaceRef) -> list[Feedback]:
        state = entered(self._store.committed, workspace)
        held = set[UUID]() if state is None else set(state.runs)
        return [one for (where, run, _), one in self._feedback.items() if where == workspace and run in held]
