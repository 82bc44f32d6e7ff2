"""Bytes and counts as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.kernel.formatting import format_bytes, format_count


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1_048_575, "1048575 bytes"),
        (26_214_400, "25 MiB"),
        (26_476_544, "25.2 MiB"),
        (1 << 30, "1024 MiB"),
    ],
)
def test_sizes_are_told_in_the_largest_unit_that_fits(count: int, told: str) -> None:
    assert format_bytes(count) == told


@pytest.mark.parametrize(("count", "told"), [(0, "0 chunks"), (1, "1 chunk"), (2, "2 chunks")])
def test_one_of_a_thing_is_no_plural(count: int, told: str) -> None:
    assert format_count(count, "chunk") == told


@given(st.integers(1 << 20, 1 << 45))
def test_a_limit_is_never_told_larger_than_it_is(count: int) -> None:
    assert 0 <= count / (1 << 20) - float(format_bytes(count).removesuffix(" MiB")) < 0.1 + 1e-6
