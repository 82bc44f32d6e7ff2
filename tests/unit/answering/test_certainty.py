"""An answer says that it is established only where its sentences are likely to be the answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.answer import AbstentionReason, Outcome, Support
from agentic_rag.answering.evidence.certainty import (
    CERTAINTY_BY_WORDS,
    CertaintySigns,
    find_certainty_signs,
    score_certainty,
)
from agentic_rag.answering.extraction.extractive import draft_part
from agentic_rag.answering.extraction.reading import ReadSigns
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.gate_decision import FeatureContribution
from agentic_rag.answering.plan import AnswerType

READ = ReadSigns(unmatched=0.05, apart=0.1, odds=2.0)
SUPPORTED = Support(0.9, 0.25)


def signs(
    text: str = "Red paint protects the hull of the ferry.",
    documents: int = 1,
    support: Support = SUPPORTED,
    read: ReadSigns | None = None,
    odds: float | None = None,
) -> CertaintySigns:
    part = build_subquery("Which paint protects the hull of the ferry?", AnswerType.FACT, {})
    passages = [passage(1, "Yard", text)]
    draft = draft_part(part, 0, passages, 1)
    return find_certainty_signs(part, draft.sentences, passages, documents, support, read, odds)


def by_words(text: str = "Red paint protects the hull of the ferry.", documents: int = 1) -> float:
    return score_certainty(signs(text, documents), CERTAINTY_BY_WORDS).score


def by_reading(odds: float = 2.0, read: ReadSigns = READ, support: Support = SUPPORTED) -> float:
    return score_certainty(signs(support=support, read=read, odds=odds)).score


def test_a_sentence_that_holds_more_of_the_question_is_more_certain() -> None:
    assert by_words() > by_words("The ferry has a hull of steel plates.")


def test_sentences_that_were_judged_likelier_are_more_certain() -> None:
    assert by_reading(odds=3.0) > by_reading(odds=-1.0)


def test_a_word_of_the_question_that_no_unit_has_makes_the_choice_less_certain() -> None:
    assert by_reading(read=replace(READ, unmatched=0.2)) < by_reading()


def test_units_of_several_documents_that_come_close_make_the_choice_less_certain() -> None:
    assert by_words(documents=3) < by_words()
    assert by_reading(read=replace(READ, apart=0.01)) < by_reading()


def test_support_below_even_odds_makes_the_choice_less_certain_and_more_than_that_adds_nothing() -> None:
    assert by_reading(support=Support(0.3, 0.25)) < by_reading(support=Support(0.5, 0.25)) == by_reading()


def test_odds_that_lifted_support_count_once() -> None:
    lifted = Support(0.5, 0.25, (FeatureContribution("likely", 2.0, 0.6, 1.2),))
    assert by_reading(support=Support(0.3, 0.25)) < by_reading(support=Support(0.5, 0.25))
    assert by_reading(support=lifted) < by_reading(support=Support(0.5, 0.25))


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


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("Das Lager der Werft am Hafen von Kiel leitet Petra Hahn.", Outcome.GROUNDED),
        ("Das Lager der Werft am Hafen von Kiel schließt Petra Hahn.", Outcome.UNCERTAIN),
    ],
    ids=["the act", "another act"],
)
async def test_who_does_something_else_is_not_established(said: str, outcome: Outcome) -> None:
    corpus = Corpus()
    corpus.support_threshold = 0.01
    corpus.add("lager.md", "Betriebe", said)
    world = World(corpus)

    answer = (await world.ask("Wer leitet das Lager der Werft am Hafen von Kiel?")).answer

    assert answer.outcome is outcome
    await world.recorder.aclose()
