"""Shows the gate: how it stands in a workspace, what it decided, and what it would decide."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agentic_rag.answering.ask import AnswerQuestion
from agentic_rag.answering.gate.captured import CapturedCase, captured_cases
from agentic_rag.answering.gate.decide import GateRules, lower
from agentic_rag.answering.gate.evaluate import PlanEvaluation
from agentic_rag.answering.gate.policy import WebPolicy
from agentic_rag.answering.gate.replay import GateReplay, replay_decisions
from agentic_rag.answering.gate.report import GateReport, report_decisions
from agentic_rag.answering.gate.stored_decision import StoredDecision
from agentic_rag.answering.gate.watch_outcomes import WatchOutcomes
from agentic_rag.answering.gate.weights import IN_FORCE, weights_for
from agentic_rag.answering.gate_decision import Downgrade, GateDecision
from agentic_rag.answering.options import validate
from agentic_rag.answering.ports import GateLog
from agentic_rag.answering.question import CacheMode, Question
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.kernel.clock import with_zone
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import MissingProviderKey, no_such_workspace
from agentic_rag.tenancy.access import only_subject, read_identity
from agentic_rag.tenancy.principals import Principal, WorkspaceRef

MOST_DECISIONS = 10_000
"""Of a report or a replay, the newest: about 30 MB while they are read."""


@dataclass(frozen=True, slots=True)
class GateStatus:
    """How the gate stands in a workspace."""

    mode: str
    weights_version: str
    care: float
    thresholds: Mapping[str, float]
    """At the workspace's `care`."""
    downgrades: tuple[Downgrade, ...]
    """What lowers every plan that looks outside, as things stand."""


class ObserveGate:
    """Callers see the decisions of the runs that they may see: their own, and admins all. `answer` makes the use case
    that stores no run; `share_left` tells what is left of the envelope for looking outside, 0 to 1.
    """

    def __init__(
        self,
        database: Database,
        log: GateLog,
        runs: ReadRuns,
        answer: Callable[[], AnswerQuestion],
        rules: GateRules,
        outcomes: WatchOutcomes,
        share_left: Callable[[WorkspaceRef], Awaitable[float]] | None = None,
    ) -> None:
        self._database = database
        self._log = log
        self._runs = runs
        self._answer = answer
        self._rules = rules
        self._outcomes = outcomes
        self._share_left = share_left

    async def status(self, principal: Principal, workspace: WorkspaceRef) -> GateStatus:
        """Errors: `NotFound` (workspace), `DependencyUnavailable`."""
        head = await self._database.head(workspace, read_identity(principal))
        if head is None:
            raise no_such_workspace()
        policy = WebPolicy(head.organisation_allows_web, head.web.allow)
        rollbacks = await self._outcomes.rollbacks(workspace)
        left = await self._share_of_budget(workspace)
        rules = replace(self._rules, policy=policy, care=head.web.care, rollbacks=rollbacks, budget_left=left)
        weights = weights_for(workspace.workspace_id, rules.trial)
        return GateStatus(
            mode=rules.mode,
            weights_version=weights.version,
            care=rules.care,
            thresholds=weights.thresholds(rules.care),
            downgrades=lower("full_loop", rules),
        )

    async def _share_of_budget(self, workspace: WorkspaceRef) -> float:
        """1 where nothing is spent on the web, or where runs end before: the key of the provider is missing."""
        if self._share_left is None:
            return 1.0
        try:
            return await self._share_left(workspace)
        except MissingProviderKey:
            return 1.0

    async def decide(self, principal: Principal, question: Question) -> GateDecision:
        """What the gate decides about a question that is answered by rules for this alone: nothing is stored, and no
        chat model is asked. In mode `off` as in `shadow`. Errors: those of `AnswerQuestion.ask`.
        """
        validate(question)
        if question.after is not None or question.thread is not None:
            question = (await self._runs.add_turns(principal, question)).question
        options = replace(question.options, cache=CacheMode.BYPASS)
        run = await self._answer().ask(principal, replace(question, idempotency_key=None, thread=None, options=options))
        return run.answer.gate

    async def report(
        self, principal: Principal, workspace: WorkspaceRef, since: datetime, mode: str | None = None
    ) -> GateReport:
        """What the stored decisions, or those of one mode, add up to, with what was said of their runs. Errors:
        `DependencyUnavailable`.
        """
        found, is_complete = await self._decisions(principal, workspace, since, mode)
        said = await self._log.feedback_on(workspace, [one.run_id for one in found])
        return report_decisions(found, said, is_complete=is_complete)

    async def evaluation(self, workspace: WorkspaceRef) -> Sequence[PlanEvaluation]:
        """How runs turned out, plan by plan, of the last `HORIZON`. For those who manage the workspace. Errors:
        `DependencyUnavailable`.
        """
        return await self._outcomes.evaluate(workspace)

    async def cases(self, workspace: WorkspaceRef, since: datetime) -> list[CapturedCase]:
        """Decisions of all callers of which it is known what a search was worth, the newest first. For those who manage
        the workspace. Errors: `DependencyUnavailable`.
        """
        found = await self._log.decisions(workspace, with_zone(since), None, MOST_DECISIONS)
        said = await self._log.feedback_on(workspace, [one.run_id for one in found])
        return captured_cases(found, said, IN_FORCE.weights.keys())

    async def replay(self, principal: Principal, workspace: WorkspaceRef, since: datetime) -> GateReplay:
        """The stored decisions with the weights in force. Errors: `DependencyUnavailable`."""
        found, is_complete = await self._decisions(principal, workspace, since)
        return replay_decisions(found, IN_FORCE, is_complete=is_complete)

    async def _decisions(
        self, principal: Principal, workspace: WorkspaceRef, since: datetime, mode: str | None = None
    ) -> tuple[list[StoredDecision], bool]:
        """The newest ones, and whether these are all. `since` without a zone is in UTC."""
        found = await self._log.decisions(workspace, *_seen(principal, since), MOST_DECISIONS + 1, mode=mode)
        return list(found[:MOST_DECISIONS]), len(found) <= MOST_DECISIONS


def _seen(principal: Principal, since: datetime) -> tuple[datetime, str | None]:
    """The instant, and the one subject whose runs the caller may see, if not all."""
    return with_zone(since), only_subject(principal)
