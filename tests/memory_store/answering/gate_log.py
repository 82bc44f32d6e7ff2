"""`answering.ports.GateLog` in memory."""

from __future__ import annotations

from datetime import datetime

from tests.memory_store.session.store import MemoryStore, entered

from agentic_rag.answering.gate.stored_decision import StoredDecision, decision_to_store
from agentic_rag.tenancy.principals import WorkspaceRef


class MemoryGateLog:
    """Decisions are those of the stored runs."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def decisions(
        self, workspace: WorkspaceRef, since: datetime, subject: str | None, most: int
    ) -> list[StoredDecision]:
        """Decisions of runs, newest first; only those of one subject when one is named."""
        state = entered(self._store.committed, workspace)
        held = [] if state is None else [run for run in state.runs.values() if subject in (None, run.subject)]
        found = [one for one in map(decision_to_store, held) if one is not None and one.decided_at >= since]
        return sorted(found, key=lambda one: (one.decided_at, str(one.run_id)), reverse=True)[:most]
