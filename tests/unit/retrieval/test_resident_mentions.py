"""Mentions in this process are found as in the tables."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.subgraphs import told

from agentic_rag.retrieval.candidates import EntityPassages, MentionCount
from agentic_rag.retrieval.graph import resident_mentions
from agentic_rag.retrieval.graph.resident_mentions import ResidentMentions

# Ids that differ in one half only, in the other only, and whose upper half has its first bit set.
IDS = [UUID(int=(high << 64) | low) for high in (0, 1, 2**63 + 5) for low in (0, 7, 2**63 + 1)]
mentions = st.dictionaries(
    st.tuples(st.sampled_from(IDS), st.integers(0, 12)), st.integers(1, 300) | st.just(70_000), max_size=60
)

Rows = dict[tuple[UUID, int], int]
Slow = tuple[list[MentionCount], list[EntityPassages]]


def columns(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    ids = np.array([(one.int >> 64, one.int & (2**64 - 1)) for one, _ in rows], np.uint64).reshape(len(rows), 2)
    ordinals = np.array([ordinal for _, ordinal in rows], np.int32)
    return ids, ordinals, np.array(list(rows.values()), np.int32)


def slow_vicinity(rows: Rows, asked: list[UUID], ordinals: list[int], cap: int, shown: list[bool]) -> Slow:
    """`ResidentMentions.vicinity` row by row."""
    seen = {key: count for key, count in rows.items() if shown[key[1]]}
    held = [MentionCount(one, at, count) for (one, at), count in seen.items() if at in ordinals]
    held.sort(key=lambda mention: (mention.ordinal, mention.entity_id))
    passages = []
    for one in sorted({*asked, *(mention.entity_id for mention in held)}):
        places = sorted((at, count) for (other, at), count in seen.items() if other == one)
        if len(places) > cap:
            passages.append(EntityPassages(one, cap + 1, (), ()))
        elif places:
            ats, counts = zip(*places, strict=True)
            passages.append(EntityPassages(one, len(places), ats, counts))
    return held, passages


@given(
    mentions,
    st.lists(st.sampled_from([*IDS, UUID(int=3)]), max_size=5),
    st.lists(st.integers(0, 14), max_size=6),
    st.integers(1, 5),
    st.lists(st.booleans(), min_size=15, max_size=15),
    st.sampled_from([1, 2, 8192]),
)
def test_the_vicinity_is_that_of_the_rows(
    rows: Rows, asked: list[UUID], ordinals: list[int], cap: int, shown: list[bool], piece: int
) -> None:
    held = ResidentMentions.of(*columns(rows))
    before, resident_mentions._PIECE = resident_mentions._PIECE, piece
    try:
        found = held.vicinity(asked, ordinals, cap, np.array(shown))
    finally:
        resident_mentions._PIECE = before

    assert told(found) == slow_vicinity(rows, asked, ordinals, cap, shown)


@given(mentions, mentions, st.permutations(range(13)))
def test_rows_of_new_chunks_make_what_all_rows_make(old: Rows, new: Rows, order: list[int]) -> None:
    new = {(one, ordinal + 13): count for (one, ordinal), count in new.items()}
    everything = sorted({**old, **new}.items(), key=lambda item: (order[item[0][1] % 13], item[0]))

    patched = ResidentMentions.of(*columns(old)).with_rows(*columns(new))
    whole = ResidentMentions.of(*columns(dict(everything)))

    for name in ("entities", "starts", "ordinals", "counts", "chunks", "chunk_starts", "by_chunk"):
        assert np.array_equal(getattr(patched, name), getattr(whole, name)), name
    assert patched.span == max((ordinal + 1 for _, ordinal in {**old, **new}), default=0)


@pytest.mark.parametrize(("most", "kind"), [(255, np.uint8), (256, np.uint16), (65_535, np.uint16), (65_536, np.int32)])
def test_numbers_are_held_in_the_fewest_bits(most: int, kind: type[np.integer[Any]]) -> None:
    first, last = 1, most
    held = ResidentMentions.of(*columns({(IDS[0], first): 1, (IDS[0], last): most}))

    assert held.ordinals.dtype == held.counts.dtype == kind
    assert (held.ordinals.tolist(), held.counts.tolist()) == ([first, last], [1, most])
    found = held.vicinity([], [first], 5, np.ones(most + 1, np.bool_))
    assert (found.ordinals.tolist(), found.counts.tolist()) == ([first, last], [1, most])
