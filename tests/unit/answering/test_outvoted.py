"""A page of the web that says other than at least two independent sources, which agree, is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.answering.corpus import Corpus

from agentic_rag.answering.evidence import outvoted as outvoted_module
from agentic_rag.answering.evidence.outvoted import Outvoted, PassageAges, find_outvoted
from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.contradiction import read_statement
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.language.tokenizer import query_terms
from agentic_rag.retrieval.candidates import Candidate, Passage

NOBODY = Outvoted()
NO_AGES = PassageAges()
Page = tuple[str | None, str]
"""The host of a page, None for a document of the workspace, and its text."""


def found(question: str, *pages: Page) -> tuple[Subquery, list[Passage]]:
    """The question, and the pages as they were found."""
    corpus = Corpus()
    for place, (host, text) in enumerate(pages):
        path = f"notes/{place}.md" if host is None else f"web/{host}/{place}"
        corpus.add(path, f"Page {place}", text, whole=True)
    passages = [
        Passage(replace(chunk, url=None if host is None else f"https://{host}/{place}"), Candidate(place, 0.6, ()))
        for place, (chunk, (host, _)) in enumerate(zip(corpus.chunks, pages, strict=True))
    ]
    rarity = dict.fromkeys(query_terms(question), 2.0)
    return build_subquery(question, detect_answer_type(question), rarity), passages


def outvoted(question: str, *pages: Page, ages: PassageAges = NO_AGES) -> Outvoted:
    return find_outvoted(*found(question, *pages), ages)


def against_two(question: str, said: str, agreed: str) -> Outvoted:
    """The page at place 2 beside two that agree."""
    return outvoted(question, ("a.example", agreed), ("b.example", agreed), ("c.example", said))


WORKERS = ("How many people work at Corrand Tidal?", "Corrand Tidal has 90 people at work.")
DEPTH = ("How deep is berth 4?", "Berth 4 is 12 m deep.")
OPENED = ("When was the Ravn pier opened?", "The Ravn pier was opened on 3 May 2011.")
DESIGNED = ("Who designed the Ravn pier?", "The Ravn pier was designed by Maren Tollack.")


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (WORKERS, "40 people work at Corrand Tidal, the yard said in a note about slates."),
        (DEPTH, "In the notes of the season, berth 4 is said to be 19 m deep, and rope is cheap."),
        (OPENED, "The Ravn pier, which is long, was opened on 9 June 2014 by many."),
        (DESIGNED, "It was Ida Voss who designed the Ravn pier, rope by rope."),
        (DESIGNED, "The Ravn pier was not designed by Maren Tollack."),
        (DESIGNED, "Although some name Maren Tollack, the Ravn pier was designed by Ida Voss."),
    ],
)
def test_a_page_with_another_value_than_two_others_is_outvoted_in_any_words(known: tuple[str, str], said: str):
    assert against_two(known[0], said, known[1]).places == {2}


@pytest.mark.parametrize(
    ("question", "agreed", "said"),
    [
        (DEPTH[0], DEPTH[1], "Berth 4 is 12.0 metres deep, and berth 5 is close."),
        (DEPTH[0], "Berth 4 is dredged in 12 weeks.", "Berth 4 is 19 m deep."),
        (DESIGNED[0], "Maren Tollack visited the Ravn pier.", "Ida Voss designed the Ravn pier."),
        (DESIGNED[0], "The Ravnholm pier was designed by Maren Tollack.", "Ida Voss designed the Ravn pier."),
        (OPENED[0], DESIGNED[1], "The Ravn pier was opened on 9 June 2014."),
        ("Which boats use the Ravn pier?", "The Hero uses the Ravn pier.", "The Hero and the Iris use the Ravn pier."),
    ],
)
def test_a_page_is_believed_where_two_others_agree_with_it_or_tell_something_else(
    question: str, agreed: str, said: str
):
    assert against_two(question, said, agreed) == NOBODY


def test_pages_that_agree_and_each_tell_more_are_all_believed():
    said = "The Ravn pier was designed by Maren Tollack, "
    more = ("helped by Ida Voss.", "with the yard of Corrand Tidal.", "and built by Ole Berg.")

    assert (
        outvoted("Who designed the Ravn pier?", *[(f"{at}.example", said + one) for at, one in enumerate(more)]).places
        == frozenset()
    )


def test_a_page_that_tells_the_truth_too_loses_its_other_sentence_alone():
    truth, lie = "The Ravn pier was designed by Maren Tollack.", "The Ravn pier was designed by Ida Voss."

    found = against_two("Who designed the Ravn pier?", f"{truth} {lie}", truth)

    assert found.places == frozenset()
    assert [start for _, start in found.spans] == [len(truth) + 1]


def test_a_site_has_one_voice_and_a_document_of_the_workspace_is_never_outvoted():
    question, truth, lie = "How deep is berth 4?", "Berth 4 is 12 m deep.", "Berth 4 is 19 m deep."

    assert outvoted(question, ("a.example", truth), ("a.example", truth), ("c.example", lie)) == NOBODY
    assert outvoted(question, ("a.example", truth), ("b.example", truth), (None, lie)) == NOBODY
    assert outvoted(question, (None, truth), (None, truth), ("c.example", lie)).places == {2}
    assert (
        outvoted(question, ("a.example", truth), ("b.example", "Berth 4 is 15 m deep."), ("c.example", lie)) == NOBODY
    )


OLD_FIRST = PassageAges(old=frozenset({0}), new=frozenset({1, 2}))
MOVED = "The Ravn pier was designed by Ida Voss."


def test_two_new_sources_outvote_an_old_document_of_the_workspace_and_one_does_not() -> None:
    old, both = (None, DESIGNED[1]), (("a.example", MOVED), ("b.example", MOVED))

    assert outvoted(DESIGNED[0], old, *both) == NOBODY
    assert outvoted(DESIGNED[0], old, *both, ages=OLD_FIRST).places == {0}
    assert outvoted(DESIGNED[0], old, ("a.example", MOVED), ("a.example", MOVED), ages=OLD_FIRST) == NOBODY
    assert outvoted(DESIGNED[0], old, ("a.example", MOVED), ("b.example", OPENED[1]), ages=OLD_FIRST) == NOBODY


def test_two_old_sources_outvote_one_new_page_and_not_two_that_agree() -> None:
    old = (None, DESIGNED[1]), (None, DESIGNED[1])
    one_new, two_new = PassageAges(frozenset({0, 1}), frozenset({2})), PassageAges(frozenset({0, 1}), frozenset({2, 3}))

    assert outvoted(DESIGNED[0], *old, ("a.example", MOVED), ages=one_new).places == {2}
    assert outvoted(DESIGNED[0], *old, ("a.example", MOVED), ("b.example", MOVED), ages=two_new).places == {0, 1}


def test_a_lie_between_new_pages_is_outvoted_whatever_right_value_it_names_too() -> None:
    lie = ("c.example", "The Ravn pier was designed by Ole Berg, and Ida Voss drew its lamps.")
    ages = PassageAges(frozenset({0}), frozenset({1, 2, 3}))
    told = outvoted(DESIGNED[0], (None, OPENED[1]), ("a.example", MOVED), ("b.example", MOVED), lie, ages=ages)

    assert told.spans


@pytest.mark.parametrize(
    ("newer", "repeated"),
    [
        ("The Ravn pier was designed by Maren Tollack.", True),
        ("Maren Tollack designed the Ravn pier.", True),
        ("The Ravn pier was designed by Ida Voss.", False),
        ("The Ravn pier was not designed by Maren Tollack.", False),
        ("The Ravnholm pier was designed by Maren Tollack.", False),
        ("Maren Tollack visited the Ravn pier.", False),
    ],
)
def test_an_old_sentence_is_left_out_where_a_new_one_says_the_same(newer: str, repeated: bool) -> None:
    part, passages = found(DESIGNED[0], (None, DESIGNED[1]), (None, newer))

    assert bool(find_outvoted(part, passages, PassageAges(frozenset({0}), frozenset({1}))).repeated) is repeated
    assert not find_outvoted(part, passages, PassageAges(frozenset({0}), frozenset())).repeated


def test_what_is_outvoted_itself_repeats_nothing() -> None:
    ages = PassageAges(frozenset({0}), frozenset({1, 2, 3}))
    lie = ("c.example", "The Ravn pier was designed by Maren Tollack, the notes say.")

    told = outvoted(DESIGNED[0], (None, DESIGNED[1]), ("a.example", MOVED), ("b.example", MOVED), lie, ages=ages)

    assert 3 in told.places
    assert not told.repeated


def test_the_claims_of_passages_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(outvoted_module, "read_statement", lambda text: read.append(text) or read_statement(text))

    outvoted(DESIGNED[0], (None, DESIGNED[1]), ("a.example", MOVED), ("b.example", MOVED), ages=OLD_FIRST)

    assert len(read) == 3
