"""The judge of cells asked by row and column."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from agentic_rag.answering.answer import Outcome
from tests.builders import citation, run_of
from tests.documents.tables.asking import Verdict, judge_cell
from tests.documents.tables.made_tables import TableQuestion, made_table, question_of
from tests.unit.answering.corpus import WORKSPACE

_ASKED = TableQuestion("a.pdf", "How much timber in 2021?", "Timber", ("2021",), "1,204")
_HEAD = "Cargo | 2020 | 2021"


@pytest.mark.parametrize(
    ("said", "quotes", "verdict"),
    [
        ("Timber — 2020: 880; 2021: 1,204.", ["Timber | 880 | 1,204", _HEAD], Verdict.RIGHT),
        ("Timber — 2021: 1204.", ["Timber | 880 | 1204", _HEAD], Verdict.RIGHT),
        ("Timber — 2020: 880; 2021: 1,204.", ["Timber | 880 | 1,204"], Verdict.UNNAMED),
        ("Timber — 880; 1,204.", ["Timber | 880 | 1,204", _HEAD], Verdict.UNNAMED),
        ("Timber — 2020: 1,204; 2021: 880.", ["Timber | 1,204 | 880", _HEAD], Verdict.UNNAMED),
        ("Grain — 2020: 17; 2021: 1,204.", ["Grain | 17 | 1,204", _HEAD], Verdict.OTHER_ROW),
        ("Grain — 2021: 3.", ["Grain 17 3", "Timber 880 1,204", _HEAD], Verdict.OTHER_ROW),
        ("Timber grew in 2021.", ["Timber grew in 2021."], Verdict.ELSEWHERE),
    ],
)
def test_an_answer_is_judged_by_its_first_row(said: str, quotes: list[str], verdict: Verdict) -> None:
    cited = [citation(UUID(int=1), quote, marker) for marker, quote in enumerate(quotes, 1)]
    answer = run_of(WORKSPACE, citations=cited, text=said).answer

    assert judge_cell(_ASKED, answer) is verdict


def test_an_abstention_answers_nothing() -> None:
    answer = replace(run_of(WORKSPACE).answer, outcome=Outcome.ABSTAINED)

    assert judge_cell(_ASKED, answer) is Verdict.NONE


def test_two_hundred_made_tables_have_owners_of_their_own_and_a_cell_to_ask_for() -> None:
    made = [made_table(seed) for seed in range(200)]
    asked = [question_of(one, "a.pdf", seed) for seed, one in enumerate(made)]

    assert len({one.owner for one in made}) == 200
    assert all(one.value in dict(table.rows)[one.row] for one, table in zip(asked, made, strict=True))
