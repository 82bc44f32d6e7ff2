import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.workspaces.rate_limits import (
    MAX_PER_MINUTE,
    WINDOW_MICROS,
    Bucket,
    RateLimits,
    full_after,
    subject_limit,
    wait_micros,
)

HOUR = 60 * WINDOW_MICROS
PER_MINUTE = st.integers(1, 600)
GAPS = st.lists(st.integers(0, WINDOW_MICROS), max_size=200)


def passed(per_minute: int, moments: list[int]) -> list[int]:
    """The moments at which a request got through."""
    full_at, through = 0, []
    for now in moments:
        after = full_after(full_at, now, Bucket("ask", per_minute).micros)
        if wait_micros(after, now) <= 0:
            full_at = after
            through.append(now)
    return through


def moments(gaps: list[int]) -> list[int]:
    now, found = HOUR, []
    for gap in gaps:
        now += gap
        found.append(now)
    return found


@given(PER_MINUTE, GAPS)
def test_within_any_time_no_more_pass_than_a_full_bucket_and_what_comes_back(per_minute: int, gaps: list[int]) -> None:
    through = passed(per_minute, moments(gaps))

    for first in range(len(through)):
        for last in range(first, len(through)):
            length = through[last] - through[first]
            assert last - first + 1 <= per_minute * (1 + length / WINDOW_MICROS) + 1e-6


@given(PER_MINUTE)
def test_a_whole_minute_s_worth_passes_at_once_and_the_next_one_waits_for_one_to_come_back(per_minute: int) -> None:
    full_at = 0
    cost = Bucket("ask", per_minute).micros
    for _ in range(WINDOW_MICROS // cost):
        full_at = full_after(full_at, HOUR, cost)
        assert wait_micros(full_at, HOUR) <= 0

    wait = wait_micros(full_after(full_at, HOUR, cost), HOUR)

    assert 0 < wait <= math.ceil(WINDOW_MICROS / per_minute)
    assert wait_micros(full_after(full_at, HOUR + wait, cost), HOUR + wait) <= 0


@given(PER_MINUTE, st.integers(1, 1_000))
def test_what_waits_as_long_as_it_was_told_passes(per_minute: int, cost: int) -> None:
    micros = Bucket("write", per_minute, cost).micros
    full_at = full_after(0, HOUR, micros)
    wait = max(0, wait_micros(full_after(full_at, HOUR, micros), HOUR))

    assert wait_micros(full_after(full_at, HOUR + wait, micros), HOUR + wait) <= 0


def test_a_clock_that_was_set_back_keeps_nobody_out_for_longer_than_a_minute() -> None:
    written_an_hour_ahead = 2 * HOUR

    assert wait_micros(full_after(written_an_hour_ahead, HOUR, Bucket("ask", 60).micros), HOUR) <= 1_000_000


def test_limits_of_an_organisation_go_before_those_of_the_operator() -> None:
    assert RateLimits(asks=5, writes=0).over(RateLimits(60, 60, 60)) == RateLimits(5, 0, 60)


@pytest.mark.parametrize("wrong", [-1, MAX_PER_MINUTE + 1])
def test_a_limit_that_is_none_is_refused(wrong: int) -> None:
    with pytest.raises(InvalidInput):
        RateLimits(reads=wrong)


def test_a_caller_s_share_is_one_request_at_least() -> None:
    assert (subject_limit(60, 0.25), subject_limit(3, 0.1)) == (15, 1)
