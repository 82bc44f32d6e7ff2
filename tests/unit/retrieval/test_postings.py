"""Postings segments."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.language.term_counts import MAX_COUNT, count_terms
from agentic_rag.language.tokenizer import term_counts
from agentic_rag.retrieval.lexical.postings import (
    MOST_CHUNKS,
    Segment,
    SegmentRow,
    build_segment,
    decode_segment,
    encode_segment,
    hold_any,
    merge_groups,
    merge_segments,
    split_segment,
    without_chunks,
)

NOTHING = np.zeros(0, np.int32)

texts = st.lists(st.sampled_from(["pump", "valve", "oil", "seal", "the"]), max_size=12).map(" ".join)
rows = st.dictionaries(st.integers(0, 500), st.tuples(texts, st.integers(0, 3), st.integers(1, 5)), max_size=20).map(
    lambda chosen: [
        SegmentRow(ordinal, access, version, term_counts(text)) for ordinal, (text, access, version) in chosen.items()
    ]
)


def assert_equal(left: Segment, right: Segment) -> None:
    for each in fields(Segment):
        mine, theirs = getattr(left, each.name), getattr(right, each.name)
        assert mine.dtype == theirs.dtype, each.name
        np.testing.assert_array_equal(mine, theirs, each.name)


@given(rows)
def test_encoding_loses_nothing(given_rows: list[SegmentRow]) -> None:
    segment = build_segment(given_rows)

    assert_equal(decode_segment(encode_segment(segment)), segment)


@given(rows)
def test_a_segment_is_sorted_and_complete(given_rows: list[SegmentRow]) -> None:
    segment = build_segment(given_rows)

    assert segment.ordinals.tolist() == sorted(row.ordinal for row in given_rows)
    assert (np.diff(segment.terms.astype(object)) > 0).all()
    assert len(segment.posting_ordinals) == sum(len(row.terms.hashes) // 8 for row in given_rows)
    for start, end in zip(segment.offsets[:-1].tolist(), segment.offsets[1:].tolist(), strict=True):
        assert (np.diff(segment.posting_ordinals[start:end]) > 0).all()
    assert int(segment.posting_counts.sum()) == int(segment.lengths.sum())


@given(rows, st.integers(1, 5), st.sets(st.integers(0, 500), max_size=10))
def test_merging_equals_building_from_what_is_left(given_rows: list[SegmentRow], parts: int, drop: set[int]) -> None:
    segments = [build_segment(given_rows[part::parts]) for part in range(parts)]

    merged = merge_segments(segments, np.array(sorted(drop), np.int32))

    assert_equal(merged, build_segment(row for row in given_rows if row.ordinal not in drop))


def test_merging_nothing_gives_an_empty_segment() -> None:
    assert_equal(merge_segments([], NOTHING), build_segment([]))


def test_an_ordinal_cannot_come_twice() -> None:
    row = SegmentRow(7, 0, 1, term_counts("pump"))

    with pytest.raises(ValueError, match="twice"):
        build_segment([row, row])
    with pytest.raises(ValueError, match="same ordinal"):
        merge_segments([build_segment([row]), build_segment([row])], NOTHING)


def test_a_malformed_row_is_refused() -> None:
    with pytest.raises(ValueError, match="as many counts"):
        build_segment([SegmentRow(1, 0, 1, replace(term_counts("pump"), counts=b""))])


@pytest.mark.parametrize("name", ["lengths", "terms", "posting_counts"])
def test_a_damaged_row_is_noticed(name: str) -> None:
    stored = encode_segment(build_segment([SegmentRow(1, 0, 1, term_counts("pump valve"))]))

    with pytest.raises(ValueError, match="do not fit together"):
        decode_segment(replace(stored, **{name: getattr(stored, name)[:-8]}))


def test_counts_beyond_sixteen_bits_are_capped() -> None:
    counted = count_terms(np.full(70_000, 5, np.uint64), np.zeros(0, np.uint64))

    assert np.frombuffer(counted.counts, "<u2").tolist() == [MAX_COUNT]
    assert counted.length == 70_000


@given(st.lists(st.tuples(st.integers(1, 3 * MOST_CHUNKS), st.booleans()), max_size=40))
def test_merging_ends_with_one_segment_at_most_that_is_less_than_half_full(
    given_segments: list[tuple[int, bool]],
) -> None:
    sizes, stale = [size for size, _ in given_segments], [is_stale for _, is_stale in given_segments]
    written = 0
    while groups := merge_groups(sizes, stale):
        for group in groups:
            written += sum(sizes[place] for place in group)
            assert len(group) == 1 or sum(sizes[place] for place in group) <= MOST_CHUNKS
        gone = {place for group in groups for place in group}
        whole = [sum(sizes[place] for place in group) for group in groups]
        parts = [min(MOST_CHUNKS, size - start) for size in whole for start in range(0, size, MOST_CHUNKS)]
        sizes = [size for place, size in enumerate(sizes) if place not in gone] + parts
        stale = [False] * len(sizes)

    assert sum(size < MOST_CHUNKS // 2 for size in sizes) <= 1
    assert max(sizes, default=0) <= 2 * MOST_CHUNKS
    assert sum(sizes) == sum(size for size, _ in given_segments)
    assert written <= 3 * sum(sizes)


def test_a_full_segment_is_left_alone_until_a_chunk_of_it_is_gone() -> None:
    sizes = [MOST_CHUNKS, 300, MOST_CHUNKS // 2, 200, MOST_CHUNKS]

    assert merge_groups(sizes, [False] * 5) == [[1, 3]]
    assert merge_groups(sizes, [True, False, False, False, False]) == [[1, 3], [0]]


@given(rows.filter(bool), st.integers(1, 4))
def test_a_split_segment_holds_what_it_held_in_parts(given_rows: list[SegmentRow], most: int) -> None:
    whole = build_segment(given_rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agentic_rag.retrieval.lexical.postings.MOST_CHUNKS", most)
        parts = split_segment(whole)

    assert [len(one.ordinals) for one in parts[:-1]] == [most] * (len(parts) - 1)
    assert 0 < len(parts[-1].ordinals) <= most
    for part in parts:
        assert_equal(part, build_segment(row for row in given_rows if row.ordinal in part.ordinals))
    assert_equal(merge_segments(parts, NOTHING), whole)


@given(rows, st.sets(st.integers(0, 500), max_size=10))
def test_taking_chunks_out_equals_building_from_what_is_left(given_rows: list[SegmentRow], gone: set[int]) -> None:
    left = without_chunks(build_segment(given_rows), np.array(sorted(gone), np.int32))

    assert_equal(left, build_segment(row for row in given_rows if row.ordinal not in gone))


@given(st.lists(st.lists(st.integers(0, 30), max_size=4), max_size=6), st.lists(st.integers(0, 30), max_size=6))
def test_segments_that_hold_one_of_the_ordinals_are_told(held: list[list[int]], ordinals: list[int]) -> None:
    told = hold_any([np.array(one, np.int32) for one in held], np.array(ordinals, np.int32))

    assert told == [not set(one).isdisjoint(ordinals) for one in held]
