"""Which pages are one page: words that are the same, or nearly."""

from __future__ import annotations

import pytest
from tests.gate.simulated_web import prose

from agentic_rag.ingestion.web.near_pages import LEAST_WORDS, are_near, signature, text_hash

WORDS = f"{prose(1)} {prose(2)} {prose(3)}".split()


def with_others(count: int) -> str:
    """The text with its last words, so many of 120, being others."""
    return " ".join([*WORDS[: len(WORDS) - count], *prose(9).split()[:count]])


@pytest.mark.parametrize(("count", "near"), [(0, True), (2, True), (4, True), (30, False), (40, False)])
def test_texts_are_near_that_differ_in_a_line_and_are_not_in_a_chapter(count: int, near: bool) -> None:
    assert are_near(signature(" ".join(WORDS)), signature(with_others(count))) is near


def test_what_stands_between_words_and_their_case_is_nothing() -> None:
    plain = " ".join(WORDS)

    assert text_hash(plain) == text_hash(", ".join(WORDS).upper())
    assert text_hash(plain) != text_hash(with_others(1))


def test_short_texts_are_near_to_nothing_and_still_the_same_as_themselves() -> None:
    short = " ".join(WORDS[: LEAST_WORDS - 1])

    assert signature(short) == ()
    assert not are_near(signature(short), signature(short))
    assert signature(" ".join(WORDS[:LEAST_WORDS])) != ()
