"""Tone and offers of labelled sentences: no worse than measured (docs/web.md)."""

from __future__ import annotations

import time

import pytest
from eval.training.measure_profiles import agreement

from agentic_rag.operations.profiles.marketing import promotions
from agentic_rag.operations.profiles.tone import tone_of


@pytest.mark.parametrize(
    ("kind", "labels", "part", "least"),
    [
        ("tone", ("positive", "negative", "neutral"), "held", 35),
        ("tone", ("positive", "negative", "neutral"), "fresh", 26),
        ("promotion", ("yes",), "held", 24),
        ("promotion", ("yes",), "fresh", 25),
        ("promotion", ("no",), "held", 20),
        ("promotion", ("no",), "fresh", 20),
    ],
)
def test_sentences_are_told_as_they_were_labelled(kind: str, labels: tuple[str, ...], part: str, least: int) -> None:
    counts = agreement()

    assert sum(counts[kind, label, part][0] for label in labels) >= least


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("The app crashes, and the tent leaks.", ["crashes", "leaks"]),
        ("It fell apart, and they let us down.", ["fell apart", "let us down"]),
        ("The share closed at 84, and interest is paid on security.", []),
        ("We sell goods from wells.", []),
        ("It is hard to fault.", ["hard to fault"]),
    ],
)
def test_words_are_rated_in_their_forms_and_side_by_side(sentence: str, words: list[str]) -> None:
    assert [word for word, _ in tone_of(sentence).words] == words


def test_where_an_offer_stands_is_told_in_the_text_itself() -> None:
    text = "İSTANBUL İ. Order today and get free shipping. Mit dem Code LENA15 wird es billiger."

    assert {text[start:end] for start, end in promotions(text)} >= {"Order today", "Code LENA15"}
    assert not promotions("We order protective gear. The code ERR404 is told. Please border today.")


@pytest.mark.slow
def test_long_texts_of_words_that_offers_begin_with_are_read_in_time() -> None:
    begun = time.process_time()
    for text in (
        "order " * 20_000,
        "get a " * 20_000,
        "jetzt x " * 20_000,
        "1,1.1" * 20_000,
        "1" * 100_000,
        "save 1" * 20_000,
    ):
        promotions(text)

    assert time.process_time() - begun < 20
