"""Shifts are looked for where they can be; what is found is what trying every shift would find."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.adapters.parsing.text.misreading import has_letter_substitution

CODES = range(32, 127)
LITTLE = ("the", "And", "FOR", "für", "que", "wIth", "nie")
STRAY = ("xqzw", "vwkd", "B7", "_x", "lmnp", "qİq", "rst")


def moved_back(text: str, by: int) -> str:
    return text.translate({code: code + by for code in CODES if code + by >= CODES[0]})


@given(
    st.lists(st.sampled_from(LITTLE), min_size=40, max_size=60),
    st.lists(st.sampled_from(STRAY), max_size=60),
    st.sampled_from([" ", ", ", "\n", ".\n("]),
    st.sampled_from([*range(-32, 0), *range(1, 33)]),
    st.randoms(use_true_random=False),
)
def test_text_that_some_shift_turns_into_little_words_is_refused(little, stray, between, by, random) -> None:  # type: ignore[no-untyped-def]
    words = [*little, *stray]
    random.shuffle(words)
    shifted = moved_back(between.join(words), -by)
    read = re.findall(r"[^\W\d_]+", moved_back(shifted, by).lower())
    found = [word for word in read if word in {one.lower() for one in LITTLE}]

    if len(read) >= 40 and len(found) > 0.12 * len(read) and len({*found}) >= 3 and not _is_figures(shifted):
        assert has_letter_substitution(shifted) or _reads_as_it_stands(shifted)


def _is_figures(text: str) -> bool:
    return sum(map(str.isdecimal, text)) > 0.3 * len(text)


def _reads_as_it_stands(text: str) -> bool:
    """A little word that stands there by chance is enough in so short a text."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    return sum(word in {one.lower() for one in LITTLE} for word in words) > 0.02 * len(words)
