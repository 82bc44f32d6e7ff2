"""Near misses stand beside as many twins that are answered, and their rows see both ways to be wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.quality.natural import (
    CORPORA,
    HALVES,
    NEAR_MISSES,
    NEAR_MISSES_DEV,
    Judgement,
    NaturalQuestion,
    judge_natural,
    natural_questions,
)
from tests.quality.natural_asking import write_answers
from tests.quality.near_misses import near_miss_rows

QUESTIONS = {half: natural_questions(half) for half in HALVES[NEAR_MISSES]}
TWIN = NaturalQuestion(
    question_id="theatre-02",
    question="Who sweeps the stage?",
    kind="who",
    outcome="ANSWERED",
    must=(("Ada",),),
    must_not=(),
    sources=("theatre/roles.md",),
)
MISS = replace(TWIN, question_id="theatre-01", question="Who paints it?", outcome="NOT_STATED", must=(), sources=())


def test_each_folder_has_as_many_near_misses_as_twins_and_one_pair_of_sources_that_disagree() -> None:
    counted = {
        corpus: Counter(one.outcome for one in questions if one.corpus == corpus)
        for questions in QUESTIONS.values()
        for corpus in {one.corpus for one in questions}
    }
    assert len(counted) == 4
    assert all(one == {"NOT_STATED": 25, "ANSWERED": 24, "CONFLICTING": 1} for one in counted.values())


def test_the_halves_share_no_folder_and_dev_is_asked_alone() -> None:
    dev, held = ({one.corpus for one in questions} for questions in QUESTIONS.values())
    assert dev.isdisjoint(held)
    assert HALVES[NEAR_MISSES_DEV] == ("near-dev",)


@pytest.mark.parametrize("corpus", sorted({one.corpus for ones in QUESTIONS.values() for one in ones}))
def test_twins_are_answered_from_most_documents_of_a_folder(corpus: str) -> None:
    named = {source for ones in QUESTIONS.values() for one in ones if one.corpus == corpus for source in one.sources}
    documents = {f"{corpus}/{path.name}" for path in (CORPORA / corpus).iterdir()}
    assert named <= documents
    assert len(named) >= 7


def rows(*judged: Judgement) -> dict[str, str]:
    return {row.name: row.measured.split(" ")[0] for row in near_miss_rows("near-dev", judged)}


def test_a_value_of_something_else_counts_against_near_misses_alone() -> None:
    told = rows(judge_natural(MISS, "GROUNDED", "Bob."), judge_natural(TWIN, "GROUNDED", "Ada."))
    assert told["near misses, dev: answered GROUNDED"] == "100.0"
    assert told["near misses, dev: abstained"] == "0.0"
    assert told["twins of near misses, dev: right and complete"] == "100.0"
    assert told["twins of near misses, dev: false abstention"] == "0.0"


def test_abstaining_on_all_shows_in_the_rows_of_the_twins() -> None:
    told = near_miss_rows("near-dev", [judge_natural(one, "ABSTAINED", "") for one in (MISS, TWIN)])
    assert [row.name for row in told if not row.ok] == [
        "twins of near misses, dev: right and complete",
        "twins of near misses, dev: false abstention",
    ]


def test_a_near_miss_told_as_uncertain_is_neither_grounded_nor_abstained() -> None:
    told = rows(judge_natural(MISS, "UNCERTAIN", "Bob."), judge_natural(TWIN, "UNCERTAIN", "Ada."))
    assert told["near misses, dev: answered GROUNDED"] == told["near misses, dev: abstained"] == "0.0"
    assert told["near misses, dev: answered UNCERTAIN"] == "100.0"
    assert told["twins of near misses, dev: right and complete"] == "100.0"
    assert told["twins of near misses, dev: right and GROUNDED"] == "0.0"


def test_a_wrong_twin_that_calls_itself_grounded_has_its_own_row() -> None:
    told = rows(judge_natural(MISS, "ABSTAINED", ""), judge_natural(TWIN, "GROUNDED", "Bob."))
    assert told["twins of near misses, dev: wrong but GROUNDED"] == "100.0"
    assert told["near misses, dev: answered GROUNDED"] == "0.0"


def test_answers_of_the_held_half_are_written_nowhere(tmp_path: Path) -> None:
    for half in HALVES[NEAR_MISSES]:
        write_answers(half, ["{}"], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["natural-near-dev.jsonl"]
