"""Recognised words: unsure ones are never shown, pages are told, files are refused whole or read in part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.adapters.parsing.pdf.page_words import plain_page
from agentic_rag.adapters.parsing.process.scans import ScanOptions, ScanReader
from agentic_rag.adapters.parsing.scans.recognised import (
    FlatPage,
    RecognisedLine,
    RecognisedPage,
    RecognisedWord,
    recognised_page,
)
from agentic_rag.adapters.parsing.scans.recognised_pages import DrawnPages, read_pictures, with_recognised
from agentic_rag.documents.document import PageSpan, ParsedDocument
from agentic_rag.documents.unread_pages import (
    RECOGNISED_PROVENANCE,
    is_recognised,
    read_recognised_pages,
    recognised_provenance,
)
from agentic_rag.kernel.errors import ParseFailed


def line(*words: tuple[str, float], base: float = 700.0) -> RecognisedLine:
    placed = [
        RecognisedWord(text, 50.0 * at, base, 50.0 * at + 40, base + 10, sure) for at, (text, sure) in enumerate(words)
    ]
    return RecognisedLine(tuple(placed), base)


def page(*lines: RecognisedLine, is_blank: bool = False) -> RecognisedPage:
    return RecognisedPage(lines, 595.0, 842.0, is_blank=is_blank)


SURE = page(line(("The", 0.9), ("valve", 0.95), ("opens", 0.9), ("at", 0.9), ("12", 0.9), ("bar.", 0.9)))
UNSURE = page(line(("Tbe", 0.3), ("va1ve", 0.5), ("opens", 0.9)))


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ((("pays", 0.9), ("not", 0.4), ("at", 0.3), ("all", 0.9)), "pays […] all"),
        ((("costs", 0.9), ("1,284", 0.72), ("dollars", 0.72)), "costs […] dollars"),
        ((("costs", 0.9), ("1,284", 0.9)), "costs 1,284"),
    ],
)
def test_words_that_the_engine_is_not_sure_of_are_marked_as_gaps(
    words: tuple[tuple[str, float], ...], shown: str
) -> None:
    assert page(line(*words)).page().text == shown


def test_a_page_survives_its_way_through_json() -> None:
    assert recognised_page(SURE.flat()) == SURE


def test_a_page_of_doubtful_words_stays_unread_and_a_blank_one_is_none() -> None:
    pages = [plain_page(""), plain_page(""), plain_page(""), plain_page("written")]

    read, unread, found = with_recognised(pages, (1, 2, 3), {1: SURE, 2: UNSURE, 3: page(is_blank=True)})

    assert (unread, found) == ((2,), (1,))
    assert [one.text for one in read] == ["The valve opens at 12 bar.", "", "", "written"]


def test_pages_that_the_engine_has_not_seen_are_asked_for() -> None:
    with pytest.raises(DrawnPages) as asked:
        with_recognised([plain_page(""), plain_page("")], (1, 2), {1: SURE})

    assert asked.value.numbers == (2,)


def test_a_picture_file_has_its_pages_and_tells_the_unread_one() -> None:
    loaded = read_pictures({1: SURE, 2: None})

    assert loaded.text.startswith("The valve opens at 12 bar.")
    assert (loaded.recognised_pages, loaded.unread_pages, len(loaded.pages)) == ((1,), (2,), 2)


def test_a_file_without_a_recognised_word_says_so() -> None:
    with pytest.raises(ParseFailed, match="no words were recognised") as refused:
        read_pictures({1: page(is_blank=True)})

    assert refused.value.code == "PARSE_NO_TEXT"


def parsed(*recognised: int) -> ParsedDocument:
    pages = tuple(PageSpan(number, number, number + 1) for number in range(1, 10))
    return ParsedDocument("x" * 20, (), pages, None, "application/pdf", "p", "1", recognised_pages=recognised)


def test_provenance_keeps_which_pages_were_recognised() -> None:
    stated = recognised_provenance(parsed(2, 3, 4, 7))[RECOGNISED_PROVENANCE]
    kept = read_recognised_pages(stated)

    assert kept is not None
    assert (kept.count, kept.pages, kept.numbers) == (4, 9, (2, 3, 4, 7))
    assert read_recognised_pages(recognised_provenance(parsed())[RECOGNISED_PROVENANCE]) is None


@pytest.mark.parametrize(
    ("first", "last", "is_of_revision", "expected"),
    [(1, 1, True, False), (2, 2, True, True), (1, 2, True, True), (5, 6, True, False), (1, 1, False, True)],
)
def test_a_span_is_recognised_where_one_of_its_pages_is(
    first: int, last: int, is_of_revision: bool, expected: bool
) -> None:
    assert is_recognised("9:2-4,7-7", first, last, is_of_revision=is_of_revision) is expected


class _Pool:
    """Answers for a child: the page of each number, or the failure on it."""

    def __init__(self, pages: dict[int, FlatPage | ParseFailed]) -> None:
        self.pages = pages
        self.asked = 0
        self.closed = False

    async def exchange(self, request: bytes, decode: Callable[[bytes, bytes], Any], wall_seconds: float) -> Any:
        if b'"count"' in request:
            return len(self.pages)
        self.asked += 1
        found = self.pages[self.asked]
        if isinstance(found, ParseFailed):
            raise found
        return found

    async def aclose(self) -> None:
        self.closed = True


def reader(pages: dict[int, FlatPage | ParseFailed], most_pages: int = 300) -> tuple[ScanReader, _Pool]:
    made, pool = ScanReader(ScanOptions("eng", Path("nowhere"), most_pages)), _Pool(pages)
    made._pool = pool  # type: ignore[assignment]
    return made, pool


LATE = ParseFailed("too slow", code="PARSE_TIMEOUT")


async def test_a_page_on_which_the_engine_fails_costs_that_page_and_every_page_is_progress() -> None:
    scans, pool = reader({1: SURE.flat(), 2: LATE, 3: SURE.flat()})
    done: list[None] = []

    found = await scans.read_pages(b"", (1, 2, 3), lambda: done.append(None))

    assert (found[2], found[3]) == (None, SURE.flat())
    assert len(done) == 3
    assert pool.closed


async def test_more_scanned_pages_than_are_read_are_refused_before_the_first() -> None:
    scans, pool = reader({}, most_pages=2)

    with pytest.raises(ParseFailed) as refused:
        await scans.read_pages(b"", (1, 2, 3), lambda: None)

    assert (refused.value.code, pool.asked) == ("PARSE_TOO_MANY_SCANS", 0)


async def test_a_picture_file_on_which_the_engine_fails_has_its_failure() -> None:
    scans, _ = reader({1: LATE})

    with pytest.raises(ParseFailed, match="too slow"):
        await scans.read_pictures(b"", lambda: None)
