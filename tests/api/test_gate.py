"""The gate over GraphQL: its decisions, reports of them, and what callers say of their runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

from agentic_rag.answering.feedback.feedback import Feedback, Rating
from agentic_rag.answering.feedback.give_feedback import GiveFeedback
from agentic_rag.answering.gate.decide import GateRules, decide
from agentic_rag.answering.gate.observe import MOST_DECISIONS, ObserveGate
from agentic_rag.answering.gate.rollback import Rollback
from agentic_rag.answering.gate.stored_decision import StoredDecision, decision_to_store
from agentic_rag.answering.gate.watch_outcomes import WatchOutcomes
from agentic_rag.answering.gate.weights import HEURISTIC_WEIGHTS
from agentic_rag.answering.gate_decision import DowngradeCause
from agentic_rag.answering.outside import OutsideReport
from agentic_rag.answering.question import CacheMode
from agentic_rag.answering.run import Run
from agentic_rag.kernel.errors import MissingProviderKey
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.web_access import WebAccess
from agentic_rag.workspaces.workspace import CorpusHead
from tests.api.builders import NOW, REF, WORKSPACE, Container, FakeAnswer, a_run, numbered, query
from tests.memory_store.telemetry import RecordingTelemetry
from tests.set_clock import SetClock
from tests.unit.answering.test_gate import ANSWERED, OPEN, UNANSWERED
from tests.unit.answering.test_gate_decisions import HEAVIER, PLAIN

SHADOW = GateRules(mode="shadow", can_search=True, can_crawl=True)


def judged(number: int = 500, rules: GateRules = OPEN) -> Run:
    run = a_run()
    gate = decide(PLAIN, UNANSWERED, replace(rules, policy=OPEN.policy), weights=HEURISTIC_WEIGHTS)
    return replace(run, run_id=numbered(number), answer=replace(run.answer, gate=gate))


@dataclass
class FakeLog:
    kept: Sequence[StoredDecision] = ()
    asked: list[tuple[WorkspaceRef, datetime, str | None, int]] = field(default_factory=list)
    said: Sequence[Feedback] = ()
    rested: Sequence[Rollback] = ()

    async def decisions(
        self,
        workspace: WorkspaceRef,
        since: datetime,
        subject: str | None,
        most: int,
        *,
        mode: str | None = None,
    ) -> Sequence[StoredDecision]:
        self.asked.append((workspace, since, subject, most))
        return [one for one in self.kept if mode in (None, one.mode)][:most]

    async def decisions_of_plan(
        self, workspace: WorkspaceRef, since: datetime, plan: str, most: int, *, but_deploy: str | None = None
    ) -> Sequence[StoredDecision]:
        return [one for one in self.kept if one.plan_type == plan and one.deploy != but_deploy][:most]

    async def feedback_on(self, workspace: WorkspaceRef, run_ids: Sequence[UUID]) -> Sequence[Feedback]:
        return [one for one in self.said if one.run_id in run_ids]

    async def rollbacks(self, workspace: WorkspaceRef, since: datetime) -> Sequence[Rollback]:
        return self.rested

    async def add_rollback(self, workspace: WorkspaceRef, rollback: Rollback) -> None:
        self.rested = [rollback, *self.rested]

    async def add_feedback(self, workspace: WorkspaceRef, feedback: Feedback) -> bool:
        self.said = [feedback]
        return True

    async def feedback_of(self, workspace: WorkspaceRef, run_id: UUID, subject: str | None) -> Sequence[Feedback]:
        return self.said


@dataclass
class FakeHeads:
    async def head(self, workspace: WorkspaceRef, readers: object) -> CorpusHead | None:
        allowed = WebAccess(allow=False, care=0.75)
        return CorpusHead(7, None, web=allowed, organisation_allows_web=True) if workspace == REF else None


def gate(log: FakeLog | None = None, answer: FakeAnswer | None = None, left: float | None = None) -> ObserveGate:
    made = answer or FakeAnswer(judged())
    kept = log or FakeLog()
    outcomes = WatchOutcomes(kept, SetClock(), RecordingTelemetry(), deploy="1", budget_seconds=10.0)
    heads, runs = cast("Any", FakeHeads()), cast("Any", None)

    async def share_left(workspace: WorkspaceRef) -> float:
        if left is None:
            raise MissingProviderKey("No key of the embedding provider.")
        return left

    return ObserveGate(heads, kept, runs, lambda: cast("Any", made), SHADOW, outcomes, share_left)


def stored(*runs: Run) -> list[StoredDecision]:
    return [one for run in runs if (one := decision_to_store(run)) is not None]


REPORT = """
query($id: ID!, $since: DateTime!, $mode: JudgingMode) {
  gateReport(workspaceId: $id, since: $since, mode: $mode) {
    runs isComplete total { name runs share p50Seconds hitRate costUsd } byPlan { name runs } byIntent { name runs }
    byMode { name runs p95Seconds } causes { cause runs }
  }
}
"""
REPLAY = """
query($id: ID!, $since: DateTime!) {
  gateReplay(workspaceId: $id, since: $since) {
    weightsVersion runs unreadable isComplete differences { runId weightsVersion planBefore planAfter }
  }
}
"""
SINCE = {"id": encode_workspace(WORKSPACE), "since": "2026-11-01T00:00:00+00:00"}


async def test_a_dry_run_answers_for_nothing_but_its_decision() -> None:
    answer = FakeAnswer(judged())
    asked = {"workspaceId": encode_workspace(WORKSPACE), "question": "Which?", "idempotencyKey": "once"}
    wanted = """
    query($input: RagAnswerInput!) {
      gateDecision(input: $input) {
        decision { planType planned intent mode counterfactuals { plan distance explanation changes { name bound } } }
        userErrors { code }
      }
    }"""

    found = (await query(Container(gate=gate(answer=answer)), wanted, {"input": asked}))["data"]["gateDecision"]

    ((_, question),) = answer.asked
    assert (question.options.cache, question.idempotency_key) == (CacheMode.BYPASS, None)
    decision = found["decision"]
    assert (decision["planType"], decision["planned"], decision["intent"]) == ("FULL_LOOP", "FULL_LOOP", "lookup")
    search = decision["counterfactuals"][0]
    assert search["plan"] == "SEARCH"
    assert search["distance"] > 0
    assert {"name": "sufficiency", "bound": "AT_LEAST"} in search["changes"]


async def test_a_question_that_cannot_be_asked_is_refused_in_the_payload() -> None:
    asked = {"workspaceId": encode_workspace(WORKSPACE), "question": " "}
    wanted = "query($input: RagAnswerInput!) { gateDecision(input: $input) { decision { mode } userErrors { code } } }"

    found = (await query(Container(gate=gate()), wanted, {"input": asked}))["data"]["gateDecision"]

    assert found == {"decision": None, "userErrors": [{"code": "QUESTION_EMPTY"}]}


async def test_the_state_of_the_gate_names_each_level_that_closes_the_web() -> None:
    wanted = """
    query($id: ID!) {
      gateStatus(workspaceId: $id) { mode care thresholds { name value } downgrades { from to cause } }
    }"""

    found = (await query(Container(gate=gate()), wanted, {"id": SINCE["id"]}))["data"]["gateStatus"]

    assert (found["mode"], found["care"]) == ("shadow", 0.75)
    assert found["thresholds"] == [{"name": "full_loop", "value": 0.425}, {"name": "search", "value": 0.075}]
    assert [one["cause"] for one in found["downgrades"]] == ["WORKSPACE", "MODE"]


async def test_the_state_of_the_gate_tells_a_spent_envelope_and_not_one_that_nobody_can_tell() -> None:
    wanted = "query($id: ID!) { gateStatus(workspaceId: $id) { downgrades { cause } } }"

    told = [
        (await query(Container(gate=gate(left=left)), wanted, {"id": SINCE["id"]}))["data"]["gateStatus"]["downgrades"]
        for left in (0.0, 0.01, None)
    ]

    assert [[one["cause"] for one in ones] for ones in told] == [
        ["WORKSPACE", "BUDGET", "MODE"],
        ["WORKSPACE", "MODE"],
        ["WORKSPACE", "MODE"],
    ]


async def test_a_report_is_of_the_decisions_since_then() -> None:
    log = FakeLog(stored(judged(1, SHADOW), judged(2, SHADOW)))

    found = (await query(Container(gate=gate(log)), REPORT, SINCE))["data"]["gateReport"]

    ((workspace, since, _, most),) = log.asked
    assert (workspace, since, most) == (REF, datetime(2026, 11, 1, tzinfo=UTC), MOST_DECISIONS + 1)
    assert (found["runs"], found["isComplete"]) == (2, True)
    assert found["byPlan"] == [{"name": "full_loop", "runs": 2}]
    assert found["byIntent"] == [{"name": "lookup", "runs": 2}]
    assert found["causes"] == [{"cause": "MODE", "runs": 2}]
    assert found["total"]["share"] == 1.0


async def test_a_base_line_is_the_report_of_the_runs_that_were_only_watched() -> None:
    log = FakeLog(stored(judged(1, SHADOW), judged(2), judged(3)))

    whole, base = [
        (await query(Container(gate=gate(log)), REPORT, SINCE | mode))["data"]["gateReport"]
        for mode in ({}, {"mode": "SHADOW"})
    ]

    assert [(one["name"], one["runs"]) for one in whole["byMode"]] == [("shadow", 1), ("on", 2)]
    assert (base["runs"], [one["name"] for one in base["byMode"]]) == (1, ["shadow"])


async def test_a_report_of_too_many_decisions_says_that_it_left_some_out() -> None:
    (one,) = stored(judged())

    found = (await query(Container(gate=gate(FakeLog([one] * (MOST_DECISIONS + 5)))), REPORT, SINCE))["data"]

    assert (found["gateReport"]["runs"], found["gateReport"]["isComplete"]) == (MOST_DECISIONS, False)


async def test_a_replay_names_the_run_of_each_decision_that_differs() -> None:
    same = judged(1)
    same = replace(same, answer=replace(same.answer, gate=decide(PLAIN, ANSWERED, OPEN)))
    moved = judged(2)
    gate_then = decide(PLAIN, ANSWERED, OPEN, weights=HEAVIER)
    moved = replace(moved, answer=replace(moved.answer, gate=gate_then))

    found = (await query(Container(gate=gate(FakeLog(stored(same, moved)))), REPLAY, SINCE))["data"]["gateReplay"]

    assert (found["runs"], found["unreadable"]) == (2, 0)
    assert found["differences"] == [
        {
            "runId": encode(NodeKind.RUN, WORKSPACE, numbered(2)),
            "weightsVersion": "gate-test",
            "planBefore": "RETRIEVE",
            "planAfter": "RETRIEVE",
        }
    ]


async def test_an_unknown_workspace_has_no_gate() -> None:
    elsewhere = {**SINCE, "id": encode_workspace(numbered(99))}

    body = await query(Container(gate=gate()), REPORT, elsewhere)

    assert body["errors"][0]["extensions"]["code"] == "WORKSPACE_NOT_FOUND"


SUBMIT = """
mutation($input: SubmitFeedbackInput!) {
  submitFeedback(input: $input) {
    feedback { runId rating reason taskOutcome chunkIds precision } userErrors { code path }
  }
}
"""
SAID = "query($id: ID!) { run(id: $id) { feedback { rating subject } } }"


async def test_what_a_caller_says_of_a_run_is_stored_and_shown_with_it() -> None:
    run = a_run()
    product, log = Container(), FakeLog()
    product.feedback = GiveFeedback(log, product.read_runs, SetClock(), RecordingTelemetry())
    run_id = encode(NodeKind.RUN, WORKSPACE, run.run_id)
    chunk = encode(NodeKind.CHUNK, WORKSPACE, run.answer.citations[0].chunk_id)
    asked = {"runId": run_id, "rating": "BAD", "reason": "OUTDATED", "chunkIds": [chunk], "taskOutcome": "FAILED"}

    given = (await query(product, SUBMIT, {"input": asked}))["data"]["submitFeedback"]
    shown = (await query(product, SAID, {"id": run_id}))["data"]["run"]["feedback"]
    elsewhere = encode(NodeKind.CHUNK, numbered(99), run.answer.citations[0].chunk_id)
    refused = (await query(product, SUBMIT, {"input": {**asked, "chunkIds": [elsewhere]}}))["data"]["submitFeedback"]

    unknown = {**asked, "runId": encode(NodeKind.RUN, WORKSPACE, numbered(98))}
    hidden = [
        (await query(product, SUBMIT, {"input": {**unknown, "chunkIds": [one]}}))["data"]["submitFeedback"]
        for one in (chunk, elsewhere)
    ]

    assert given["userErrors"] == []
    assert [one["userErrors"] for one in hidden] == [[{"code": "RUN_NOT_FOUND", "path": []}]] * 2
    assert given["feedback"] == {**asked, "precision": 0.5}
    assert shown == [{"rating": "BAD", "subject": log.said[0].subject}]
    assert refused == {"feedback": None, "userErrors": [{"code": "FEEDBACK_INVALID", "path": ["chunkIds"]}]}


EVALUATION = """
query($id: ID!) {
  gateEvaluation(workspaceId: $id) {
    plan isOnTrial windows { runs satisfaction freshnessGain externalCalls fault } deploys { deploy runs isSlow }
    rollback { cause reason until }
  }
}
"""


async def test_an_evaluation_shows_windows_deploys_and_what_rests() -> None:
    run = judged()
    run = replace(run, answer=replace(run.answer, outside=OutsideReport(searches=1, pages=2)))
    kept = [replace(one, run_id=numbered(place), deploy="1") for place in range(20) for one in stored(run)]
    log = FakeLog(kept, said=[Feedback(numbered(place), "ada", NOW, Rating.BAD) for place in range(20)])
    log.rested = [Rollback("search", DowngradeCause.LATENCY, "95 % took up to 9.0 s", NOW + timedelta(hours=1), "1")]

    found = (await query(Container(gate=gate(log)), EVALUATION, {"id": SINCE["id"]}))["data"]["gateEvaluation"]

    search, full_loop = found
    assert (search["plan"], search["windows"], search["rollback"]["cause"]) == ("SEARCH", [], "LATENCY")
    assert full_loop["deploys"] == [{"deploy": "1", "runs": 20, "isSlow": False}]
    (window,) = full_loop["windows"]
    assert (window["runs"], window["satisfaction"], window["externalCalls"]) == (20, 0.0, 3.0)
    assert (window["fault"], full_loop["rollback"], full_loop["isOnTrial"]) == ("SATISFACTION", None, False)


async def test_an_evaluation_takes_the_role_admin() -> None:
    body = await query(Container(gate=gate()), EVALUATION, {"id": SINCE["id"]}, token="member-token")

    assert body["errors"][0]["extensions"]["code"] == "FORBIDDEN"
