"""One negation denies what a sentence says; the sign before a number is none."""

from __future__ import annotations

import pytest

from agentic_rag.answering.extraction.negation import is_negative


@pytest.mark.parametrize(
    "sentence",
    ["The valve is not open.", "The pump doesn’t contain mercury.", "There is no way in.", "No. There are 17 of them."],
)
def test_one_negation_denies(sentence: str):
    assert is_negative(sentence)


@pytest.mark.parametrize("sentence", ["The valve is open.", "The valve is never not open."])
def test_none_and_two_do_not(sentence: str):
    assert not is_negative(sentence)


@pytest.mark.parametrize("sign", ["No. 17", "No.17", "No 17", "no. 17", "no 17", "NO. 17", "no.  17"])
def test_the_sign_of_a_number_is_no_negation(sign: str):
    assert not is_negative(f"Order {sign} was shipped.")
    assert is_negative(f"Order {sign} was not shipped.")
