"""Messages about a run are worded in the language of the question; every language has each of them."""

from __future__ import annotations

import string

import pytest

from agentic_rag.answering.messages import WORDINGS, Message, RunMessage
from agentic_rag.language.words.word_tables import TABLE_BY_CODE

QUESTIONS = {
    "de": "Wie hoch ist die Grenze für Reisekosten in diesem Jahr?",
    "fr": "Quelle est la limite des frais de voyage pour cette année ?",
    "es": "¿Cuál es el límite de los gastos de viaje para este año?",
    "it": "Qual è il limite delle spese di viaggio per questo anno?",
    "pt": "Qual é o limite das despesas de viagem para este ano?",
    "nl": "Wat is de grens voor reiskosten in dit jaar?",
    "pl": "Jaki jest limit kosztów podróży w tym roku?",
    "ru": "Какой предел расходов на поездки в этом году?",
}


def placeholders(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("code", WORDINGS)
def test_a_language_has_every_message_with_the_same_placeholders(code: str) -> None:
    rows = WORDINGS[code]

    assert code in TABLE_BY_CODE
    assert set(rows) == set(Message)
    for message, text in rows.items():
        assert placeholders(text) == placeholders(message.value)
        assert text.strip() == text != message.value
        assert len(set(rows.values())) == len(rows)


@pytest.mark.parametrize("code", WORDINGS)
def test_a_question_is_told_in_its_language(code: str) -> None:
    told = RunMessage(Message.NOTHING_FOUND).for_question(QUESTIONS[code])

    assert told == WORDINGS[code][Message.NOTHING_FOUND]


@pytest.mark.parametrize(
    "question", ["What is the limit for travel costs this year?", "出張費の上限はいくらですか。", ""]
)
def test_other_languages_are_told_in_english(question: str) -> None:
    assert RunMessage(Message.NOTHING_FOUND).for_question(question) == Message.NOTHING_FOUND.value


def test_words_of_the_question_are_named_and_english_descriptions_are_not() -> None:
    german = QUESTIONS["de"]

    assert "nennen “Oslo” nicht" in RunMessage(Message.MISSING_FACT, "“Oslo”").for_question(german)
    assert (
        RunMessage(Message.MISSING_FACT, "a figure for it").for_question(german) == WORDINGS["de"][Message.NOT_STATED]
    )
    assert "{odd}" in RunMessage(Message.PARTS_MISSING, "“{odd}”").for_question(german)
    assert "a figure for it" in RunMessage(Message.MISSING_FACT, "a figure for it").for_question("Was it more?")
