"""Postings segments."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.language.term_counts import MAX_COUNT, count_terms
from agentic_rag.language.tokenizer import term_counts
from agentic_rag.retrieval.lexical.postings import (
    Segment,
    SegmentRow,
    build_segment,
    decode_segment,
    encode_segment,
    merge_segments,
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
