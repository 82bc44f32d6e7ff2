"""The token estimate."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.language.token_estimate import TokenEstimator, estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("   ", 0),
        ("the cat", 2),
        ("internationalization", 3),
        ("1234567", 3),
        ("漢字です", 4),
        ("Привет", 3),
        ("a.b", 3),
        ("one\n\n  two", 3),
        ("snake_case", 3),
    ],
)
def test_pieces_are_counted_by_script_and_length(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_english_prose_costs_about_a_token_for_four_characters() -> None:
    text = (
        "The committee met in the old library to decide how the collection should be kept. After a long debate it "
        "chose to move the oldest books to a cooler room and to let the rest stay where readers could reach them."
    )

    assert 3.5 <= len(text) / estimate_tokens(text) <= 5.0


mixed = st.text(st.characters() | st.sampled_from("ab1_ \n漢я."))


@given(mixed, mixed)
def test_splitting_a_text_never_lowers_its_cost(left: str, right: str) -> None:
    assert estimate_tokens(left + right) <= estimate_tokens(left) + estimate_tokens(right)


@given(st.text(st.characters(max_codepoint=127)))
def test_an_ascii_text_has_the_pieces_that_it_has_beside_other_letters(text: str) -> None:
    assert estimate_tokens(f"{text}é") == estimate_tokens(text) + 1


def test_the_estimator_is_a_token_counter() -> None:
    assert TokenEstimator().count("the cat") == 2


@pytest.mark.slow
def test_a_long_text_is_counted_without_holding_its_pieces() -> None:
    long = "word and another, " * 50_000
    tracemalloc.start()
    try:
        counted = estimate_tokens(long)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert counted == 50_000 * estimate_tokens("word and another, ")
    assert peak < 100_000
