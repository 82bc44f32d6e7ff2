"""Which ranked passages are handed on, and why the others are not."""

from __future__ import annotations

from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.documents.document import Chunk
from agentic_rag.retrieval.candidates import Candidate
from agentic_rag.retrieval.selection import SelectionRules, cosine_similarity, select

WORDS = ("tidal turbine blade inspection", "tidal turbine blade inspections", "harbour fee table", "crew leave rules")


def ranked(*passages: tuple[str, str, float]) -> list[tuple[Chunk, Candidate]]:
    """(document, text, score), best first."""
    found: list[tuple[Chunk, Candidate]] = []
    for place, (document, text, score) in enumerate(passages):
        document_id = uuid5(UUID(int=0), document)
        chunk = Chunk(
            place, uuid5(document_id, str(place)), document_id, document_id, place, text, 0, len(text), None, 1, 1, (),
            document, document, None, "text/plain",
        )  # fmt: skip
        found.append((chunk, Candidate(place, score, ())))
    return found


lists = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(WORDS), st.integers(0, 100).map(lambda score: score / 100)),
    max_size=8,
).map(lambda rows: ranked(*sorted(rows, key=lambda row: -row[2])))
rules = st.builds(
    SelectionRules,
    st.integers(1, 6),
    st.sampled_from([0.0, 0.3]),
    st.none() | st.integers(1, 3),
    st.sampled_from([0.0, 0.3, 1.0]),
)


def dropped(found: list[tuple[Chunk, Candidate]], given_rules: SelectionRules) -> list[str | None]:
    return [one.drop_reason for one in select(found, given_rules)]


@given(lists, rules)
def test_every_passage_is_judged_in_its_place_and_the_kept_ones_obey_every_rule(
    found: list[tuple[Chunk, Candidate]], given_rules: SelectionRules
) -> None:
    judged = select(found, given_rules)
    kept = [one for one in judged if one.drop_reason is None]

    assert [(one.chunk, one.candidate) for one in judged] == found
    assert len(kept) <= given_rules.top_k
    assert all(one.candidate.score >= given_rules.min_score for one in kept)
    of_one = [sum(one.chunk.document_id == other.chunk.document_id for one in kept) for other in kept]
    assert max(of_one, default=0) <= (given_rules.per_document or len(found))
    if len(kept) < given_rules.top_k:
        assert {one.drop_reason for one in judged} <= {None, "min_score", "per_document"}


@given(lists, st.integers(1, 6))
def test_without_further_rules_the_first_are_kept(found: list[tuple[Chunk, Candidate]], top_k: int) -> None:
    places = [place for place, why in enumerate(dropped(found, SelectionRules(top_k))) if why is None]

    assert places == list(range(min(top_k, len(found))))


def test_a_full_document_gives_way_to_the_next() -> None:
    found = ranked(("a", "one", 0.9), ("a", "two", 0.8), ("b", "three", 0.7), ("c", "four", 0.6))

    assert dropped(found, SelectionRules(2, per_document=1)) == [None, "per_document", None, "top_k"]


def test_too_low_a_score_is_the_first_reason() -> None:
    found = ranked(("a", "one", 0.9), ("a", "two", 0.1))

    assert dropped(found, SelectionRules(2, min_score=0.5, per_document=1)) == [None, "min_score"]


def test_diversity_passes_over_what_says_the_same() -> None:
    found = ranked(("a", WORDS[0], 0.9), ("b", WORDS[1], 0.89), ("c", WORDS[2], 0.6))

    assert dropped(found, SelectionRules(2)) == [None, None, "top_k"]
    assert dropped(found, SelectionRules(2, diversity=0.3)) == [None, "near_duplicate", None]


def test_diversity_passes_over_what_is_much_alike_too() -> None:
    found = ranked(("a", WORDS[0], 0.9), ("b", "turbine blade repair crew", 0.7), ("c", WORDS[2], 0.6))

    assert dropped(found, SelectionRules(2, diversity=0.5)) == [None, "diversity", None]


def test_rules_that_leave_out_need_to_see_more() -> None:
    assert SelectionRules(8).candidate_count == 8
    assert SelectionRules(8, per_document=2).candidate_count == 16
    assert SelectionRules(8, diversity=0.1).candidate_count == 16


counts = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 5))


@given(counts, counts)
def test_likeness_is_symmetric_and_lies_between_0_and_1(one: dict[str, int], other: dict[str, int]) -> None:
    assert 0 <= cosine_similarity(one, other) <= 1
    assert cosine_similarity(one, other) == cosine_similarity(other, one)


@given(counts.filter(bool))
def test_a_text_is_like_itself(one: dict[str, int]) -> None:
    assert cosine_similarity(one, one) == pytest.approx(1)


def test_passages_too_far_from_the_question_make_room_for_the_next() -> None:
    found = ranked(("a", "one", 0.9), ("b", "two", 0.8), ("c", "three", 0.7))

    judged = select(found, SelectionRules(1, has_min_similarity=True), frozenset({0}))

    assert [one.drop_reason for one in judged] == ["similarity", None, "top_k"]
    assert SelectionRules(1, has_min_similarity=True).candidate_count == 2
