"""Passages in another language than the question support no answer, and the caller is told so."""

from __future__ import annotations

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.answer import AbstentionReason, Outcome
from agentic_rag.answering.evidence.other_language import is_of_other_language
from agentic_rag.answering.messages import WORDINGS, Message
from agentic_rag.retrieval.candidates import Passage

ENGLISH = passage(1, "Leave", "Employees who have been with us for a year are entitled to thirty days of leave in it.")
GERMAN = passage(2, "Urlaub", "Wer ein Jahr bei uns ist, hat in diesem Jahr einen Anspruch auf dreißig Tage Urlaub.")
JAPANESE = passage(3, "休暇", "一年以上勤務した従業員には、毎年三十日の有給休暇が与えられます。")
TABLE = passage(4, "Codes", "A17 | 30 | 12.5\nB22 | 28 | 11.0\nC09 | 25 | 10.5")


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Wie viele Tage Urlaub habe ich?", [ENGLISH, TABLE, ENGLISH]),
        ("How many days of leave do I have in the year?", [GERMAN, JAPANESE]),
        ("有給休暇は何日ですか。", [ENGLISH, GERMAN]),
    ],
)
def test_none_of_the_passages_is_in_the_language_of_the_question(question: str, found: list[Passage]) -> None:
    assert is_of_other_language(question, found)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Wie viele Tage Urlaub habe ich?", [ENGLISH, GERMAN]),
        ("How many days of leave do I have in the year?", [ENGLISH]),
        ("Urlaub", [ENGLISH]),
        ("Annual leave?", [GERMAN]),
        ("Wie viele Tage Urlaub habe ich?", [TABLE, ENGLISH]),
        ("Wie viele Tage Urlaub habe ich?", []),
    ],
)
def test_one_is_or_the_languages_are_not_told(question: str, found: list[Passage]) -> None:
    assert not is_of_other_language(question, found)


async def test_the_answer_says_so_in_the_language_of_the_question() -> None:
    corpus = Corpus()
    corpus.add("leave.md", "Leave", ENGLISH.chunk.text)
    world = World(corpus)

    german = (await world.ask("Wie viele Tage Urlaub habe ich in diesem Jahr?")).answer
    english = (await world.ask("Who pays for the dinner of the visitors?")).answer
    await world.recorder.aclose()

    assert german.abstention is not None
    assert (german.outcome, german.abstention.reason, german.abstention.explanation) == (
        Outcome.ABSTAINED,
        AbstentionReason.OTHER_LANGUAGE,
        WORDINGS["de"][Message.OTHER_LANGUAGE],
    )
    assert english.abstention is not None
    assert english.abstention.reason is not AbstentionReason.OTHER_LANGUAGE
    assert english.abstention.explanation != Message.OTHER_LANGUAGE.value
