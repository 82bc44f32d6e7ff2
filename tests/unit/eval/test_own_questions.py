import json
import re

import pytest

from agentic_rag_eval.dataset import parse_dataset
from agentic_rag_eval.own_questions import (
    KNOWN_ITEM,
    LENGTHS,
    REMOVED_GOLD,
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


@pytest.mark.parametrize(
    ("text", "asking", "masked"),
    [
        ("The tide turbine at Otter Voe began to feed eleven villages in 1931.", {"When", "How many", "Where"}, "1931"),
        ("El molino de la isla empezó a dar luz a los pueblos del norte en 1931.", {"¿Cuándo"}, "1931"),
        ("Das Gezeitenkraftwerk der Insel versorgte die Dörfer im Norden ab 1931 mit Strom.", {"Wann"}, "1931"),
        ("De getijdencentrale van het eiland gaf de dorpen in het noorden vanaf 1931 licht.", {"Wanneer"}, "1931"),
    ],
)
def test_a_question_asks_for_a_span_by_its_type_and_does_not_say_it(text: str, asking: set[str], masked: str) -> None:
    asked = {own_questions([SourcePassage("a.md", text)], 1, seed)[0].question for seed in range(12)}
    assert {next(word for word in asking if one.startswith(f"{word} ")) for one in asked} == asking
    assert not any(masked in one for one in asked if one.startswith(("When", "¿Cuándo", "Wann")))


def test_a_question_has_as_many_words_as_people_use_and_names_its_subject() -> None:
    text = " ".join(f"word{number} the" for number in range(40)) + " by 1931."
    asked = [own_questions([SourcePassage("a.md", text, "Otter Voe")], 1, seed)[0].question for seed in range(20)]
    for one in asked:
        assert "Voe" in one
        assert len(re.findall(r"word\d+", one)) <= max(LENGTHS)
    assert len({len(one.split()) for one in asked}) > 3


@pytest.mark.parametrize("title", ["", "notes-2.md", "9a3f77", "PMID 20156655"])
def test_a_title_that_names_nothing_is_not_asked_for(title: str) -> None:
    [made, _] = own_questions([SourcePassage("a.md", _TEXTS[0], title)], 1)
    assert not title or title.split()[-1] not in made.question


def test_equal_passages_and_seeds_give_equal_questions() -> None:
    assert own_questions(_PASSAGES, 3, seed=4) == own_questions(_PASSAGES, 3, seed=4)
    assert own_questions(_PASSAGES, 3, seed=4) != own_questions(_PASSAGES, 3, seed=5)


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
