"""The cell that a question names by the label of its row and the name of its column."""

from __future__ import annotations

import pytest

from agentic_rag.answering.cells.asked_cell import PlacedRow, asked_rows, names_a_row
from agentic_rag.answering.cells.table_rows import table_rows

REPORT = """BALANCE SHEET
(In millions)
|  | March 31, 2023 | December 31, 2022 |
--- | --- | ---
| Current assets: |  |  |
Inventories | 34 | 31
Term debt | 12 | 15
| Non-current liabilities: |  |  |
Term debt | 98 | 99
Total debt | 110 | 114

CASH FLOWS
|  | Three Months Ended March 31, 2023 | Twelve Months Ended March 31, 2023 |
--- | --- | ---
Inventories | 371 | 393
"""
PLANS = """Plan | Seats | Price
--- | --- | ---
Home | 2 | $5
Home Plus | 4 | $9
Home Lite | 1 | –

Prices by region
Region | Seats | Price
--- | --- | ---
North | 2 | $5
"""


TORQUES = """Size | Fluvion 200 | Fluvion 240
--- | --- | ---
DN 50 | 45 Nm | 34 Nm
DN 80 | 60 Nm | 52 Nm
"""


def _values(question: str, text: str, titles: str = "Harbour Inc. report") -> list[str]:
    rows = (PlacedRow(0, row, titles) for row in table_rows(text))
    return [one.value for one in asked_rows(question, rows)]


@pytest.mark.parametrize(
    ("question", "text", "values"),
    [
        ("What were the inventories of Harbour on March 31, 2023?", REPORT, ["34"]),
        ("What were the inventories in the twelve months ended March 31, 2023?", REPORT, ["393"]),
        ("How much term debt was among the non-current liabilities on March 31, 2023?", REPORT, ["98"]),
        ("How high was the total debt on December 31, 2022?", REPORT, ["114"]),
        ("What is the price of Home Plus?", PLANS, ["$9"]),
        ("How many seats does the Home plan have?", PLANS, ["2"]),
        ("What is the price of Home Lite with seats?", PLANS, []),
    ],
    ids=[
        "a day, not a period",
        "a period",
        "a section",
        "the longer label",
        "a longer name",
        "a shorter name",
        "no price",
    ],
)
def test_the_row_and_the_column_that_explain_most_of_the_question_are_meant(
    question: str, text: str, values: list[str]
) -> None:
    assert _values(question, text) == values


def test_where_a_question_does_not_say_which_of_two_rows_it_means_both_are_its_readings() -> None:
    assert _values("How much term debt was there on March 31, 2023?", REPORT) == ["12", "98"]


@pytest.mark.parametrize(
    "question",
    [
        "How much goodwill was there on March 31, 2023?",
        "What were the inventories on June 30, 2021?",
        "What were the inventories of Lighthouse on March 31, 2023?",
        "What were the inventories and the total debt on March 31, 2023?",
        "What are inventories?",
        "Which insurance do customers of Home need when they lend the key to a neighbour at that price?",
    ],
    ids=["no such row", "no such column", "of someone else", "two rows", "no column", "of something else"],
)
def test_a_question_that_names_no_cell_for_sure_has_none(question: str) -> None:
    assert _values(question, REPORT + "\n" + PLANS) == []


def test_rows_say_their_names_their_section_and_what_stands_above_the_table() -> None:
    rows = [*table_rows(REPORT)]

    assert [(one.cells[0], one.section) for one in rows[:4]] == [
        ("Inventories", "Current assets:"),
        ("Term debt", "Current assets:"),
        ("Term debt", "Non-current liabilities:"),
        ("Total debt", "Non-current liabilities:"),
    ]
    assert rows[0].names == ("", "March 31, 2023", "December 31, 2022")
    assert rows[0].caption == "BALANCE SHEET\n(In millions)"
    assert rows[-1].caption.endswith("CASH FLOWS")
    assert rows[-1].section == ""
    assert REPORT[rows[0].start : rows[0].end] == "Inventories | 34 | 31"


def test_a_row_that_goes_on_from_another_text_is_named_by_its_label_alone() -> None:
    rows = [*table_rows("Timber | 5 | 6\nGrain | 7 | 8")]

    assert rows[1].names == ()
    assert names_a_row("How much grain was there in 2022?", rows)
    assert not names_a_row("How much iron was there in 2022?", rows)


def test_a_price_is_no_cell_of_a_table_that_speaks_of_no_money() -> None:
    assert _values("torque of a Fluvion 200 DN 50", TORQUES) == ["45 Nm"]
    assert _values("price of a Fluvion 200 DN 50", TORQUES) == []
    assert _values("price of a Fluvion 200 DN 50", TORQUES.replace("Nm", "€")) == ["45 €"]


def test_a_cell_without_a_unit_of_the_measure_asked_for_is_not_the_one() -> None:
    trucks = "Truck | Lifts | Reach\n--- | --- | ---\nFL-03 | 4.0 t | 3.1 m\nFL-04 | 2.5 t | 4.2 m"

    assert _values("What does FL-03 lift?", trucks) == ["4.0 t"]
    assert _values("How high can FL-03 lift?", trucks) == []
