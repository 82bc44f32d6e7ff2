"""The bytes that a request names of a file, beside a plain reading of RFC 9110 §14.1.2."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag_server.rest.http.ranges import content_range, is_held, is_same, requested_part

TAG = '"ab12"'
POSITIONS = st.integers(0, 40) | st.integers(10**17, 10**30)


@given(first=POSITIONS, last=POSITIONS, size=st.integers(1, 40))
def test_a_part_has_the_bytes_from_first_to_last_that_the_file_has(first: int, last: int, size: int) -> None:
    part = requested_part(f"bytes={first}-{last}", size)
    rest = requested_part(f"bytes={first}-", size)
    end = requested_part(f"bytes=-{last}", size)

    inside = [place for place in range(size) if first <= place]
    assert rest is not None
    assert list(rest) == inside
    assert end is not None
    assert list(end) == [place for place in range(size) if size - place <= last]
    if last < first:
        assert part is None
    else:
        assert part is not None
        assert list(part) == [place for place in inside if place <= last]


@given(header=st.text(max_size=30) | st.text("-, 019", max_size=30).map("bytes=".__add__), size=st.integers(0, 40))
def test_any_header_names_the_whole_or_bytes_of_the_file(header: str, size: int) -> None:
    part = requested_part(header, size)

    assert part is None or (size and part.step == 1 and set(part) <= set(range(size)))


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "bytes=",
        "bytes=-",
        "bytes=5-2",
        "bytes=a-b",
        "bytes=+1-2",
        "bytes=1-2-3",
        "bytes=٣-٤",
        "bytes 1-2",
        "lines=1-2",
        "bytes=0-1,4-5",
        "bytes=0-1, -1",
    ],
)
def test_what_is_no_single_part_is_answered_with_the_whole(header: str | None) -> None:
    assert requested_part(header, 10) is None


@pytest.mark.parametrize(
    ("header", "part"),
    [
        ("Bytes=2-4", range(2, 5)),
        (" bytes=2-4 ", range(2, 5)),
        ("bytes=, 2-4 ,", range(2, 5)),
        ("bytes=0002-4", range(2, 5)),
        ("bytes=0-", range(10)),
        ("bytes=9-9", range(9, 10)),
        ("bytes=-3", range(7, 10)),
        ("bytes=-0", range(10, 10)),
        ("bytes=10-", range(10, 10)),
        (f"bytes=0-{'9' * 5000}", range(10)),
        (f"bytes={'9' * 5000}-", range(10, 10)),
    ],
)
def test_forms_of_one_part(header: str, part: range) -> None:
    assert requested_part(header, 10) == part


def test_an_empty_file_has_no_parts() -> None:
    assert [requested_part(header, 0) for header in ("bytes=0-", "bytes=-5", "bytes=0-0")] == [None, None, None]


def test_a_part_is_told_with_its_last_byte_and_an_empty_one_with_the_size_alone() -> None:
    assert content_range(range(2, 5), 10) == "bytes 2-4/10"
    assert content_range(range(10, 10), 10) == "bytes */10"


@pytest.mark.parametrize(
    ("headers", "held"),
    [
        ([], False),
        ([""], False),
        ([TAG], True),
        (['W/"ab12"'], True),
        (['"other", "ab12"'], True),
        (['"other"', TAG], True),
        (["*"], True),
        (["ab12"], False),
        (['"ab1"', '"xab12"'], False),
    ],
)
def test_a_file_is_held_where_a_tag_of_the_list_names_it(headers: list[str], held: bool) -> None:
    assert is_held(headers, TAG) is held


@pytest.mark.parametrize(
    ("header", "same"),
    [(None, True), (TAG, True), ('W/"ab12"', False), ('"other"', False), ("Sat, 28 Nov 2026 10:00:00 GMT", False)],
)
def test_parts_are_of_the_same_file_only_by_its_strong_tag(header: str | None, same: bool) -> None:
    assert is_same(header, TAG) is same
