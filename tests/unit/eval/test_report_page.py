"""The page of a report: complete by itself, and a way back to each failing question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_eval.report_page import page
from agentic_rag_eval.stored_report import load_report, parse_report


def interval(mean: float) -> dict[str, float]:
    return {"mean": mean, "low": mean - 0.1, "high": mean + 0.1, "questions": 2}


def asked(question_id: str, kind: str, *, right: bool) -> dict[str, Any]:
    return {
        "id": question_id,
        "type": kind,
        "question": f"Is {question_id} < 5 & <b>bold</b>?",
        "outcome": "GROUNDED",
        "right": right,
        "figures": {"mrr": 0.5},
        "answer": "Yes.",
        "wanted": ["No"],
        "gold": ["a.md"],
        "cited": ["b.md", "b.md"],
        "runId": f"RUN-{question_id}",
        "seconds": 0.02,
    }


def report(**more: Any) -> dict[str, Any]:
    return {
        "dataset": "mine.jsonl",
        "summary": {
            "questions": 2,
            "k": 5,
            "figures": {"mrr": interval(0.5), "false_abstention": interval(0.2)},
            "byType": {"single": {"mrr": interval(0.5)}, "list": {"mrr": interval(0.4)}},
            "latency": {"total": {"p50": 0.02, "p95": 0.04}, "retrieve": {"p50": 0.01, "p95": 0.02}},
            "usage": {"tokens": 24, "usd": 0.0},
        },
        "questions": [asked("q1", "single", right=True), asked("q2", "list", right=False)],
        **more,
    }


def test_a_failing_question_names_the_commands_that_show_and_repeat_it() -> None:
    shown = page(parse_report(report()))

    assert "rag run show RUN-q2\nrag run replay RUN-q2" in shown
    assert "RUN-q1" not in shown


def test_the_page_needs_nothing_from_elsewhere_and_runs_no_script() -> None:
    shown = page(parse_report(report()))

    assert not [one for one in ("<script", "http://", "https://", "<link", "url(", "@import") if one in shown]
    assert "prefers-color-scheme: dark" in shown


def test_what_questions_say_is_text_not_markup() -> None:
    shown = page(parse_report(report()))

    assert "<b>bold</b>" not in shown
    ElementTree.fromstring(shown.split("\n", 1)[1].replace('<meta charset="utf-8">', "").replace(_VIEWPORT, ""))


_VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'


def test_arms_and_the_baseline_are_shown_when_they_were_measured() -> None:
    difference = {"mrr": {"difference": interval(0.3)}}
    changed = {"figures": {"false_abstention": {"difference": interval(0.3)}}}
    without = page(parse_report(report()))
    shown = page(parse_report(report(ablations={"graph": difference}, comparison=changed)))

    assert "What each arm adds" not in without
    assert "What each arm adds" in shown
    assert "+30.0 [+20.0, +40.0]" in shown
    assert 'class="dot good"' in shown
    assert 'class="dot bad"' in shown


def test_every_stage_has_its_bar() -> None:
    assert "10.0 / 20.0 ms" in page(parse_report(report()))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"summary": {}, "questions": []}'])
def test_what_is_no_report_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)

    with pytest.raises(InvalidInput) as caught:
        load_report(path)

    assert caught.value.code == "REPORT_INVALID"


def test_a_report_reads_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report()))

    found = load_report(path)

    assert [one.question_id for one in found.wrong] == ["q2"]
    assert found.latency["total"] == (0.02, 0.04)
