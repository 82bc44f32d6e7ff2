"""`rag gate`: what a person sees, and what a script can rely on."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

from tests.unit.answering.test_gate import ANSWERED, OPEN, UNANSWERED
from tests.unit.answering.test_gate_decisions import HEAVIER, PLAIN
from tests.unit.cli.product import HANDBOOK, Product, Terminal, answered
from tests.unit.eval.test_gate_learning import cases

from agentic_rag.answering.feedback.feedback import FeedbackReason, Rating, TaskOutcome
from agentic_rag.answering.gate.decide import GateRules, decide
from agentic_rag.answering.gate.weights import HEURISTIC_WEIGHTS, IN_FORCE
from agentic_rag.answering.outside import OutsideReport
from agentic_rag.answering.run import Run
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.models.billing.limits import Ceiling
from agentic_rag.models.billing.manage_budgets import UsageReport
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.output import gate_view
from agentic_rag_eval.gate_cases import load_cases, save_cases
from agentic_rag_eval.gate_model import weights_json

RUN_ID = encode(NodeKind.RUN, HANDBOOK.workspace_id, UUID(int=500))
QUESTION = "Who signs?"


def judged(rules: GateRules = OPEN) -> Run:
    run = answered()
    return replace(run, answer=replace(run.answer, gate=decide(PLAIN, ANSWERED, rules, weights=HEURISTIC_WEIGHTS)))


def terminal(run: Run | None = None) -> Terminal:
    return Terminal(Product(answers={QUESTION: judged() if run is None else run}), {})


def test_a_decision_is_told_with_its_addends_and_what_would_change_it() -> None:
    shown = terminal().rag("gate", "explain", RUN_ID)

    assert shown.exit_code == 0
    assert "Q: Who signs?\nPlan: retrieve, score -0.110, mode on, weights gate-heuristic-3\n" in shown.stdout
    rows = [line.split() for line in shown.stdout.splitlines()]
    assert ["base", "1.000", "+1.5", "+1.500"] in rows
    assert not any(row[:1] == ["chit_chat"] for row in rows)
    assert "full_loop from 0.55: short by 0.66; would if sufficiency were ≤ 0.19\n" in shown.stdout


def test_a_question_is_decided_about_without_a_run() -> None:
    product = Product(answers={QUESTION: judged()})

    found = json.loads(Terminal(product, {}).rag("gate", "explain", "--question", QUESTION, "--json").stdout)

    assert (found["runId"], found["planType"], found["planned"]) == (None, "retrieve", "retrieve")
    assert [one["plan"] for one in found["counterfactuals"]] == ["search", "full_loop"]
    assert [one.text for one in product.asked] == [QUESTION]


def test_a_run_of_before_is_told_as_not_judged() -> None:
    shown = terminal(answered()).rag("gate", "explain", RUN_ID)

    assert "The run was not judged after its answer." in shown.stdout


def test_one_of_a_run_and_a_question_is_explained() -> None:
    neither = terminal().rag("gate", "explain")
    both = terminal().rag("gate", "explain", RUN_ID, "--question", QUESTION)
    unknown = terminal().rag("gate", "explain", encode(NodeKind.RUN, HANDBOOK.workspace_id, UUID(int=1)))

    assert [one.exit_code for one in (neither, both, unknown)] == [2, 2, 1]
    assert "RUN_NOT_FOUND" in unknown.stderr


def test_the_state_of_the_gate_says_what_keeps_runs_from_the_web() -> None:
    shown = terminal().rag("gate", "status")

    assert shown.exit_code == 0
    assert f"mode on, weights {IN_FORCE.version}\ncare 0.5: full_loop from 0.55, search from 0.2\n" in shown.stdout
    assert "(ORGANISATION)" in shown.stdout
    assert "(NO_SEARCH)" in shown.stdout


def test_a_report_has_a_row_for_each_plan_and_intent() -> None:
    shown = terminal(judged(replace(OPEN, care=0.0))).rag("gate", "report", "--since", "2020-01-01")

    rows = [line.split() for line in shown.stdout.splitlines()]
    assert ["retrieve", "1", "100", "%"] in [row[:4] for row in rows]
    assert ["lookup", "1", "100", "%"] in [row[:4] for row in rows]


def test_a_report_of_one_mode_leaves_the_others_out() -> None:
    told = [
        terminal(judged()).rag("gate", "report", "--since", "2020-01-01", "--mode", mode).stdout
        for mode in ("on", "shadow")
    ]

    assert "lookup" in told[0]
    assert told[1] == "No decision since then.\n"


def test_a_report_of_no_decision_says_so() -> None:
    shown = terminal(answered()).rag("gate", "report", "--since", "2020-01-01")

    assert (shown.exit_code, shown.stdout) == (0, "No decision since then.\n")


def test_a_replay_names_the_runs_that_are_decided_otherwise() -> None:
    run = judged()
    run = replace(run, answer=replace(run.answer, gate=decide(PLAIN, ANSWERED, OPEN)))
    moved = replace(run, answer=replace(run.answer, gate=decide(PLAIN, ANSWERED, OPEN, weights=HEAVIER)))

    same = terminal(run).rag("gate", "replay", "--since", "2020-01-01")
    found = json.loads(terminal(moved).rag("gate", "replay", "--since", "2020-01-01", "--json").stdout)

    assert same.stdout == f"1 decision taken again with {IN_FORCE.version}: 0 differ.\n"
    assert [(one["runId"], one["planBefore"], one["planAfter"]) for one in found["differences"]] == [
        (RUN_ID, "retrieve", "retrieve")
    ]


def test_what_is_learned_is_told_and_written(tmp_path: Path) -> None:
    save_cases(tmp_path / "cases.jsonl", cases())

    shown = terminal().rag("gate", "learn", str(tmp_path / "cases.jsonl"), "--out", str(tmp_path / "models"), "--json")

    told = json.loads(shown.stdout)
    assert shown.exit_code == 0
    assert (told["cases"], told["split"]) == (120, "set")
    assert Path(told["folder"]) == tmp_path / "models" / told["version"]
    assert sorted(one.name for one in Path(told["folder"]).iterdir()) == [
        "metrics.json", "model.json", "reliability.svg",
    ]  # fmt: skip


def test_weights_in_force_are_judged_by_their_models_of_the_folder_that_never_saw_the_set(tmp_path: Path) -> None:
    save_cases(tmp_path / "cases.jsonl", cases())
    silent = weights_json(replace(IN_FORCE, weights={**IN_FORCE.weights, "base": -9.0}))
    model = tmp_path / "models" / IN_FORCE.version / "model.json"
    model.parent.mkdir(parents=True)
    model.write_text(json.dumps({"left_out": dict.fromkeys(("a", "b", "c"), silent)}))

    told = [
        json.loads(terminal().rag("gate", "learn", str(tmp_path / "cases.jsonl"), "--out", str(out), "--json").stdout)
        for out in (tmp_path / "models", tmp_path / "others")
    ]

    assert [one["in_force"]["calls"] > 0 for one in told] == [False, True]


def test_cases_of_one_set_alone_are_refused(tmp_path: Path) -> None:
    save_cases(tmp_path / "cases.jsonl", cases(("a",)))

    shown = terminal().rag("gate", "learn", str(tmp_path / "cases.jsonl"), "--out", str(tmp_path / "models"))

    assert shown.exit_code == 2
    assert "one set alone" in shown.stderr
    assert not (tmp_path / "models").exists()


def test_a_run_is_rated_by_the_numbers_of_its_citations() -> None:
    run = answered()
    product = Product(answers={QUESTION: run})
    at = Terminal(product, {})

    rated = at.rag("run", "rate", RUN_ID, "--bad", "--reason", "outdated", "--useful", "1", "--task", "failed")
    unknown = at.rag("run", "rate", RUN_ID, "--good", "--useful", "9")
    neither = at.rag("run", "rate", RUN_ID)

    assert (rated.exit_code, rated.stdout.split(";")[0]) == (0, "Rated BAD")
    (said,) = product.said
    assert (said.rating, said.reason, said.task_outcome) == (Rating.BAD, FeedbackReason.OUTDATED, TaskOutcome.FAILED)
    assert said.chunk_ids == (run.answer.citations[0].chunk_id,)
    assert (unknown.exit_code, "no citation [9]" in unknown.stderr) == (2, True)
    assert neither.exit_code == 2


def test_a_report_shows_what_was_said_of_runs() -> None:
    run = judged()
    at = Terminal(Product(answers={QUESTION: run}), {})
    at.rag("run", "rate", RUN_ID, "--good")

    shown = at.rag("gate", "report", "--since", "2020-01-01")

    rows = [line.split() for line in shown.stdout.splitlines()]
    assert ["1", "100", "%", "–"] in [row[-4:] for row in rows]


def test_an_evaluation_says_when_no_window_is_full_yet() -> None:
    shown = terminal().rag("gate", "evaluation")

    assert (shown.exit_code, shown.stdout) == (0, "No window is full yet.\n")


def test_an_evaluation_has_a_row_for_each_window_and_names_what_rests() -> None:
    window = {
        "first": "2026-11-26T08:00:00+00:00", "last": "2026-11-27T09:30:00+00:00", "runs": 20, "feedback": 8.25,
        "satisfaction": 0.5, "freshnessGain": 0.75, "externalCalls": 3.2, "costUsd": 0.01, "p95Seconds": 4.25,
        "precision": None, "fault": "SATISFACTION",
    }  # fmt: skip
    rollback = {
        "cause": "SATISFACTION", "reason": "50 % of the callers were content, less than 70 %",
        "beganAt": "2026-11-27T09:30:00+00:00", "until": "2026-11-28T09:30:00+00:00", "deploy": "1",
    }  # fmt: skip
    deploy = {"deploy": "1", "runs": 20, "p95Seconds": 9.0, "isSlow": True}
    found = [{"plan": "SEARCH", "windows": [window], "deploys": [deploy], "rollback": rollback, "isOnTrial": False}]

    told = gate_view.evaluation_text(found)

    assert told.startswith("search rests until 2026-11-28 09:30 UTC, or another deploy: 50 % of the callers")
    rows = [line.split() for line in told.splitlines()]
    assert ["search", "2026-11-27", "09:30", "20", "8.25", "50", "%", "75", "%", "3.2"] in [row[:10] for row in rows]
    assert ["search", "1", "20", "9.0", "slow"] in rows
    assert gate_view.evaluation_json(found)[0]["plan"] == "search"


async def _usage(*asked: object) -> UsageReport:
    return UsageReport([])


async def _no_ceilings(workspace: WorkspaceRef) -> list[Ceiling]:
    return []


def test_a_weekly_report_holds_what_a_review_asks_for() -> None:
    run = replace(judged(), created_at=datetime.now(UTC))
    product = Product(answers={QUESTION: run})
    vars(product)["spending"] = SimpleNamespace(usage=_usage, ceilings=_no_ceilings)
    vars(product)["web_envelope"] = SimpleNamespace(ceilings=_no_ceilings)
    at = Terminal(product, {})

    shown = at.rag("report", "weekly")
    quarter = json.loads(at.rag("report", "quarterly", "--json").stdout)

    assert shown.exit_code == 0
    chapters = [line for line in shown.stdout.splitlines() if line.startswith("#")]
    assert chapters[1:] == [
        "## Decisions and what came of them", "## Plans in rolling windows", "## Weights", "## Cost",
    ]  # fmt: skip
    since, until = (datetime.fromisoformat(quarter[name]) for name in ("since", "until"))
    assert (until - since).days == 91
    assert (quarter["gate"]["runs"], quarter["replay"]["differences"]) == (1, 1)


def test_captured_cases_are_printed_as_they_are_learned_from(tmp_path: Path) -> None:
    run = judged()
    gate = decide(PLAIN, UNANSWERED, OPEN)
    looked = replace(run.answer, gate=gate, outside=OutsideReport(searches=1))
    at = Terminal(Product(answers={QUESTION: replace(run, answer=looked)}), {})

    shown = at.rag("gate", "cases", "--since", "2020-01-01")

    assert shown.exit_code == 0
    (tmp_path / "cases.jsonl").write_text(shown.stdout)
    (case,) = load_cases(tmp_path / "cases.jsonl")
    assert (case.case_id, case.needs_search, case.answered) == (RUN_ID, True, False)
    assert case.signals == {one.name: one.value for one in gate.contributions}
    assert case.at is not None
