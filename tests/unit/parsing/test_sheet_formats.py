"""Cells of sheets are read as the sheet shows them, under all the names above them."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable
from typing import Any

import pytest
import xlsxwriter

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text.number_formats import duration_text, number_text

Build = Callable[[Any, Any], None]


def text_of(content: bytes | str, name: str) -> str:
    return load(content.encode() if isinstance(content, str) else content, name, None, ParserLimits())[1].text


def sheet(build: Build) -> str:
    """The text of a workbook of one sheet."""
    made = io.BytesIO()
    book = xlsxwriter.Workbook(made)
    build(book, book.add_worksheet("Berths"))
    book.close()
    return text_of(made.getvalue(), "a.xlsx")


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (1234.5, "#,##0.00 [$€-407]", "1234.50 €"),
        (1234.5, "#,##0.00\\ [$zł-415]", "1234.5 zł"),
        (1234.5, "[$CHF] #,##0.00", "CHF 1234.50"),
        (1234.5, "[$-409]#,##0.00", "1234.5"),
        (1234.5, "[$$-409]#,##0.00", "$1234.50"),
        (1234.5, '_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-', "1234.50 €"),
        (12.5, "0.0\\ \\k\\g", "12.5 kg"),
        (12.5, "[$R$-416] #,##0.00", "R$12.50"),
        (-12.5, "[$HK$-C04]#,##0.00", "-HK$12.50"),
        (12.5, '"A$"#,##0.00', "A$12.50"),
        (12.5, "[$₹-4009] #,##0.00", "₹12.50"),
        (12.5, "#,##0.00\\ [$₽-419]", "12.50 ₽"),
        (12.5, '0.00 "€/100 kg"', "12.50 €/100 kg"),
        (12.5, '"$"0.00 "per day"', "$12.50"),
        (5, '"$".00', "$5.00"),
        (12.5, "$#,##0.00;($#,##0.00)", "$12.50"),
        (12, '"€"General', "12 €"),
    ],
)
def test_an_amount_keeps_the_currency_that_its_format_names(value: float, code: str, expected: str) -> None:
    assert number_text(value, code) == expected


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (1, '"yes";"yes";"no"', "yes"),
        (0, '"yes";"yes";"no"', "no"),
        (0, '0;-0;"none"', "none"),
        (3, '0;-0;"none"', "3"),
        (-3, '0;-0;"none"', "-3"),
        (0, '_-* #,##0.00 "€"_-;-* #,##0.00 "€"_-;_-* "-"?? "€"_-', "0.00 €"),
        (99, ";;;", "99"),
        (5, '[=1]"one";[=2]"two";General', "5"),
    ],
)
def test_words_that_a_format_shows_in_place_of_a_number_are_read(value: float, code: str, expected: str) -> None:
    assert number_text(value, code) == expected


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (1067, "00000", "01067"),
        (42, '"INV-"0000', "INV-0042"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (123456789, "000-00-0000", "123-45-6789"),
        (7, "0.00", "7"),
        (-7, "000", "-7"),
        (1.5, "000", "1.5"),
        (12, "00.00", "12"),
        (5, ".00", "5"),
        (5, "#.000", "5"),
    ],
)
def test_leading_zeros_and_groups_of_a_number_are_read(value: float, code: str, expected: str) -> None:
    assert number_text(value, code) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime.timedelta(days=1, hours=2, minutes=30), "26:30"),
        (datetime.time(9, 29, 59, 997000), "09:30"),
        (datetime.time(9, 30, 15), "09:30:15"),
        (datetime.timedelta(hours=-1), "-01:00"),
    ],
)
def test_a_time_is_read_in_hours_and_minutes(value: datetime.time | datetime.timedelta, expected: str) -> None:
    assert duration_text(value) == expected


def test_formats_of_a_workbook_reach_its_cells() -> None:
    def build(book: Any, one: Any) -> None:
        one.write_row(0, 0, ["Berth", "Fee", "Free", "Post code", "Worked"])
        one.write(1, 0, "North")
        for at, (value, code) in enumerate(
            ((40.5, "#,##0.00 [$€-407]"), (0, '"yes";"yes";"no"'), (1067, "00000"), (1.125, "[h]:mm")), 1
        ):
            one.write_number(1, at, value, book.add_format({"num_format": code}))

    assert "North | 40.50 € | no | 01067 | 27:00" in sheet(build)


def test_amounts_in_any_currency_make_the_row_above_them_names() -> None:
    assert "Item | Price\n---" in text_of("Item;Price\nPump;R$12.50\nBelt;₹7\nCap;HK$3\nRope;5 €/m\n", "a.csv")


def test_three_rows_of_merged_names_name_a_column() -> None:
    def build(book: Any, one: Any) -> None:
        one.merge_range(0, 0, 2, 0, "Product")
        one.merge_range(0, 1, 0, 4, "Europe")
        for at, year in ((1, "2025"), (3, "2026")):
            one.merge_range(1, at, 1, at + 1, year)
        one.write_row(2, 1, ["plan", "actual"] * 2)
        for row, name in enumerate(["Pumps", "Valves"], 3):
            one.write_row(row, 0, [name, *range(row * 10, row * 10 + 4)])

    text = sheet(build)

    assert "Product | Europe 2025 plan | Europe 2025 actual | Europe 2026 plan | Europe 2026 actual\n---" in text
    assert "Pumps | 30 | 31 | 32 | 33" in text


def test_a_name_above_several_columns_that_are_not_merged_is_that_of_each() -> None:
    text = text_of("Region;2025;;2026;\n;plan;actual;plan;actual\nNorth;1;2;3;4\nSouth;5;6;7;8\n", "a.csv")

    assert "Region | 2025 plan | 2025 actual | 2026 plan | 2026 actual\n---" in text


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("No.;Month;;Fee\nA;Jan;Rent due;none\nB;Feb;Rent due;7\nC;Mar;Rent due;8\n", "A | Jan | Rent due | none"),
        (";Month;;Fee\nA;Jan;Rent due;none\nB;Feb;Rent due;7\nC;Mar;Rent due;8\n", "A | Jan | Rent due | none"),
        ("No.;Paid;;Fee\nA;none;open;none\nB;1;2;3\nC;4;5;6\n", "A | none | open | none"),
    ],
    ids=["words below it", "labels without a name", "figures below it"],
)
def test_a_first_row_of_words_below_a_column_without_a_name_is_a_row(rows: str, expected: str) -> None:
    assert f"\n{expected}\n" in text_of(rows, "a.csv")


def test_a_row_below_two_columns_of_one_name_is_a_row() -> None:
    text = text_of("Name,Contact,Contact\nAda,mobile,home\nBob,fax,desk\n", "a.csv")

    assert text.endswith("Name | Contact | Contact\n--- | --- | ---\nAda | mobile | home\nBob | fax | desk")


def test_the_first_line_of_a_form_names_no_columns() -> None:
    def build(book: Any, one: Any) -> None:
        one.write_row(0, 0, ["Customer:", "Lindqvist"])
        one.write_row(1, 0, ["Ordered:", "4 March", "Number", "A-77"])
        one.write_row(2, 0, ["Rate:", "low"])

    assert "---" not in sheet(build)
