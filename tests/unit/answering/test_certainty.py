"""An answer says that it is established only where its sentences are likely to be the answer."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.answer import AbstentionReason, Outcome, Support
from agentic_rag.answering.evidence.certainty import CertaintySigns, find_certainty_signs, is_too_weak, score_certainty
from agentic_rag.answering.extraction.extractive import draft_part
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.plan import AnswerType

ASKED = "Which paint protects the hull of the ferry?"


def signs(*texts: str, read: float | None = None) -> CertaintySigns:
    part = build_subquery(ASKED, AnswerType.FACT, {})
    passages = [passage(place, "Yard", text) for place, text in enumerate(texts, 1)]
    draft = draft_part(part, 0, passages, 1)
    return find_certainty_signs(part, draft.sentences, passages, 1, read)


def certainty(*texts: str, read: float | None = None) -> float:
    return score_certainty(signs(*texts, read=read)).score


def test_a_sentence_that_holds_more_of_the_question_is_more_certain() -> None:
    assert certainty("Red paint protects the hull of the ferry.") > certainty("The ferry has a hull of steel plates.")


def test_what_a_reader_finds_counts_and_no_reader_is_neither_for_nor_against() -> None:
    said = "Red paint protects the hull of the ferry."
    assert certainty(said, read=0.1) < certainty(said) < certainty(said, read=0.9)


def test_units_of_several_documents_that_come_close_make_the_choice_less_certain() -> None:
    alone = signs("Red paint protects the hull of the ferry.")
    assert score_certainty(replace(alone, documents=math.log(3))).score < score_certainty(alone).score


@pytest.mark.parametrize(
    ("support", "sure", "weak"),
    [(0.26, 0.1, True), (0.26, 0.9, False), (0.9, 0.1, False)],
    ids=["both are low", "the answer is certain", "the passages are about it"],
)
def test_an_answer_is_held_back_where_support_and_certainty_are_both_low(
    support: float, sure: float, weak: bool
) -> None:
    part = build_subquery(ASKED, AnswerType.FACT, {})
    assert is_too_weak(part, Support(support, 0.25), Support(sure, 0.6)) is weak
    assert not is_too_weak(part, Support(support, 0.0), Support(sure, 0.6)), "the workspace never abstains"


def test_a_question_in_another_language_is_not_held_back_for_english_words() -> None:
    part = build_subquery("Welche Farbe hat die Halle in Lorrin?", AnswerType.FACT, {})
    assert not is_too_weak(part, Support(0.26, 0.25), Support(0.1, 0.6))


async def test_text_that_may_not_be_the_answer_is_shown_and_said_not_to_be_established() -> None:
    corpus = Corpus()
    corpus.add("yard.md", "Yard", "The ferry lies in the yard each winter. Its hull is cleaned there with water.")
    corpus.add("crew.md", "Crew", "The crew of the ferry cleans the hull in winter.")
    corpus.add("dock.md", "Dock", "The dock takes a ferry with a hull of sixty metres.")
    corpus.support_threshold = 0.01
    world = World(corpus)

    answer = (await world.ask("What colour has the hull of the ferry in winter?")).answer

    assert answer.outcome is Outcome.UNCERTAIN
    assert answer.text
    assert all(one.verified for one in answer.citations)
    assert answer.abstention is not None
    assert answer.abstention.reason is AbstentionReason.NOT_ESTABLISHED
    assert answer.debug.certainty is not None
    assert answer.debug.certainty.score < answer.debug.certainty.threshold
    await world.recorder.aclose()


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("The annual permit for the ferry landing costs £40.", Outcome.GROUNDED),
        ("The annual permit for the ferry landing costs nothing beyond the deposit.", Outcome.UNCERTAIN),
        ("The ferry landing needs a permit.", Outcome.ABSTAINED),
    ],
    ids=["the figure", "the words without a figure", "the subject"],
)
async def test_what_holds_no_figure_is_never_established_where_one_is_asked_for(said: str, outcome: Outcome) -> None:
    corpus = Corpus()
    corpus.add("permits.md", "Permits", said)
    world = World(corpus)

    answer = (await world.ask("How much does the annual permit for the ferry landing cost?")).answer

    assert answer.outcome is outcome
    await world.recorder.aclose()
