"""Looks again and again how plans turn out, puts a bad one to rest, and says so."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from agentic_rag.answering.feedback.feedback import Feedback
from agentic_rag.answering.gate.evaluate import (
    IN_A_ROW,
    MOST_WINDOWS,
    PlanEvaluation,
    Standing,
    begun_rollbacks,
    evaluate_plans,
    find_slow_alone,
    find_tried_again,
)
from agentic_rag.answering.gate.rollback import Rollback
from agentic_rag.answering.gate.stored_decision import StoredDecision
from agentic_rag.answering.gate.windows import MOST_RUNS, OUTSIDE_PLANS
from agentic_rag.answering.gate_decision import PLAN_TYPES
from agentic_rag.answering.ports import GateLog
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.kernel.ttl_cache import TtlCache
from agentic_rag.tenancy.principals import WorkspaceRef

FRESH_SECONDS = 30.0
"""How old what a process knows of outcomes may be."""
MOST_WORKSPACES = 1024
HORIZON = timedelta(days=30)
"""Older outcomes say nothing of today."""
MOST_JUDGED = IN_A_ROW * MOST_RUNS
"""Runs of a plan by which it is put to rest, the newest: so many windows at least."""
MOST_SHOWN = MOST_WINDOWS * MOST_RUNS
"""Runs of a plan whose windows are shown."""
SLOW_SHARE = 0.8
"""Of the time that a run may take: a deploy whose p95 is beyond it is slow. Set by hand."""


class WatchOutcomes:
    """Judges what runs that looked outside were worth. `budget_seconds`: the time that a run may take."""

    def __init__(self, log: GateLog, clock: Clock, telemetry: Telemetry, *, deploy: str, budget_seconds: float) -> None:
        self._log = log
        self._clock = clock
        self._telemetry = telemetry
        self._deploy = deploy
        self._slow_seconds = SLOW_SHARE * budget_seconds
        self._known = TtlCache(self._look, clock, seconds=FRESH_SECONDS, most=MOST_WORKSPACES, goes_on=True)

    async def rollbacks(self, workspace: WorkspaceRef) -> tuple[Rollback, ...]:
        """The plans that the gate does without now. Errors: `DependencyUnavailable`."""
        now = self._clock.now()
        return tuple(one for one in await self._known.get(workspace) if one.holds(now, self._deploy))

    async def evaluate(self, workspace: WorkspaceRef) -> tuple[PlanEvaluation, ...]:
        """How the newest runs of each plan turned out, of those that read documents alone too. Errors:
        `DependencyUnavailable`.
        """
        return (await self._evaluate(workspace, PLAN_TYPES, MOST_SHOWN))[0]

    async def _look(self, workspace: WorkspaceRef, known: tuple[Rollback, ...] | None) -> tuple[Rollback, ...]:
        evaluated, standing = await self._evaluate(workspace, OUTSIDE_PLANS, MOST_JUDGED)
        begun = begun_rollbacks(evaluated, standing)
        for one in begun:
            await self._log.add_rollback(workspace, one)
        found = (*begun, *(one.rollback for one in evaluated if one.rollback is not None))
        before = find_tried_again(evaluated, standing) if known is None else known
        plans = {one.plan for one in found}
        self._tell(workspace, begun, [one for one in before if one.plan not in plans])
        return found

    async def _evaluate(
        self, workspace: WorkspaceRef, plans: Sequence[str], most: int
    ) -> tuple[tuple[PlanEvaluation, ...], Standing]:
        now = self._clock.now()
        since = now - HORIZON
        taken = [await self._newest(workspace, since, plan, most) for plan in plans]
        decisions = sorted((one for of in taken for one in of), key=lambda one: one.decided_at, reverse=True)
        rollbacks = await self._log.rollbacks(workspace, since)
        said: Sequence[Feedback] = ()
        if decisions:
            said = await self._log.feedback_on(workspace, [one.run_id for one in decisions])
        standing = Standing(now, self._deploy, self._slow_seconds, rollbacks)
        return evaluate_plans(decisions, said, standing), standing

    async def _newest(self, workspace: WorkspaceRef, since: datetime, plan: str, most: int) -> list[StoredDecision]:
        """The newest runs with a plan; where one deploy alone made them and is slow, some of those before it too, by
        which it is judged.
        """
        found = list(await self._log.decisions_of_plan(workspace, since, plan, most))
        if len(found) == most and (deploy := find_slow_alone(found, self._slow_seconds)) is not None:
            earlier = await self._log.decisions_of_plan(workspace, since, plan, MOST_RUNS, but_deploy=deploy)
            known = {one.run_id for one in found}
            found += [one for one in earlier if one.run_id not in known]
        return found

    def _tell(self, workspace: WorkspaceRef, begun: Sequence[Rollback], ended: Sequence[Rollback]) -> None:
        for one in begun:
            self._telemetry.count("rag_gate_rollbacks_total", plan_type=one.plan, cause=one.cause.value)
            self._telemetry.event(
                "rag_gate_rolled_back",
                level="warning",
                workspace=str(workspace.workspace_id),
                plan_type=one.plan,
                cause=one.cause.value,
                reason=one.reason,
                until=one.until.isoformat(),
                deploy=one.deploy,
            )
        for one in ended:
            self._telemetry.event(
                "rag_gate_tried_again",
                workspace=str(workspace.workspace_id),
                plan_type=one.plan,
                cause=one.cause.value,
                deploy=self._deploy,
            )
