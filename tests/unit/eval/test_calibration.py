import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_cli.commands.evaluation.calibrate import calibrate_on
from agentic_rag_eval.records import EvalQuestion
from agentic_rag_eval.support_calibration import (
    AskedSupport,
    binomial_interval,
    calibrate,
    calibrate_kinds,
    chance_of_at_least,
    conformal_threshold,
    fewest_questions,
)

shares = st.floats(0.0, 1.0, allow_nan=False)


@given(st.lists(shares, max_size=200), st.floats(0.01, 0.5))
def test_no_more_questions_lie_below_the_threshold_than_the_error_allows(supports: list[float], error: float) -> None:
    below = sum(one < conformal_threshold(supports, error) for one in supports)
    assert (below + 1) / (len(supports) + 1) <= error + 1e-9 or below == 0


@given(st.lists(shares, min_size=1, max_size=200), st.floats(0.01, 0.4))
def test_a_larger_error_never_lowers_the_threshold(supports: list[float], error: float) -> None:
    assert conformal_threshold(supports, error) <= conformal_threshold(supports, error + 0.1)


@given(st.floats(0.01, 0.5))
def test_as_many_questions_as_are_needed_set_a_threshold_and_fewer_set_none(error: float) -> None:
    needed = fewest_questions(error)
    assert conformal_threshold([0.5] * needed, error) == 0.5
    assert conformal_threshold([0.5] * (needed - 1), error) == 0.0


@given(st.lists(shares, min_size=1, max_size=200), st.floats(0.01, 0.5), shares)
def test_the_bound_is_stated_with_n_and_kept_unless_the_default_alone_is_above_it(
    supports: list[float], error: float, least: float
) -> None:
    found = calibrate([AskedSupport(one, answerable=True) for one in supports], error, least)
    below = sum(one < found.threshold for one in supports)
    assert found.bound == pytest.approx((below + 1) / (len(supports) + 1))
    assert found.threshold >= least
    if len(supports) >= fewest_questions(error) and found.threshold > least:
        assert found.bound <= error + 1e-9


@given(st.lists(st.tuples(st.sampled_from("abc"), shares), max_size=90), st.floats(0.05, 0.5))
def test_only_kinds_with_enough_questions_have_a_line_and_each_keeps_its_bound(
    asked: list[tuple[str, float]], error: float
) -> None:
    found = calibrate_kinds([AskedSupport(support, answerable=True, kind=kind) for kind, support in asked], error)
    counts = Counter(kind for kind, _ in asked)
    assert found.keys() == {kind for kind, count in counts.items() if count >= fewest_questions(error)}
    for kind, line in found.items():
        assert line.false_abstention is not None
        assert line.false_abstention.of == counts[kind]
        assert line.bound <= error + 1e-9


@pytest.mark.slow
def test_the_bound_holds_for_a_further_question_of_the_same_distribution() -> None:
    chance = random.Random(11)
    missed = bound = 0.0
    for _ in range(1500):
        supports = [AskedSupport(chance.betavariate(4, 2), answerable=True) for _ in range(59)]
        found = calibrate(supports, 0.1)
        bound += found.bound
        missed += chance.betavariate(4, 2) < found.threshold
    assert missed <= bound + 3 * 1500**0.5 * 0.3
    assert missed / 1500 == pytest.approx(0.1, abs=0.025)


def test_a_threshold_is_not_below_the_least_one_given() -> None:
    asked = [AskedSupport(place / 100, answerable=True) for place in range(100)]
    assert calibrate(asked, 0.05, least=0.25).threshold == 0.25
    assert calibrate(asked, 0.4, least=0.25).threshold == calibrate(asked, 0.4).threshold > 0.25


def test_too_few_questions_are_refused_and_made_ones_only_raise_the_default() -> None:
    asked = [AskedSupport(0.1 + place / 100, answerable=True) for place in range(79)]
    mine = [EvalQuestion(f"q{place}", "Who?", (), ("a.md",), "single") for place in range(79)]
    with pytest.raises(InvalidInput, match=r"needs 99 questions with gold_ids, and there are 79"):
        calibrate_on(asked, mine, 0.01, 0.25)
    with pytest.raises(InvalidInput, match=r"needs 79 questions made from the corpus, and there are 78"):
        calibrate_on(asked[1:], None, 0.05, 0.25)
    assert calibrate_on(asked, None, 0.05, 0.25).threshold == 0.25
    assert calibrate_on(asked, mine, 0.05, 0.25).threshold < 0.25


def test_too_few_questions_say_nothing_so_nothing_is_abstained_on() -> None:
    assert conformal_threshold([0.5] * 18, 0.05) == 0.0
    assert conformal_threshold([0.5] * 19, 0.05) == 0.5


def test_a_further_question_is_below_the_threshold_with_the_chance_that_was_asked_for() -> None:
    chance = random.Random(5)
    rounds = 2000
    missed = 0
    for _ in range(rounds):
        supports = [chance.random() for _ in range(100)]
        missed += chance.random() < conformal_threshold(supports, 0.05)
    assert missed / rounds == pytest.approx(0.05, abs=0.015)


def test_an_error_is_a_share() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        conformal_threshold([0.5], 1.5)


def test_exact_intervals_are_those_of_the_tables() -> None:
    low, high = binomial_interval(5, 50)
    assert (round(low, 4), round(high, 4)) == (0.0333, 0.2181)
    assert binomial_interval(0, 20) == (0.0, pytest.approx(0.1684, abs=1e-4))
    assert binomial_interval(20, 20)[1] == 1.0


def test_the_exact_test_counts_the_upper_tail() -> None:
    assert chance_of_at_least(0, 40, 0.05) == 1.0
    assert chance_of_at_least(5, 40, 0.05) == pytest.approx(0.0480, abs=1e-4)


def test_hits_outside_their_number_are_no_share() -> None:
    with pytest.raises(ValueError, match="no share"):
        binomial_interval(3, 2)
