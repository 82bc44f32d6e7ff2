"""Pages that could not be read survive in the provenance of a publication."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.documents.document import PageSpan, ParsedDocument
from agentic_rag.documents.unread_pages import read_unread_pages, unread_provenance


@given(st.integers(1, 500), st.data())
def test_what_is_kept_is_what_is_told(pages: int, data: st.DataObject) -> None:
    unread = tuple(sorted(data.draw(st.sets(st.integers(1, pages)))))
    spans = tuple(PageSpan(number, 0, 0) for number in range(1, pages + 1))
    parsed = ParsedDocument("", (), spans, None, "application/pdf", "p", "1", unread_pages=unread)

    told = read_unread_pages(unread_provenance(parsed))

    assert (told is None) == (not unread)
    if told is not None:
        assert (told.count, told.pages, told.numbers, told.unit) == (len(unread), pages, unread[:100], "page")


def test_files_in_a_file_are_counted_as_such() -> None:
    parsed = ParsedDocument("", (), (), None, "application/zip", "p", "1", unread_pages=(2,), parts=5)

    told = read_unread_pages(unread_provenance(parsed))

    assert told is not None
    assert (told.count, told.pages, told.numbers, told.unit) == (1, 5, (2,), "file")


@given(first=st.sets(st.integers(1, 3)), then=st.sets(st.integers(1, 3)))
def test_a_later_reading_replaces_what_an_earlier_one_did_not_read(first: set[int], then: set[int]) -> None:
    spans = tuple(PageSpan(number, 0, 0) for number in (1, 2, 3))
    readings = (
        ParsedDocument("", (), spans, None, "application/pdf", "p", "1", unread_pages=tuple(sorted(unread)))
        for unread in (first, then)
    )

    earlier, later = (unread_provenance(one) for one in readings)

    assert read_unread_pages({**earlier, **later}) == read_unread_pages(later)
