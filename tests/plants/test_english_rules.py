"""What the row on rules of English switches off, and that a rule of English which reads German is noticed by it."""

from __future__ import annotations

import pytest

from agentic_rag.answering.extraction import answer_type_match
from agentic_rag.answering.plan import AnswerType
from agentic_rag.language.words.german import GERMAN
from tests.quality.english_rules import english_words, switched_off

FAMILY = "answering.extraction.answer_type_match"
QUESTION, SENTENCE = "Wie viel kostet eine Flasche?", "Eine Flasche kostet 2 Euro."


def states_price() -> bool:
    return answer_type_match.states_answer(SENTENCE, AnswerType.FIGURE, QUESTION)


def test_patterns_of_english_find_nothing_until_they_are_back() -> None:
    because, weil = "It is shut because it rains.", "Es ist zu, weil es regnet."

    with switched_off(english_words()[FAMILY]):
        assert not answer_type_match.gives_reason(because)
        assert answer_type_match.gives_reason(weil, GERMAN)
    assert answer_type_match.gives_reason(because)


def test_words_that_several_languages_share_are_no_rules_of_english() -> None:
    from agentic_rag.answering.evidence import other_things

    held = {key for family in english_words().values() for key in family}

    assert id(other_things._COVERS) not in held
    assert id(other_things._OF_PLACES) in held


def test_a_rule_of_english_that_reads_german_changes_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    told = states_price()
    with switched_off(english_words()[FAMILY]):
        assert states_price() == told

    monkeypatch.setattr(answer_type_match, "table_of", lambda _: None)
    with_rules = states_price()
    with switched_off(english_words()[FAMILY]):
        assert states_price() != with_rules
