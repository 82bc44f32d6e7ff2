"""Texts that are nearly the same."""

from itertools import combinations
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.operations.near_duplicates import signature, similar_pairs

WORDS = [f"word{number}" for number in range(400)]
LONG = " ".join(WORDS)


def named(*texts: str) -> dict[UUID, object]:
    return {UUID(int=place): signature(text) for place, text in enumerate(texts)}


@given(st.lists(st.sampled_from(WORDS), min_size=5, max_size=60))
def test_a_text_resembles_itself_whatever_its_case_and_spaces(words: list[str]) -> None:
    ((one, other, share),) = similar_pairs(named(" ".join(words), "\n".join(words).upper()), 0.9, 5)

    assert (one, other, share) == (UUID(int=0), UUID(int=1), 1.0)


def test_one_changed_word_in_400_is_near_and_half_a_text_is_not() -> None:
    changed = LONG.replace("word7 ", "other ")
    half = " ".join([*WORDS[:200], *(f"new{number}" for number in range(200))])

    pairs = similar_pairs(named(LONG, changed, half), 0.9, 5)

    assert [(one.int, other.int) for one, other, _ in pairs] == [(0, 1)]


def test_a_text_shorter_than_a_shingle_has_no_signature() -> None:
    assert signature("only four words here") is None
    assert signature("") is None


def test_many_equal_texts_give_few_pairs() -> None:
    pairs = similar_pairs(named(*[LONG] * 50), 0.9, 7)

    assert len(pairs) == 7
    assert {share for *_, share in pairs} == {1.0}
    assert len(list(combinations(range(50), 2))) > len(pairs)
