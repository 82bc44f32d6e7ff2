"""Tables without ruling lines, as PDFs give them, are read row by row with the names of their columns."""

from __future__ import annotations

import time

import pytest

from agentic_rag.answering.figures.borderless_tables import (
    format_borderless_row,
    parse_borderless_row,
    split_borderless_row,
)

STATEMENT = """Harbour Inc.
CONDENSED STATEMENTS OF OPERATIONS (Unaudited)
(In millions, except number of shares which are reflected in thousands)
Three Months Ended Nine Months Ended
June 25,
2022
June 26,
2021
June 25,
2022
June 26,
2021
Net sales:
   Products $ 355 $ 948 $ 4,241 $ 2,309
Total net sales 959 1,434 4,182 2,457
Shares used in computing earnings 1,945 1,371 1,824 1,656
"""


def read(line: str, text: str = STATEMENT) -> str:
    start = text.index(line)
    row = parse_borderless_row(text, start, start + len(line))
    assert row is not None
    return format_borderless_row(row, text)


def test_a_row_is_told_with_its_section_its_columns_and_its_unit():
    assert read("Products $ 355 $ 948 $ 4,241 $ 2,309") == (
        "Net sales: Products (in millions) — Three Months Ended June 25, 2022: $ 355; "
        "Three Months Ended June 26, 2021: $ 948; Nine Months Ended June 25, 2022: $ 4,241; "
        "Nine Months Ended June 26, 2021: $ 2,309"
    )


def test_what_is_excepted_from_the_unit_has_none():
    assert read("Shares used in computing earnings 1,945 1,371 1,824 1,656").startswith(
        "Shares used in computing earnings — Three"
    )


def test_a_sum_closes_its_section():
    text = STATEMENT + "Interest 12 14 16 18\n"

    assert read("Interest 12 14 16 18", text).startswith("Interest (in millions)")


def test_days_and_years_on_lines_of_their_own_are_put_together():
    text = "(In millions)\n Nine Months Ended\nOctober 30, October 31,\n 2022 2021\nNet income $ 2,954 $ 6,749"

    assert read("Net income $ 2,954 $ 6,749", text) == (
        "Net income (in millions) — Nine Months Ended October 30, 2022: $ 2,954; "
        "Nine Months Ended October 31, 2021: $ 6,749"
    )


def test_a_day_over_two_years_names_both_columns():
    text = "Three Months Ended\nMarch 31,\n2022 2023\nOnline stores (1) 51,129 51,096"

    assert read("Online stores (1) 51,129 51,096", text) == (
        "Online stores — Three Months Ended March 31, 2022: 51,129; Three Months Ended March 31, 2023: 51,096"
    )


def test_columns_of_change_are_columns():
    text = "July 1,\n2023\nJune 25,\n2022 Change\nAmericas $ 35,383 $ 37,472 (6)%"

    assert read("Americas $ 35,383 $ 37,472 (6)%", text) == (
        "Americas — July 1, 2023: $ 35,383; June 25, 2022: $ 37,472; Change: (6)%"
    )


def test_columns_that_do_not_match_the_figures_are_not_guessed():
    text = "June 25,\n2022\nJune 26,\n2021\nAmericas 35 37 39"

    assert read("Americas 35 37 39", text) == "Americas — 35; 37; 39"


def test_text_ends_the_search_for_a_header():
    text = "June 25, 2022\n" + "This paragraph is longer than any label of a table. " * 3 + "\nAmericas 35 3,037"

    assert read("Americas 35 3,037", text) == "Americas — 35; 3,037"


def test_what_is_no_row():
    for line in (
        "Total net sales increased 2% or $1.5 billion during the quarter.",
        "Item 4. Controls and Procedures 19",
        "Harbour Inc. | Q3 2022 Form 10-Q | 4",
        "Three Months Ended June 25, 2022",
        "Dividends —  —",
        "Rates (2)",
        "",
    ):
        assert split_borderless_row(line) is None, line
    assert parse_borderless_row(STATEMENT, 0, 12) is None


@pytest.mark.parametrize(
    "line",
    ["Telephone: +33 5 61 00 44 21", "Phone +1 212 555 1734", "Fax: 020 7946 0958", "Tel. 0711 123 456"],
)
def test_the_groups_of_a_telephone_number_are_no_figures(line: str):
    assert split_borderless_row(line) is None


def test_a_balance_keeps_the_day_in_its_label():
    assert split_borderless_row("Balance as of June 30, 2023 481.5 128") == (
        "Balance as of June 30, 2023",
        ("481.5", "128"),
    )


