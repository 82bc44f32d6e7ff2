"""Headings of a PDF."""

from __future__ import annotations

import pytest

from agentic_rag.adapters.parsing.pdf.outline import OutlineEntry, heading_levels


def test_bookmarks_mark_the_lines_they_name() -> None:
    pages = [["Contents", "1 Alpha", "text", "2 Beta"], ["2.1 Gamma", "PART I OF IT", "2.1 Gamma"]]
    outline = [
        OutlineEntry("Alpha", 0, 1),
        OutlineEntry("2  Beta", 0, 1),
        OutlineEntry("Gamma", 1, 9),
        OutlineEntry("Lost", 7, 1),
    ]

    assert heading_levels(pages, outline) == {(0, 1): 1, (0, 3): 1, (1, 0): 6}


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

    assert heading_levels(pages, []) == ({(0, 1): level} if level else {})


@pytest.mark.parametrize(
    ("before", "following"), [("as described in", "The text."), ("Text.", "continues here"), ("Text,", "The text.")]
)
def test_a_line_inside_a_sentence_is_no_heading(before: str, following: str) -> None:
    assert heading_levels([[before, "Item 2. Properties", following]], []) == {}


def test_a_running_header_is_no_heading() -> None:
    assert heading_levels([["ANNUAL REPORT SUMMARY", "Text."]] * 3, []) == {}
