"""Answers of several hops."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid5

from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.multi_hop import (
    MAX_PATH_SENTENCES,
    MIN_HOP_PROBABILITY,
    draft_from_path,
    find_path,
    focus_mask,
)
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.plan import AnswerType
from agentic_rag.documents.document import Chunk
from agentic_rag.language.tokenizer import query_terms
from agentic_rag.retrieval.candidates import ArmScore, Candidate, Passage, Retriever

QUESTION = "Who founded the network that shows Thumb Wrestling?"
SHOW = "Thumb Wrestling is a television series for children. It is shown on Cartoon Network."
NETWORK = "Cartoon Network is a channel with its seat in Atlanta. It was founded by Betty Cohen in 1992."
OTHER = "Arm wrestling is a sport. Its league meets in Denver."


def passage(ordinal: int, document: str, text: str, chance: float) -> Passage:
    document_id = uuid5(UUID(int=0), document)
    chunk = Chunk(
        ordinal, uuid5(document_id, str(ordinal)), document_id, document_id, 0, text, 0, len(text), None, 1, 1, (),
        document, document, None, "text/plain",
    )  # fmt: skip
    arms = (ArmScore(Retriever.GRAPH, ordinal, chance, 0.4, 0.3),)
    return Passage(chunk, Candidate(ordinal, 0.5 - ordinal / 100, arms), ())


def found(*passages: Passage) -> Sequence[tuple[Chunk, Candidate]]:
    return [(one.chunk, one.candidate) for one in passages]


def question() -> Subquery:
    return build_subquery(QUESTION, AnswerType.PERSON, dict.fromkeys(query_terms(QUESTION), 0.5), ())


def test_a_trail_is_the_first_passage_and_what_it_leads_to() -> None:
    first, second, third = (
        passage(1, "Thumb Wrestling", SHOW, 0.0),
        passage(2, "Cartoon Network", NETWORK, 0.6),
        passage(3, "Arm wrestling", OTHER, MIN_HOP_PROBABILITY / 2),
    )

    assert find_path(found(first, second, third)) == (1, 2)
    assert find_path(found(first, third)) == ()
    assert find_path([]) == ()


def test_more_of_the_same_document_is_no_hop() -> None:
    first, again = passage(1, "Thumb Wrestling", SHOW, 0.0), passage(2, "Thumb Wrestling", NETWORK, 0.6)

    assert find_path(found(first, again)) == ()


def test_the_last_hop_is_read_for_what_is_still_open() -> None:
    passages = [passage(1, "Thumb Wrestling", SHOW, 0.0), passage(2, "Cartoon Network", NETWORK, 0.6)]

    draft = draft_from_path(question(), (1, 2), passages)

    assert [sentence.passage for sentence in draft.sentences][-1] == 1
    assert "Betty Cohen" in draft.sentences[-1].text


def test_a_trail_is_supported_by_its_passages_together() -> None:
    passages = [
        passage(1, "Thumb Wrestling", "Thumb Wrestling is a series for children.", 0.0),
        passage(2, "Cartoon Network", NETWORK, 0.6),
    ]

    together = draft_from_path(question(), (1, 2), passages).units[0]
    alone = draft_from_path(question(), (1,), passages[:1]).units[0]

    assert (
        together.mask | together.context_mask | together.passage_mask
        > alone.mask | alone.context_mask | alone.passage_mask
    )


def test_an_answer_of_several_hops_cites_two_passages_and_has_three_sentences_at_most() -> None:
    long = SHOW + " Thumb Wrestling was founded by Ann Bell. Thumb Wrestling was founded again by Bo Dahl."
    passages = [passage(1, "Thumb Wrestling", long, 0.0), passage(2, "Cartoon Network", NETWORK, 0.6)]

    sentences = draft_from_path(question(), (1, 2), passages).sentences

    assert {sentence.passage for sentence in sentences} == {0, 1}
    assert len(sentences) <= MAX_PATH_SENTENCES


def test_a_sentence_without_a_word_of_the_question_may_answer() -> None:
    town = passage(1, "Ceelmako", "Ceelmako is a town in Somalia.", 0.0)
    country = passage(2, "Somalia", "Its coast is long. Hassan Sheikh Mohamud was sworn in that year.", 0.6)
    text = "Who was in charge of the country Ceelmako is in?"
    asked = build_subquery(text, AnswerType.PERSON, dict.fromkeys(query_terms(text), 0.5), ())

    assert "Hassan Sheikh Mohamud" in draft_from_path(asked, (1, 2), [town, country]).sentences[-1].text


def test_a_place_is_looked_for_where_one_is_asked_for() -> None:
    album = passage(1, "Maiden Japan", "Maiden Japan is a live record by Iron Maiden.", 0.0)
    band = passage(2, "Iron Maiden", "They sold records. They got together in Leyton, in the winter.", 0.6)
    text = "Where did the group start that made Maiden Japan?"
    asked = build_subquery(text, AnswerType.FACT, dict.fromkeys(query_terms(text), 0.5), ())

    assert "Leyton" in draft_from_path(asked, (1, 2), [album, band]).sentences[-1].text


def test_the_focus_is_what_stands_by_the_asking_word() -> None:
    def focused(text: str) -> set[str]:
        part = build_subquery(text, AnswerType.FACT, dict.fromkeys(query_terms(text), 0.5), ())
        return {term.term for place, term in enumerate(part.terms) if focus_mask(part) >> place & 1}

    assert focused("Where did the band form that made Maiden Japan?") == {"band", "form", "made"}
    assert focused("The network that shows Thumb Wrestling was founded by who?") == {"thumb", "wrestl", "found"}
    assert focused("Name the founder of Cartoon Network.") == set()


def test_a_refused_sentence_is_not_taken_again_and_a_dropped_passage_is_left_out() -> None:
    passages = [passage(1, "Thumb Wrestling", SHOW, 0.0), passage(2, "Cartoon Network", NETWORK, 0.6)]
    refused = draft_from_path(question(), (1, 2), passages).sentences[-1]

    again = draft_from_path(question(), (1, 2, 77), passages, frozenset({(2, refused.start)}))

    assert refused.text not in {sentence.text for sentence in again.sentences}
    assert draft_from_path(question(), (77,), passages).sentences == ()
