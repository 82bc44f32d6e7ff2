"""Rankings, answers and how sure their figures are."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag_eval.metrics import all_gold_at, exact_match, ndcg_at, recall_at, reciprocal_rank, token_f1
from agentic_rag_eval.resampling import compare_pairs, interval_of

rankings = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10)
golds = st.sets(st.sampled_from("abcdefghij"), min_size=1)


def test_recall_counts_the_gold_among_the_first_k() -> None:
    assert recall_at(["x", "a", "y", "b"], {"a", "b"}, 2) == 0.5
    assert recall_at(["x", "a", "y", "b"], {"a", "b"}, 4) == 1.0


def test_all_gold_is_reached_only_with_the_last_of_them() -> None:
    assert [all_gold_at(["x", "a", "y", "b"], {"a", "b"}, k) for k in (2, 3, 4)] == [0.0, 0.0, 1.0]


def test_the_reciprocal_rank_is_of_the_first_gold() -> None:
    assert reciprocal_rank(["x", "y", "a", "b"], {"a", "b"}) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x"], {"a"}) == 0.0


def test_ndcg_by_hand() -> None:
    expected = (1 / math.log2(3) + 1 / math.log2(5)) / (1 / math.log2(2) + 1 / math.log2(3))

    assert ndcg_at(["x", "a", "y", "b"], {"a", "b"}, 10) == pytest.approx(expected)


def test_more_gold_than_places_can_still_be_perfect() -> None:
    assert ndcg_at(["a", "b"], {"a", "b", "c"}, 2) == pytest.approx(1.0)


@given(rankings, golds, st.integers(1, 10))
def test_every_figure_is_a_share(ranked: list[str], gold: set[str], k: int) -> None:
    for figure in (recall_at(ranked, gold, k), ndcg_at(ranked, gold, k), reciprocal_rank(ranked, gold)):
        assert 0.0 <= figure <= 1.0 + 1e-12


@given(rankings, golds)
def test_recall_and_all_gold_grow_with_k(ranked: list[str], gold: set[str]) -> None:
    recalls = [recall_at(ranked, gold, k) for k in range(1, 11)]

    assert recalls == sorted(recalls)
    assert [all_gold_at(ranked, gold, k) == 1.0 for k in range(1, 11)] == [one == 1.0 for one in recalls]


@given(rankings.filter(lambda ranked: len(ranked) > 1), golds)
def test_moving_gold_forward_never_lowers_ndcg(ranked: list[str], gold: set[str]) -> None:
    better = sorted(ranked, key=lambda one: one not in gold)

    assert ndcg_at(better, gold, 10) >= ndcg_at(ranked, gold, 10) - 1e-12


def test_a_question_without_gold_has_no_recall() -> None:
    with pytest.raises(ValueError, match="without gold"):
        recall_at(["a"], (), 5)


def test_a_ranking_that_repeats_a_document_is_a_fault() -> None:
    with pytest.raises(ValueError, match="twice"):
        recall_at(["a", "a"], {"a"}, 5)


@pytest.mark.parametrize(
    ("answer", "matches", "f1"),
    [
        ("The Eiffel Tower!", 1.0, 1.0),
        ("eiffel tower, in Paris", 0.0, 2 / 3),
        ("a bridge", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_answers_are_compared_without_case_punctuation_and_articles(answer: str, matches: float, f1: float) -> None:
    gold = ("Eiffel Tower", "Tour Eiffel")

    assert exact_match(answer, gold) == matches
    assert token_f1(answer, gold) == pytest.approx(f1)


def test_the_interval_holds_the_mean_and_narrows_with_more_questions() -> None:
    few, many = interval_of([0.0, 1.0] * 10), interval_of([0.0, 1.0] * 1_000)

    assert few is not None
    assert many is not None
    assert few.mean == many.mean == 0.5
    assert few.low < many.low < 0.5 < many.high < few.high
    assert many.high - many.low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(2_000), rel=0.1)  # the normal limit


def test_equal_values_leave_no_doubt_and_no_values_no_figure() -> None:
    certain = interval_of([0.25] * 7)

    assert certain is not None
    assert (certain.low, certain.high) == (0.25, 0.25)
    assert interval_of([]) is None


def test_a_clear_gain_is_told_from_noise() -> None:
    first = [0.0, 0.5, 0.25, 0.75] * 20
    gain = compare_pairs(first, [value + 0.2 for value in first])
    noise = compare_pairs(first, [value + (0.1 if index % 2 else -0.1) for index, value in enumerate(first)])

    assert gain is not None
    assert gain.is_gain
    assert not gain.is_loss
    assert (gain.wins, gain.losses) == (80, 0)
    assert gain.p_value < 0.001
    assert noise is not None
    assert not noise.is_gain
    assert not noise.is_loss
    assert noise.p_value > 0.5


def test_swapping_two_systems_turns_the_difference_round() -> None:
    first, second = [0.1, 0.9, 0.4, 0.6, 0.3], [0.2, 0.8, 0.7, 0.6, 0.9]
    there, back = compare_pairs(first, second), compare_pairs(second, first)

    assert there is not None
    assert back is not None
    assert there.difference.mean == pytest.approx(-back.difference.mean)
    assert (there.wins, there.losses) == (back.losses, back.wins)


def test_the_same_system_twice_does_not_differ() -> None:
    same = compare_pairs([0.3, 0.4, 1.0], [0.3, 0.4, 1.0])

    assert same is not None
    assert same.p_value == 1.0


def test_different_questions_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="same questions"):
        compare_pairs([0.1], [0.1, 0.2])
