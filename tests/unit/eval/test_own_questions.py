import json

import pytest

from agentic_rag_eval.dataset import parse_dataset
from agentic_rag_eval.own_questions import (
    KNOWN_ITEM,
    REMOVED_GOLD,
    WORDS,
    SourcePassage,
    as_lines,
    own_questions,
)
from agentic_rag_eval.support_calibration import AskedSupport, calibrate

_TEXTS = (
    "The tide turbine at Otter Voe feeds eleven villages, a harbour crane and the fish cooling hall all year.",
    "Every second Tuesday the old librarian repairs damaged atlases with wheat paste, linen thread, glue and patience.",
    "Glass blowers in the old quarter melt cobalt sand during winter because furnaces also warm neighbouring flats.",
)
_PASSAGES = [SourcePassage(f"{place}.md", text) for place, text in enumerate(_TEXTS)]


def test_each_passage_gives_a_question_with_its_document_and_the_same_without_it() -> None:
    made = own_questions(_PASSAGES, 10)
    known = [one for one in made if one.kind == KNOWN_ITEM]
    removed = [one for one in made if one.kind == REMOVED_GOLD]
    assert sorted(one.gold_ids for one in known) == [("0.md",), ("1.md",), ("2.md",)]
    assert [(one.question, one.without) for one in removed] == [(one.question, one.gold_ids) for one in known]
    assert all(not one.gold_ids for one in removed)


def test_a_question_has_few_words_some_of_them_its_passages() -> None:
    for one in own_questions(_PASSAGES, 10):
        words = one.question.removeprefix("What is known about ").removesuffix("?").split()
        assert WORDS[0] <= len(words) <= WORDS[1]


def test_equal_passages_and_seeds_give_equal_questions() -> None:
    assert own_questions(_PASSAGES, 3, seed=4) == own_questions(_PASSAGES, 3, seed=4)
    assert own_questions(_PASSAGES, 3, seed=4) != own_questions(_PASSAGES, 3, seed=5)


def test_made_questions_count_for_less_than_those_of_people() -> None:
    asked = [AskedSupport(place / 100, answerable=True) for place in range(100)]
    assert calibrate(asked, 0.15, easier=3.0).threshold == calibrate(asked, 0.05).threshold


def test_a_passage_with_little_to_ask_for_gives_none() -> None:
    assert own_questions([SourcePassage("a.md", "See page 4.")], 3) == []


def test_the_file_is_a_dataset() -> None:
    made = own_questions(_PASSAGES, 3)
    assert parse_dataset(as_lines(made), "own.jsonl") == made
    assert "without" not in json.loads(as_lines(made).splitlines()[0])


def test_calibration_measures_false_abstention_on_questions_that_did_not_set_it() -> None:
    asked = [AskedSupport(place / 100, answerable=True) for place in range(100)]
    asked += [AskedSupport(0.02, answerable=False), AskedSupport(0.9, answerable=False)]
    found = calibrate(asked, 0.1)
    assert found.threshold == pytest.approx(0.09)
    assert found.false_abstention is not None
    assert (found.false_abstention.hits, found.false_abstention.of) == (9, 100)
    assert found.abstained is not None
    assert (found.abstained.hits, found.abstained.of) == (1, 2)
