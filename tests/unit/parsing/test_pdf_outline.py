"""Headings of a PDF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from agentic_rag.adapters.parsing.pdf.outline import OutlineEntry, heading_levels, larger_sizes
from agentic_rag.adapters.parsing.pdf.page_words import PageLine, PdfPage, plain_page


def pages_of(pages: list[list[str]]) -> list[PdfPage]:
    return [plain_page("\n".join(lines)) for lines in pages]


def levels(pages: list[PdfPage], outline: Sequence[OutlineEntry] = ()) -> Mapping[tuple[int, int], int]:
    return heading_levels(pages, outline, larger_sizes(pages))


def test_bookmarks_mark_the_lines_they_name() -> None:
    pages = [["Contents", "1 Alpha", "text", "2 Beta"], ["2.1 Gamma", "PART I OF IT", "2.1 Gamma"]]
    outline = [
        OutlineEntry("Alpha", 0, 1),
        OutlineEntry("2  Beta", 0, 1),
        OutlineEntry("Gamma", 1, 9),
        OutlineEntry("Lost", 7, 1),
    ]

    assert levels(pages_of(pages), outline) == {(0, 1): 1, (0, 3): 1, (1, 0): 6}


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("PART I — FINANCIAL INFORMATION", 1),
        ("Item 1A. Risk Factors", 2),
        ("Note 3 – Earnings Per Share", 3),
        ("2.1 Method of measurement", 2),
        ("SIGNIFICANT ACCOUNTING POLICIES", 3),
        ("Item 1. Financial Statements 14", 0),
        ("A sentence of the text that stands on its own line", 0),
        ("12 Common stock", 0),
        ("USA", 0),
    ],
)
def test_without_bookmarks_the_form_of_a_line_decides(line: str, level: int) -> None:
    pages = [["Some text stands here.", line, "The text goes on."]]

    assert levels(pages_of(pages)) == ({(0, 1): level} if level else {})


@pytest.mark.parametrize(
    ("before", "following"), [("as described in", "The text."), ("Text.", "continues here"), ("Text,", "The text.")]
)
def test_a_line_inside_a_sentence_is_no_heading(before: str, following: str) -> None:
    assert levels(pages_of([[before, "Item 2. Properties", following]])) == {}


def test_a_running_header_is_no_heading() -> None:
    assert levels(pages_of([["ANNUAL REPORT SUMMARY", "Text."]] * 3)) == {}


def sized(*lines: tuple[str, float]) -> PdfPage:
    return PdfPage([PageLine(text, (), size) for text, size in lines])


def test_without_bookmarks_larger_letters_are_headings_the_largest_the_highest() -> None:
    text = ("Text of the usual size stands here and goes on for a while.", 10.0)
    pages = [sized(("Harbour report", 20.0), text, ("Cranes", 14.0), text, ("2.1 Loads", 10.0), text)]

    assert levels(pages) == {(0, 0): 1, (0, 2): 2, (0, 4): 4}


def test_of_a_cover_only_the_largest_letters_are_a_heading() -> None:
    text = ("Text of the usual size stands here and goes on for a while.", 10.0)
    cover = sized(("HARBOUR", 30.0), ("an annual report", 14.0), ("of the office", 14.0), ("in four parts", 14.0))

    assert levels([cover, sized(*[text] * 9)]) == {(0, 0): 1}
