"""Candidate answers around the units that a model read, and the trained choice among them."""

from __future__ import annotations

from dataclasses import fields, replace

from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans, PartDraft, draft_part
from agentic_rag.answering.extraction.part_units import PartUnits
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.shapes.candidate_signs import CandidateSigns, find_signs
from agentic_rag.answering.shapes.candidates import find_candidates
from agentic_rag.answering.shapes.choice import Tree, choose_answer, score_signs, shipped_trees
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.answering.shapes.table import shape_part
from agentic_rag.language.tokenizer import query_terms

QUESTION = "Which locks does the caretaker change?"
PART = build_subquery(QUESTION, AnswerType.FACT, dict.fromkeys(query_terms(QUESTION), 0.5))
TEXT = (
    "# Keys\n\nThe caretaker keeps the keys. The caretaker changes locks on Monday. Ask at the desk. Bring a card.\n\n"
    "## Locks\n\nThe caretaker changes these locks:\n\n- front door\n- store\n"
)
PASSAGES = [passage(1, "Keys", TEXT)]


def draft(excluded: ExcludedSpans = frozenset()) -> PartDraft:
    held = PartUnits(PART, 0, PASSAGES)
    return replace(draft_part(PART, 0, PASSAGES, 2, excluded, held), read=tuple(held.all_units()))


def texts(excluded: ExcludedSpans = frozenset()) -> list[str]:
    found = find_candidates(0, PASSAGES, draft(excluded), excluded)
    return ["\n".join(sentence.text for sentence in one.sentences) for one in found]


def test_the_draft_comes_first_and_nothing_is_quoted_twice() -> None:
    given = draft()

    found = find_candidates(0, PASSAGES, given, frozenset())

    assert found[0].sentences == given.sentences
    quoted = [tuple((quote.start, quote.end) for quote in one.quotes) for one in found]
    assert len(quoted) == len(set(quoted))


def test_candidates_are_sentences_with_those_beside_them_paragraphs_lists_and_sections() -> None:
    found = texts()

    assert "The caretaker changes locks on Monday." in found
    assert "The caretaker keeps the keys. The caretaker changes locks on Monday." in found
    assert any(one.startswith("The caretaker keeps") and one.endswith("Bring a card.") for one in found)
    assert "The caretaker changes these locks:\n- front door.\n- store." in found


def test_what_a_self_check_refused_is_in_no_candidate() -> None:
    at = TEXT.index("The caretaker changes locks")

    assert not any("Monday" in one for one in texts(frozenset({(PASSAGES[0].chunk.ordinal, at)})))


def test_what_quotes_nothing_is_no_candidate_and_a_draft_that_is_empty_stays_so() -> None:
    units = PartUnits(PART, 0, PASSAGES).all_units()
    every = frozenset((PASSAGES[0].chunk.ordinal, unit.start) for unit in units)

    assert find_candidates(0, PASSAGES, draft(every), every) == []
    assert shape_part(QuestionKind.REASON, PART, 0, PASSAGES, draft(every), every).sentences == ()
    unsaid = find_candidates(0, PASSAGES, replace(draft(), sentences=()), frozenset())
    assert unsaid
    assert all(one.sentences for one in unsaid)


def test_what_a_form_proposes_is_a_candidate_once_and_known_as_such() -> None:
    given = draft()
    held = find_candidates(0, PASSAGES, given, frozenset())
    listed = next(one for one in held if one.block is not None and one.block.lead is not None)
    unheld = (replace(given.sentences[0], start=TEXT.index("Bring"), end=TEXT.index("Bring") + 12),)

    found = find_candidates(0, PASSAGES, given, frozenset(), listed.sentences)
    with_another = find_candidates(0, PASSAGES, given, frozenset(), unheld)

    assert len(found) == len(held)
    assert [one for one in found if one.is_proposed] == [replace(listed, is_proposed=True)]
    assert with_another[:-1] == held
    assert with_another[-1].sentences == unheld
    signs = find_signs(QuestionKind.LIST, PART, PASSAGES, given, found)
    assert [CandidateSigns(*one).is_proposed for one in signs] == [one.is_proposed for one in found]  # type: ignore[arg-type]


def test_a_form_that_is_often_wrong_only_proposes_where_a_model_read_the_units() -> None:
    given = draft()
    proposals: list[tuple[DraftSentence, ...]] = []

    def choose(*asked: object) -> tuple[DraftSentence, ...]:
        proposals.append(asked[-1])  # type: ignore[arg-type]
        return given.sentences

    unread = shape_part(QuestionKind.LIST, PART, 0, PASSAGES, replace(given, read=()), frozenset(), choose)
    read = shape_part(QuestionKind.LIST, PART, 0, PASSAGES, given, frozenset(), choose)

    assert unread.sentences != given.sentences
    assert read.sentences == given.sentences
    assert proposals == [unread.sentences]


def test_signs_tell_what_lies_within_a_candidate() -> None:
    given = draft()
    found = find_candidates(0, PASSAGES, given, frozenset())

    signs = [
        CandidateSigns(*one)  # type: ignore[arg-type]
        for one in find_signs(QuestionKind.FACT, PART, PASSAGES, given, found)
    ]

    assert [one.is_draft for one in signs] == [True] + [False] * (len(found) - 1)
    lists = [one for one, candidate in zip(signs, found, strict=True) if candidate.block and candidate.block.lead]
    assert lists[0].has_lead
    assert lists[0].sentences >= 2
    assert all(0.0 <= one.first_gap <= one.last_gap and one.held_wide <= 1.0 + 1e-9 for one in signs)
    alone = next(one for one in signs if one.sentences == 1 and one.first_gap == 0.0)
    assert alone.near_share == 1.0


def test_a_tree_is_followed_to_its_leaf() -> None:
    trees: tuple[Tree, ...] = ((0, 0.5, -1.0, (1, 2.0, 0.25, 3.0)), 0.5)

    assert score_signs((0.5, 9.0), trees) == -0.5
    assert score_signs((0.6, 2.0), trees) == 0.75
    assert score_signs((0.6, 2.1), trees) == 3.5


def test_the_shipped_trees_ask_for_signs_that_there_are() -> None:
    def asked(tree: Tree) -> set[int]:
        return set() if isinstance(tree, float | int) else {tree[0]} | asked(tree[2]) | asked(tree[3])

    numbers = set[int]().union(*map(asked, shipped_trees()))

    assert numbers
    assert max(numbers) < len(fields(CandidateSigns))


def test_the_choice_is_one_of_the_candidates() -> None:
    given = draft()

    chosen = choose_answer(QuestionKind.FACT, PART, 0, PASSAGES, given, frozenset())

    assert chosen in [one.sentences for one in find_candidates(0, PASSAGES, given, frozenset())]


def test_the_draft_stands_where_no_model_read_its_units_or_it_shows_a_conflict() -> None:
    def never(*_given: object) -> tuple[()]:
        raise AssertionError

    unread, conflicting = replace(draft(), read=()), replace(draft(), conflicting=True)

    for given in (unread, conflicting):
        shaped = shape_part(QuestionKind.FACT, PART, 0, PASSAGES, given, frozenset(), never)
        assert shaped.sentences == given.sentences
