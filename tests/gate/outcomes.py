"""Plans whose runs turn out badly: the gate does without them within two windows, and tries them again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

from agentic_rag.answering.feedback.feedback import Feedback, Rating
from agentic_rag.answering.gate.rollback import REST, Rollback
from agentic_rag.answering.gate.stored_decision import StoredDecision, decision_to_store
from agentic_rag.answering.gate.watch_outcomes import FRESH_SECONDS, WatchOutcomes
from agentic_rag.answering.gate.windows import RUNS
from agentic_rag.answering.gate_decision import DowngradeCause
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.outside import Outside, OutsideReport, OutsideRequest
from agentic_rag.answering.question import AnswerOptions, CacheMode
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.web_access import WebAccess
from tests.bench.reports import Row
from tests.gate.asked import OPEN, OUTSIDE, corpus
from tests.unit.answering.answering_world import World

BUDGET_SECONDS = 10.0
QUICK, SLOW = 1.0, 9.0
WINDOWS = 2
MOST = WINDOWS * RUNS + 1
"""Runs that are waited for until a plan comes to rest."""


@dataclass
class OutcomeLog:
    """What was decided and said, newest first, at the time of a clock that the runs move."""

    at: datetime = datetime(2026, 3, 1, tzinfo=UTC)
    kept: list[StoredDecision] = field(default_factory=list)
    said: list[Feedback] = field(default_factory=list)
    rested: list[Rollback] = field(default_factory=list)

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.at.timestamp()

    async def decisions_of_plan(
        self, workspace: WorkspaceRef, since: datetime, plan: str, most: int, *, but_deploy: str | None = None
    ) -> Sequence[StoredDecision]:
        return [one for one in self.kept if one.plan_type == plan and one.deploy != but_deploy][:most]

    async def feedback_on(self, workspace: WorkspaceRef, run_ids: Sequence[UUID]) -> Sequence[Feedback]:
        wanted = set(run_ids)
        return [one for one in self.said if one.run_id in wanted]

    async def rollbacks(self, workspace: WorkspaceRef, since: datetime) -> Sequence[Rollback]:
        return self.rested

    async def add_rollback(self, workspace: WorkspaceRef, rollback: Rollback) -> None:
        self.rested.insert(0, rollback)


class Callers:
    """They ask what no document answers, through the whole of answering, and say whether it helped."""

    def __init__(self, deploy: str = "1") -> None:
        self.log = OutcomeLog()
        self.dials = 0
        self.install(deploy)

    def install(self, deploy: str) -> None:
        """Start the process anew, as another deploy: it remembers nothing but the log."""

        async def look(request: OutsideRequest) -> OutsideReport:
            self.dials += 1
            return OutsideReport(searches=1)

        async def share_left(workspace: WorkspaceRef) -> float:
            return 1.0

        self.deploy = deploy
        log = cast("Any", self.log)
        world = World(corpus(), AnswerDefaults(gate=OPEN))
        watch = WatchOutcomes(log, log, world.telemetry, deploy=deploy, budget_seconds=BUDGET_SECONDS)
        self.world = World(corpus(), AnswerDefaults(gate=OPEN), outside=Outside(look, share_left, watch.rollbacks))
        self.world.corpus.organisation_allows_web, self.world.corpus.web = True, WebAccess(allow=True, care=1.0)
        self.watch, self.telemetry = watch, world.telemetry

    async def ask(self, rating: Rating, seconds: float = QUICK) -> tuple[DowngradeCause, ...]:
        """What lowered the plan of one run."""
        self.log.at += timedelta(seconds=2 * FRESH_SECONDS)
        run = await self.world.ask(OUTSIDE[0], options=AnswerOptions(cache=CacheMode.BYPASS))
        stored = decision_to_store(run, self.deploy)
        assert stored is not None
        gained = stored.gained is not None or None
        self.log.kept.insert(0, replace(stored, decided_at=self.log.at, seconds=seconds, gained=gained))
        self.log.said.insert(0, Feedback(run.run_id, "ada", self.log.at, rating))
        return tuple(one.cause for one in run.answer.gate.downgrades)

    async def until_rest(self, rating: Rating, seconds: float = QUICK) -> int:
        """Runs that looked outside before the plan came to rest; `MOST` where it does not."""
        for count in range(MOST):
            if await self.ask(rating, seconds):
                return count
        return MOST

    async def aclose(self) -> None:
        await self.world.recorder.aclose()


def dropped(short: bool) -> Row:
    """Callers stop being content."""
    runs, dials = asyncio.run(_drop())
    shown = f"{runs} runs, then {dials} dials"
    must = f"≤ {WINDOWS * RUNS} runs, 0 dials"
    return Row("satisfaction drop: back to the documents", shown, must, runs <= WINDOWS * RUNS and dials == 0)


async def _drop() -> tuple[int, int]:
    callers = Callers()
    for _ in range(RUNS):
        assert not await callers.ask(Rating.GOOD)
    runs = await callers.until_rest(Rating.BAD)
    callers.dials = 0
    for _ in range(5):
        await callers.ask(Rating.GOOD)
    await callers.aclose()
    return runs, callers.dials


def recovered(short: bool) -> Row:
    """A plan that has rested is tried again; what is still bad goes back sooner, what is good again stays."""
    still_bad, after = asyncio.run(_recover())
    shown = f"{still_bad} runs on trial, then {after} of {MOST}"
    ok = 0 < still_bad <= RUNS and after == MOST
    return Row("the same: tried again after a day", shown, f"≤ {RUNS}, then {MOST} of {MOST}", ok)


async def _recover() -> tuple[int, int]:
    callers = Callers()
    await callers.until_rest(Rating.BAD)
    callers.log.at += REST
    still_bad = await callers.until_rest(Rating.BAD)
    callers.log.at += REST
    after = await callers.until_rest(Rating.GOOD)
    await callers.aclose()
    return still_bad, after


def slowed(short: bool) -> Row:
    """Two deploys in a row are slow; the third is not."""
    first, second, third = asyncio.run(_slow_deploys())
    shown = f"{first}, {second}, {third}"
    ok = first == MOST and second <= WINDOWS * RUNS and third == MOST
    name = f"slow deploys: runs until back, of {MOST}; a deploy that is quick again"
    return Row(name, shown, f"{MOST}, ≤ {WINDOWS * RUNS}, {MOST}", ok)


async def _slow_deploys() -> tuple[int, int, int]:
    callers = Callers("2026-02-01")
    for _ in range(RUNS):
        await callers.ask(Rating.GOOD)
    await callers.aclose()
    found: list[int] = []
    for deploy, seconds in (("2026-03-01", SLOW), ("2026-03-02", SLOW), ("2026-03-03", QUICK)):
        callers.install(deploy)
        found.append(await callers.until_rest(Rating.GOOD, seconds))
        await callers.aclose()
    first, second, third = found
    return first, second, third
