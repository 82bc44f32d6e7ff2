"""Certificates: counts that add up, ranges, and what no erasure reaches."""

from datetime import UTC, datetime
from itertools import pairwise
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.erasure.certificate import (
    Certificate,
    ErasedStore,
    StoreErasure,
    certificate_json,
    coverage_gaps,
    decode_stores,
    encode_stores,
    merge_stores,
    ranges_of,
)

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
erasures = st.builds(StoreErasure, st.sampled_from(ErasedStore), st.integers(0, 9), st.booleans())


def certificate(*stores: StoreErasure) -> Certificate:
    return Certificate(UUID(int=1), 8, NOON, stores, ((0, 3),), coverage_gaps([NOON]))


@given(st.sets(st.integers(0, 60)))
def test_ranges_hold_exactly_the_numbers_they_were_made_of(numbers: set[int]) -> None:
    ranges = ranges_of(sorted(numbers))

    assert [one for first, last in ranges for one in range(first, last + 1)] == sorted(numbers)
    assert all(later[0] > earlier[1] + 1 for earlier, later in pairwise(ranges))


@given(st.lists(erasures), st.lists(erasures))
def test_what_a_tombstone_keeps_reads_back(stores: list[StoreErasure], later: list[StoreErasure]) -> None:
    merged = merge_stores(stores, later)

    assert decode_stores(encode_stores(merged, ((1, 2), (7, 7)))) == (merged, ((1, 2), (7, 7)))


def test_a_store_emptied_in_two_goes_counts_both() -> None:
    begun = certificate(StoreErasure(ErasedStore.CHUNKS, 3), StoreErasure(ErasedStore.ORIGINALS, 1, done=False))

    ended = begun.with_stores([StoreErasure(ErasedStore.ORIGINALS, 2)])

    assert not begun.is_complete
    assert ended.is_complete
    assert (ended.count(ErasedStore.ORIGINALS), ended.count(ErasedStore.CHUNKS)) == (3, 3)
    assert ended.count(ErasedStore.GRAPH) == 0


def test_a_certificate_names_what_it_cannot_cover_and_dates_the_snapshots() -> None:
    shown = certificate_json(certificate(StoreErasure(ErasedStore.CHUNKS, 3)))

    assert [one["place"] for one in shown["notCovered"]] == [
        "database_log",
        "backups",
        "logs",
        "process_memory",
        "snapshot",
    ]
    assert shown["notCovered"][-1]["takenAt"] == NOON.isoformat()
    assert (shown["complete"], shown["corpusVersion"]) == (True, 8)


def test_a_store_of_a_later_version_of_the_product_is_left_out() -> None:
    assert decode_stores({"stores": [{"store": "tape", "count": 1, "done": True}]}) == ((), ())
