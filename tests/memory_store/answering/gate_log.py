"""`answering.ports.GateLog` in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from tests.memory_store.session.store import MemoryStore, entered

from agentic_rag.answering.feedback.feedback import Feedback, FeedbackKind
from agentic_rag.answering.gate.rollback import Rollback
from agentic_rag.answering.gate.stored_decision import StoredDecision, decision_to_store
from agentic_rag.answering.ports import MOST_LOOKED_THROUGH
from agentic_rag.tenancy.principals import WorkspaceRef


class MemoryGateLog:
    """Decisions are those of the stored runs; feedback is that on them."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._feedback: dict[tuple[WorkspaceRef, UUID, str, FeedbackKind], Feedback] = {}
        self._rollbacks: list[tuple[WorkspaceRef, Rollback]] = []

    async def decisions(
        self,
        workspace: WorkspaceRef,
        since: datetime,
        subject: str | None,
        most: int,
        *,
        mode: str | None = None,
    ) -> list[StoredDecision]:
        """Decisions of runs, newest first; only those of one subject or mode when one is named."""
        state = entered(self._store.committed, workspace)
        held = [] if state is None else [run for run in state.runs.values() if subject in (None, run.subject)]
        found = [one for one in map(decision_to_store, held) if one is not None and one.decided_at >= since]
        found = [one for one in found if mode in (None, one.mode)]
        return sorted(found, key=lambda one: (one.decided_at, str(one.run_id)), reverse=True)[:most]

    async def decisions_of_plan(
        self, workspace: WorkspaceRef, since: datetime, plan: str, most: int, *, but_deploy: str | None = None
    ) -> list[StoredDecision]:
        """Those with a plan, of other deploys."""
        found = await self.decisions(workspace, since, None, MOST_LOOKED_THROUGH)
        return [one for one in found if one.plan_type == plan and one.deploy != but_deploy][:most]

    async def rollbacks(self, workspace: WorkspaceRef, since: datetime) -> list[Rollback]:
        """Those that began since then, newest first."""
        kept = [one for where, one in self._rollbacks if where == workspace and one.began_at >= since]
        return sorted(sorted(kept, key=lambda one: one.plan), key=lambda one: one.began_at, reverse=True)

    async def add_rollback(self, workspace: WorkspaceRef, rollback: Rollback) -> None:
        """Keep it, unless one of the same plan and deploy holds then."""
        kept = (one for where, one in self._rollbacks if (where, one.plan) == (workspace, rollback.plan))
        if not any(one.holds(rollback.began_at, rollback.deploy) and one.began_at <= rollback.began_at for one in kept):
            self._rollbacks.append((workspace, rollback))

    async def add_feedback(self, workspace: WorkspaceRef, feedback: Feedback) -> bool:
        """Keep it in place of what its subject said before; False where the run is not stored."""
        state = entered(self._store.committed, workspace)
        if state is None or feedback.run_id not in state.runs:
            return False
        key = (workspace, feedback.run_id, feedback.subject, feedback.kind)
        if feedback.kind is not FeedbackKind.SAID and key in self._feedback:
            return False
        self._feedback[key] = feedback
        return True

    async def feedback_of(self, workspace: WorkspaceRef, run_id: UUID, subject: str | None) -> list[Feedback]:
        """What was said of a run, oldest first."""
        of = [one for one in self._stored(workspace) if one.run_id == run_id and one.kind is FeedbackKind.SAID]
        found = [one for one in of if subject in (None, one.subject)]
        return sorted(found, key=lambda one: (one.given_at, one.subject))

    async def feedback_on(self, workspace: WorkspaceRef, run_ids: Sequence[UUID]) -> list[Feedback]:
        """What was said of these runs, newest first."""
        found = [one for one in self._stored(workspace) if one.run_id in run_ids]
        return sorted(sorted(found, key=lambda one: one.subject), key=lambda one: one.given_at, reverse=True)

    def _stored(self, workspace: WorkspaceRef) -> list[Feedback]:
        state = entered(self._store.committed, workspace)
        held = set[UUID]() if state is None else set(state.runs)
        return [one for (where, run, _, _), one in self._feedback.items() if where == workspace and run in held]