@pytest.mark.parametrize("sign", ["", "%", " %", "$ ", "(1) "])
def test_figures_before_a_word_are_refused_in_no_time(sign: str):
    figures = "  ".join(f"{sign}{place}" if sign.startswith(("$", "(")) else f"{place}{sign}" for place in range(60))

    started = time.process_time()

    assert split_borderless_row(f"Net sales {figures} x") is None
    assert split_borderless_row(f"Net sales {figures} x 7.") is None
    assert split_borderless_row(f"Net sales {figures}  x7)") is None
    assert time.process_time() - started < 0.2


def test_a_row_of_many_figures_two_spaces_apart_is_read():
    found = split_borderless_row("Net sales " + "  ".join(str(place) for place in range(60)))

    assert found == ("Net sales", tuple(str(place) for place in range(60)))


@pytest.mark.parametrize("end", ["", " 7", " in 2021)", "   .   .   . 4)"])
def test_a_long_line_of_prose_is_no_row_and_costs_nothing(end: str):
    prose = "In 2021 the harbour paid 40 euros, 3 % more (12 in 1999), for each of 7 boats : it was . . . late. " * 60

    started = time.process_time()

    assert split_borderless_row(prose + end) is None
    assert split_borderless_row(prose[:390] + end) is None
    assert split_borderless_row("Sales" + " ." * 180 + end) is None
    assert time.process_time() - started < 0.05


def test_periods_above_the_caption_belong_to_another_table():
    text = "Fiscal 2021\nSales by region (in millions)\n2022\nEurope 100 90"

    assert read("Europe 100 90", text) == "Europe (in millions) — 100; 90"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Net sales of notes due 2030 900 800", "Net sales of notes due 2030 — 2022: 900; 2021: 800"),
        ("Phase 2 120 80", "Phase 2 — 2022: 120; 2021: 80"),
        ("Quay 7 120 80", "Quay 7 — 2022: 120; 2021: 80"),
        ("Level 1 500", "Level 1 500"),
        ("Level 1 1,500", "Level 1 — 1,500"),
        ("Level 500 400", "Level — 2022: 500; 2021: 400"),
        ("Rent due 12 14", "Rent due — 2022: 12; 2021: 14"),
        ("Pilots 9 — —", "Pilots — 9; —; —"),
        ("Pilots 9 8 12", "Pilots — 9; 8; 12"),
        ("Pilots 7 8", "Pilots — 2022: 7; 2021: 8"),
        ("Pilots 7.5 120 80", "Pilots — 7.5; 120; 80"),
        ("Pilots 7 120 80 60", "Pilots — 7; 120; 80; 60"),
    ],
)
def test_the_number_of_a_label_is_no_figure(line: str, told: str):
    text = f"2022 2021\n{line}"
    row = parse_borderless_row(text, 10, len(text))

    assert (line if row is None else format_borderless_row(row, text)) == told


def test_a_numbered_label_is_told_from_as_many_figures_as_columns():
    text = "2022 2021 2020\nLevel 1 500 400\nPilots 1 500 400"

    assert read("Level 1 500 400", text) == "Level 1 — 500; 400"
    assert read("Pilots 1 500 400", text) == "Pilots — 2022: 1; 2021: 500; 2020: 400"


BARS = """Statements of operations (in millions)
|  | Three Months Ended June 25, 2022 | Three Months Ended June 26, 2021 |
--- | --- | ---
| Net sales: |  |  |
Products | $ 355 | $ 948
Services |  | 1,434
Total net sales | 959 | 1,434
Interest | 12 | 14
"""


def test_a_row_between_bars_is_told_with_its_section_its_columns_and_its_unit():
    assert read("Products | $ 355 | $ 948", BARS) == (
        "Net sales: Products (in millions) — Three Months Ended June 25, 2022: $ 355; "
        "Three Months Ended June 26, 2021: $ 948"
    )
    assert (
        read("Services |  | 1,434", BARS)
        == "Net sales: Services (in millions) — Three Months Ended June 26, 2021: 1,434"
    )


def test_a_sum_between_bars_closes_its_section():
    assert read("Interest | 12 | 14", BARS).startswith("Interest (in millions) — Three")


@pytest.mark.parametrize("line", ["Ash | elm | 50", "--- | --- | ---", "2021 | 17 | 18", "Products |  |"])
def test_cells_that_are_no_figures_are_no_row_of_figures(line: str):
    assert split_borderless_row(line) is None
