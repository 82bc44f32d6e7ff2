"""Cases of the gate, and what a gate is worth on them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agentic_rag.answering.gate.weights import HEURISTIC_WEIGHTS
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_eval.gate_cases import (
    SHARES,
    CaseKind,
    GateCase,
    calls_to_keep,
    digest_of,
    judge_gate,
    load_cases,
    save_cases,
    score_of,
    searches_by,
    shares_of,
)

SILENT = dict.fromkeys(HEURISTIC_WEIGHTS.weights, 0.0) | {"base": 1.0, "freshness": 1.0}


def _case(kind: CaseKind, *, set_name: str = "a", answered: bool = False, outside: bool = True) -> GateCase:
    return GateCase(set_name, kind.value, kind, SILENT, answered, outside)


INSIDE = _case(CaseKind.INSIDE, answered=True)
MISSING = _case(CaseKind.MISSING)
STALE = _case(CaseKind.STALE)
NOWHERE = _case(CaseKind.MISSING, outside=False)


def test_the_shares_of_kinds_are_a_whole() -> None:
    assert sum(SHARES.values()) == pytest.approx(1)
    assert SHARES.keys() == set(CaseKind)


def test_each_set_and_each_kind_in_it_weighs_by_its_share_however_many_cases_it_has() -> None:
    cases = [INSIDE, *[MISSING] * 3, replace(INSIDE, set_name="b")]

    shares = shares_of(cases)

    assert sum(shares) == pytest.approx(1)
    assert shares[0] == pytest.approx(0.5 * 0.65 / 0.85)
    assert shares[1] == pytest.approx(0.5 * 0.2 / 0.85 / 3)
    assert shares[4] == pytest.approx(0.5)


def test_always_searching_is_what_a_gate_is_held_against() -> None:
    found = judge_gate([INSIDE, MISSING, STALE], lambda _: True)

    assert (found.answered, found.calls, found.recall) == (pytest.approx(1), pytest.approx(1), pytest.approx(1))


def test_a_gate_that_never_searches_loses_what_is_outside() -> None:
    found = judge_gate([INSIDE, MISSING, STALE], lambda _: False)

    assert found.answered == pytest.approx(0.65 / 0.95)
    assert (found.calls, found.recall, found.f1) == (0, 0, 0)


def test_a_search_for_what_nobody_has_is_a_call_and_no_answer() -> None:
    cases = [INSIDE, MISSING, NOWHERE]

    found = judge_gate(cases, lambda case: case is not INSIDE)

    assert found.answered == pytest.approx(1)
    assert found.calls == pytest.approx(0.2 / 0.85)
    assert (found.precision, found.recall) == (pytest.approx(0.5), pytest.approx(1))


def test_weights_search_where_the_score_reaches_their_threshold() -> None:
    known = replace(INSIDE, signals={**SILENT, "sufficiency": 1.0, "coverage": 1.0})

    searches = searches_by(HEURISTIC_WEIGHTS)

    assert searches(MISSING)
    assert not searches(known)


def test_cases_are_read_as_they_were_written(tmp_path: Path) -> None:
    save_cases(tmp_path / "new" / "a.jsonl", [INSIDE, NOWHERE])

    assert load_cases(tmp_path / "new" / "a.jsonl") == [INSIDE, NOWHERE]
    assert [one.name for one in (tmp_path / "new").iterdir()] == ["a.jsonl"]


def test_a_digest_hangs_on_the_cases_and_not_on_their_order() -> None:
    assert digest_of([INSIDE, STALE]) == digest_of([STALE, INSIDE])
    assert digest_of([INSIDE]) != digest_of([replace(INSIDE, answered=False)])


GIVEN = {
    "set": "a", "id": "1", "kind": "inside", "signals": {"coverage": 0.5}, "answered": False, "answered_outside": True,
    "at": "2026-11-01T00:30:00+14:00",
}  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        b"{", b'{"set": "a"}', b"[]", b"[" * 100_000, b"\xff\xfe", json.dumps(GIVEN).encode("utf-16"),
        *[json.dumps(GIVEN | wrong).encode() for wrong in (
            {"kind": "other"}, {"signals": {"coverage": float("nan")}}, {"signals": {"coverage": 1.5}}, {"signals": []},
            {"signals": {"coverage": -1e-9}}, {"answered": "false"}, {"answered": 1}, {"answered_outside": None},
            {"answered": True, "answered_outside": False}, {"at": 5}, {"at": "soon"}, {"at": "0001-01-01T00:00+14:00"},
        )],
    ],
)  # fmt: skip
def test_a_line_that_is_no_case_is_named(tmp_path: Path, line: bytes) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_bytes(b"\n" + line + b"\n")

    with pytest.raises(InvalidInput, match=r"cases\.jsonl:2"):
        load_cases(file)


def test_instants_are_of_one_zone_so_that_the_newest_are_the_newest(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    given = [GIVEN | {"id": at, "at": at} for at in ("2026-11-01T00:30:00+14:00", "2026-10-31", "2026-10-31T10:00")]
    file.write_text("\n".join(map(json.dumps, given)))

    found = load_cases(file)

    assert [one.at for one in found] == [f"2026-10-31T{hour}:00+00:00" for hour in ("10:30", "00:00", "10:00")]


def test_of_a_case_that_stands_twice_the_last_one_counts(tmp_path: Path) -> None:
    """Two captures of overlapping times: what is held out would have been learned from."""
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    save_cases(first, [INSIDE, MISSING])
    save_cases(second, [replace(MISSING, answered=True), STALE])

    found = load_cases(first, second)

    assert found == [INSIDE, replace(MISSING, answered=True), STALE]


def test_a_case_is_judged_as_if_the_web_were_allowed_whatever_it_was_then() -> None:
    refused, asked_for = (replace(MISSING, signals={**SILENT, "policy": policy}) for policy in (0.0, 1.0))
    allowed = replace(MISSING, signals={**SILENT, "policy": 0.5})

    assert score_of(refused, HEURISTIC_WEIGHTS) == score_of(asked_for, HEURISTIC_WEIGHTS)
    assert score_of(refused, HEURISTIC_WEIGHTS) == pytest.approx(
        sum(HEURISTIC_WEIGHTS.weights[name] * value for name, value in allowed.signals.items())
    )


def test_cases_that_are_not_there_are_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no cases at"):
        load_cases(tmp_path / "none.jsonl")


def test_a_set_that_no_search_answers_is_no_measure() -> None:
    with pytest.raises(InvalidInput, match="nothing to judge by"):
        judge_gate([NOWHERE], lambda _: True)


def test_calls_to_keep_are_those_of_the_highest_ranks() -> None:
    cases = [INSIDE, MISSING, STALE]

    def by_need(case: GateCase) -> float:
        return float(case.needs_search)

    assert calls_to_keep(cases, by_need, 0.65 / 0.95) == pytest.approx(0)
    assert calls_to_keep(cases, by_need, 1.0) == pytest.approx(0.3 / 0.95)
    assert calls_to_keep(cases, lambda case: -by_need(case), 1.0) == pytest.approx(1)
    assert calls_to_keep(cases, lambda case: float(case is MISSING), 0.85 / 0.95) == pytest.approx(0.2 / 0.95)


def test_of_cases_of_one_rank_as_many_are_called_as_it_takes() -> None:
    cases = [INSIDE, MISSING, NOWHERE]
    whole = 0.65 + 0.1

    calls = calls_to_keep(cases, lambda case: float(not case.answered), (0.65 + 0.05) / whole)

    assert calls == pytest.approx(0.5 * 0.2 / 0.85)
