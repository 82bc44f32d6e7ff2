"""What searches a workspace's seeds add, and which seeds it may have."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.workspaces.web_access import LONGEST_SEED, MAX_SEEDS, WebAccess
from agentic_rag.workspaces.web_profiles import GENERAL

KITES = replace(GENERAL, seeds=("Acme", "Blue Kite", "Oslo"))
NAMES = st.text(alphabet="ab c", max_size=8)


@pytest.mark.parametrize(
    ("texts", "most", "searches"),
    [
        (
            ["Which campaign began?"],
            3,
            ("Which campaign began?", "Which campaign began? Acme", "Which campaign began? Blue Kite"),
        ),
        (["Which campaign did acme begin?"], 4, ("Which campaign did acme begin?",)),
        (["What does BLUE  kite's new film cost?"], 4, ("What does BLUE  kite's new film cost?",)),
        (["Acmeology", "two", "two"], 3, ("Acmeology", "two", "Acmeology Acme")),
        ([], 4, ()),
    ],
)
def test_while_there_is_room_the_first_search_is_made_with_each_seed_too(
    texts: list[str], most: int, searches: tuple[str, ...]
) -> None:
    assert KITES.searches(texts, most) == searches


@given(st.lists(NAMES, max_size=5), st.lists(NAMES, max_size=4), st.integers(1, 6))
def test_what_a_question_asks_goes_before_what_seeds_add(texts: list[str], seeds: list[str], most: int) -> None:
    asked = tuple(dict.fromkeys(texts))
    found = replace(GENERAL, seeds=tuple(seeds)).searches(texts, most)

    assert found[: len(asked)] == asked[:most]
    assert len(found) == len(set(found)) <= most
    assert GENERAL.searches(texts, most) == asked[:most]


@pytest.mark.parametrize(
    "seeds", [("",), (" a",), ("a  b",), ("x" * (LONGEST_SEED + 1),), tuple(map(str, range(MAX_SEEDS + 1))), ("a\0",)]
)
def test_seeds_beyond_their_limits_are_refused(seeds: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput) as refused:
        WebAccess(seeds=seeds)
    assert refused.value.path == ("web", "seeds")
