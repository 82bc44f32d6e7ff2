"""What became of candidates, and the verdict on a passage that is none."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.retrieval.test_paths import CHUNKS, LEAGUE, PLAYER, TOWN, UNION, citation

from agentic_rag.answering.answer import Abstention, AbstentionReason, Answer, AnswerDebug, Outcome
from agentic_rag.answering.gate_decision import Directives, GateDecision
from agentic_rag.answering.runs.explanation import (
    MAX_RANK_DEPTH,
    ArmPlacement,
    ArmRanking,
    ArmState,
    CandidateFate,
    SearchPlacement,
    WhyNotVerdict,
    decide_why_not,
    explain_candidates,
    format_why_not,
    place_in_arm,
)
from agentic_rag.documents.document import ChunkVersion, nearest_version
from agentic_rag.retrieval.candidates import ArmHit, CandidateTrace, Retriever

GATE = GateDecision(Directives(True), "retrieve", 0.5, {}, (), (), "w", "on")


def trace(place: int, dropped: str | None = None) -> CandidateTrace:
    chunk = CHUNKS[place]
    return CandidateTrace(chunk.chunk_id, chunk.document_id, chunk.document_title, 0.5, (), dropped)


def answer(
    text: str, *candidates: CandidateTrace, cited: tuple[int, ...] = (), nearest: tuple[int, ...] = ()
) -> Answer:
    abstention = Abstention(AbstentionReason.LOW_SUPPORT, "", tuple(citation(one) for one in nearest))
    return Answer(
        text, Outcome.GROUNDED, None if text else abstention, tuple(citation(one) for one in cited), (), GATE,
        AnswerDebug(candidates=candidates),
    )  # fmt: skip


def test_a_candidate_is_cited_unused_or_dropped_for_a_reason() -> None:
    told = explain_candidates(answer("Words. [1]", trace(PLAYER), trace(LEAGUE), trace(TOWN, "top_k"), cited=(PLAYER,)))

    assert [(one.rank, one.fate, one.markers) for one in told] == [
        (1, CandidateFate.CITED, (1,)),
        (2, CandidateFate.UNUSED, ()),
        (3, CandidateFate.TOP_K, ()),
    ]
    assert told[1].reason == "Handed to synthesis; the answer needed nothing of it."


def test_an_abstention_shows_the_nearest_and_says_of_the_others_that_they_support_nothing() -> None:
    told = explain_candidates(answer("", trace(PLAYER), trace(UNION), nearest=(PLAYER,)))

    assert [one.fate for one in told] == [CandidateFate.NEAREST, CandidateFate.UNUSED]
    assert told[1].reason == "Handed to synthesis; nothing in it supports an answer."


@pytest.mark.parametrize(
    "reason", ["top_k", "per_document", "near_duplicate", "diversity", "min_score", "similarity", "context_budget"]
)
def test_every_reason_to_drop_a_candidate_is_told_in_words(reason: str) -> None:
    told = explain_candidates(answer("Words.", trace(PLAYER, reason)))[0]

    assert told.fate.value == reason
    assert told.reason.endswith(".")
    assert "_" not in told.reason
    assert not told.reason.startswith("Dropped")


def test_a_reason_of_another_version_is_told_as_it_is() -> None:
    told = explain_candidates(answer("Words.", trace(PLAYER, "something_else")))[0]

    assert (told.fate, told.reason) == (CandidateFate.DROPPED, "Dropped: something_else.")


def hits(*ordinals: int) -> list[ArmHit]:
    return [ArmHit(ordinal, 1.0 / place, 0.5 / place) for place, ordinal in enumerate(ordinals, start=1)]


@given(st.sampled_from(Retriever), st.permutations(range(6)), st.integers(0, 6), st.integers(0, 7))
def test_a_rank_is_that_of_the_ranking_it_was_found_in(
    retriever: Retriever, order: list[int], proposed: int, ordinal: int
) -> None:
    standing = place_in_arm(ordinal, ArmRanking(retriever, 0.3, True, hits(*order[:proposed]), hits(*order)))

    if ordinal not in order:
        assert standing.rank is None
        assert standing.state is (ArmState.NOTHING_SHARED if retriever is Retriever.LEXICAL else ArmState.NOT_REACHED)
        return
    rank = order.index(ordinal) + 1
    assert (standing.rank, standing.raw, standing.normalised) == (rank, 1.0 / rank, 0.5 / rank)
    assert standing.state is (ArmState.PROPOSED if rank <= proposed else ArmState.BEYOND)


def test_below_the_depth_a_passage_has_no_rank_but_is_not_said_to_share_nothing() -> None:
    sight = ArmRanking(Retriever.LEXICAL, 0.3, True, hits(1), hits(*range(1, MAX_RANK_DEPTH + 1)))

    assert place_in_arm(MAX_RANK_DEPTH + 5, sight) == ArmPlacement(
        Retriever.LEXICAL, ArmState.BEYOND, None, None, None, 0.3
    )


def test_an_arm_that_was_not_asked_has_no_figures() -> None:
    sight = ArmRanking(Retriever.GRAPH, 0.0, False, hits(1))

    assert place_in_arm(1, sight).state is ArmState.NOT_ASKED


def standing(rank: int | None, lexical: ArmState = ArmState.PROPOSED, handed_on: int = 8) -> SearchPlacement:
    arm = ArmPlacement(Retriever.LEXICAL, lexical, None, None, None, 0.3)
    return SearchPlacement("q", rank, None if rank is None else 1 / rank, 20, handed_on, 0.25, (arm,))


@pytest.mark.parametrize(
    ("standings", "verdict"),
    [
        ([standing(3)], WhyNotVerdict.WITHIN_REACH),
        ([standing(9)], WhyNotVerdict.OUTRANKED),
        ([standing(None), standing(12)], WhyNotVerdict.OUTRANKED),
        ([standing(12), standing(8)], WhyNotVerdict.WITHIN_REACH),
        ([standing(None, ArmState.BEYOND)], WhyNotVerdict.NOT_PROPOSED),
        ([standing(None, ArmState.NOTHING_SHARED)], WhyNotVerdict.NO_SHARED_TERM),
        ([standing(None, ArmState.NOTHING_SHARED), standing(None, ArmState.BEYOND)], WhyNotVerdict.NOT_PROPOSED),
        ([standing(None, ArmState.NOT_ASKED)], WhyNotVerdict.NOT_PROPOSED),
    ],
)
def test_the_best_standing_decides(standings: list[SearchPlacement], verdict: WhyNotVerdict) -> None:
    assert decide_why_not(standings) is verdict


def test_a_verdict_in_words_has_the_figures_of_the_best_standing() -> None:
    outranked = format_why_not(WhyNotVerdict.OUTRANKED, [standing(None), standing(16), standing(10)])

    assert outranked == "Rank 10 of 20 with a score of 0.100; the last of the 8 that are handed on has 0.250."
    assert format_why_not(WhyNotVerdict.WITHIN_REACH, [standing(2)]).startswith(
        "Rank 2 of 20 with a score of 0.500 when"
    )
    assert "no term of the question" in format_why_not(WhyNotVerdict.NO_SHARED_TERM, [standing(None)])
    assert format_why_not(WhyNotVerdict.NOT_PROPOSED, [standing(None)]) == "No arm put it among what it proposes."


def place(ordinal: int, visible_from: int, visible_to: int | None) -> ChunkVersion:
    return ChunkVersion(UUID(int=1), ordinal, UUID(int=2), "Title", visible_from, visible_to)


def test_a_chunk_that_went_and_came_again_stands_where_a_version_sees_it() -> None:
    places = [place(4, 1, 3), place(9, 5, None)]

    assert nearest_version(places, UUID(int=1), 2) == places[0]
    assert nearest_version(places, UUID(int=1), 6) == places[1]
    assert nearest_version(places, UUID(int=1), 4) == places[1]
    assert nearest_version(places, UUID(int=7), 4) is None
