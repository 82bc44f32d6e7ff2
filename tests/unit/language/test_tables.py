import pytest

from agentic_rag.language.tables import (
    caption_span,
    format_row,
    header_span,
    is_blank,
    is_header,
    is_page_foot,
    pair_cells,
    row_spans,
    split_cells,
)

KEYS_AND_VALUES = "| | |\n|---|---|\n| Site | Skelder Narrows |\n| Date of event | 11 November 2024 |"
NAMED = (
    "Grants of 2024\nRecipient | Purpose | Grant\nFenn School | A laboratory | £12,000\nSailing Club | Boats | £8,500"
)


def test_a_table_of_keys_and_values_has_no_header() -> None:
    row = KEYS_AND_VALUES.index("| Date")
    assert header_span(KEYS_AND_VALUES, row) is None
    assert not is_header(KEYS_AND_VALUES, KEYS_AND_VALUES.index("| Site"), KEYS_AND_VALUES.index("\n| Date"))
    assert format_row(KEYS_AND_VALUES[row:], None) == "Date of event: 11 November 2024"


def test_without_a_rule_the_first_row_heads_three_columns_but_not_two() -> None:
    row = NAMED.index("Sailing")
    span = header_span(NAMED, row)
    assert span is not None
    assert NAMED[slice(*span)] == "Recipient | Purpose | Grant"
    assert is_header(NAMED, *span)
    assert format_row(NAMED[row:], NAMED[slice(*span)]) == "Sailing Club — Purpose: Boats; Grant: £8,500"
    assert header_span("Site | Fenn\nCode | SKN", len("Site | Fenn\n")) is None


def test_what_stands_right_above_a_table_says_what_it_holds() -> None:
    header = NAMED.index("Recipient")
    span = caption_span(NAMED, header)
    assert span is not None
    assert NAMED[slice(*span)] == "Grants of 2024"
    assert caption_span(NAMED, 0) is None
    assert caption_span("Text.\n\nA | B | C", len("Text.\n\n")) is None


def test_a_table_that_was_read_as_one_sentence_is_cut_into_rows() -> None:
    spans = row_spans(NAMED, [(0, len(NAMED))])
    assert [NAMED[start:end] for start, end in spans] == NAMED.split("\n")


def test_a_lone_row_that_ends_in_a_page_number_is_the_foot_of_a_page() -> None:
    text = "The tide turns.\nHarbour Ltd | Annual report | 5\nWaves fall."
    start = text.index("Harbour")
    assert is_page_foot(text, start, text.index("\nWaves"))
    assert not is_page_foot("Part | Stock | Least\nKB-17 | 1 | 2", len("Part | Stock | Least\n"), 33)
    assert not is_page_foot("Sum | in all | £5", 0, 17)


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("a | b", ["a", "b"]),
        ("| a | b |", ["a", "b"]),
        ("| a | b", ["a", "b"]),
        ("a | b |", ["a", "b", ""]),
        ("| a | b | |", ["a", "b", ""]),
        ("| a | b ||", ["a", "b", ""]),
        ("|| a | b |", ["", "a", "b"]),
    ],
)
def test_an_empty_cell_at_the_edge_of_a_row_is_one(row: str, cells: list[str]) -> None:
    assert split_cells(row) == cells


@pytest.mark.parametrize(
    ("row", "header", "last"),
    [
        ("a | b |", "X | Y | Z", ("Z", "")),
        ("a | b |", "| X | Y | Z |", ("Z", "")),
        ("a | b |", "X | Y", ("Y", "b")),
        ("a | b |", "X | Y |", ("Y", "b")),
        ("a | b", "X | Y |", ("Y", "b")),
        ("a | b | c", "X | Y | Z |", ("Z", "c")),
    ],
)
def test_a_bar_behind_the_last_column_closes_a_row(row: str, header: str, last: tuple[str, str]) -> None:
    assert pair_cells(row, header)[-1] == last


def test_a_header_with_a_bar_behind_its_last_column_names_the_columns() -> None:
    text = "Site | Depth | Tide |\nFenn | 4 m | 2 m |"
    row = text.index("Fenn")
    span = header_span(text, row)

    assert span is not None
    assert format_row(text[row:], text[slice(*span)]) == "Fenn — Depth: 4 m; Tide: 2 m"


def test_a_dash_and_what_says_that_there_is_nothing_are_blank_and_symbols_are_not() -> None:
    assert all(map(is_blank, ("", "–", " - ", "n/a", "k. A.")))
    assert not any(map(is_blank, ("Na", "NA", "0")))
