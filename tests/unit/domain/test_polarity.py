"""A verdict is given only where a sentence decides it."""

from __future__ import annotations

import pytest

from agentic_rag.domain.answers import AnswerType
from agentic_rag.domain.lexical import query_terms
from agentic_rag.domain.part_queries import part_query
from agentic_rag.domain.polarity import is_denied, verdict
from agentic_rag.domain.term_match import lowered, mask_of


def decided(question: str, sentence: str) -> str | None:
    part = part_query(question, AnswerType.YES_NO, dict.fromkeys(query_terms(question), 0.5))
    return verdict(question, sentence, mask_of(lowered(sentence), part.terms), part.terms)


def test_a_sentence_that_says_it_outright_affirms():
    assert decided("Is the north gate locked at night?", "The north gate is locked at night.") == "Yes"


def test_a_sentence_that_denies_it_answers_no():
    assert decided("Is the north gate locked at night?", "The north gate is not locked at night.") == "No"
    assert decided("Does the pump contain mercury?", "The pump doesn’t contain any mercury.") == "No"


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Is the north gate locked at night?", "The north gate is locked."),
        ("Is the north gate locked at night?", "The north gate may be locked at night."),
        ("Is the north gate locked at night?", "The north gate is locked at night unless a ship is due."),
        ("Is the north gate locked at night?", "It is not true that the north gate is never locked at night."),
        ("Is the north gate locked at night?", "Is the north gate locked at night?"),
        ("Isn't the north gate locked at night?", "The north gate is locked at night."),
        ("Is the north gate or the south gate locked?", "The north gate and the south gate are locked."),
        ("Should the north gate be locked?", "The north gate is locked."),
        ("Who locked the north gate?", "The north gate is locked."),
    ],
)
def test_what_is_not_decided_gets_no_verdict(question: str, sentence: str):
    assert decided(question, sentence) is None


def test_one_negation_denies():
    assert is_denied("The valve is not open.")
    assert not is_denied("The valve is open.")
    assert not is_denied("The valve is never not open.")
