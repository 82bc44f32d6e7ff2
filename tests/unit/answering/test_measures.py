"""What a question asks for is told from whose it is and from how it is asked."""

from __future__ import annotations

import pytest

from agentic_rag.answering.figures.measures import (
    Measure,
    asks_for_measure,
    asks_how_much,
    breakdown_concepts,
    concept,
    measures_of,
)

TITLED = frozenset(["harbour", "gate"])


def asked(question: str) -> list[list[str]]:
    return [list(measure.weights) for measure in measures_of(question, TITLED, {})]


@pytest.mark.parametrize(
    ("question", "measures"),
    [
        ("What were Harbour's operating expenses in Q3 2022?", [["operat", "expens"]]),
        ("How has Harbour's revenue from ferry sales fluctuated across quarters?", [["sale", "ferr"]]),
        ("What was the cash flow from operating activities?", [["flow", "cash", "operat"]]),
        ("What changes in debt and interest expense were reported?", [["debt"], ["interest", "expens"]]),
        ("How much was spent on research and development?", [["research", "develop"]]),
        ("How does the equity section relate to dividends?", [["dividend"]]),
        ("In Q3 2022, how much did Blue Ferry add to Harbour's revenue?", [["sale", "blue", "ferr"]]),
        ("How much revenue did Harbour earn from ferries?", [["sale", "ferr"]]),
        ("What was the operating income in Norway?", [["operat", "incom", "norwa"]]),
    ],
)
def test_a_measure_is_the_words_that_name_it(question: str, measures: list[list[str]]):
    assert [sorted(one) for one in asked(question)] == [sorted(one) for one in measures]


def test_a_question_for_no_measure_asks_for_none():
    assert not asks_for_measure("Who is the captain of the Harbour team?")
    assert asked("Who is the captain of the Harbour team?") == []


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("How much revenue did Harbour earn?", True),
        ("What was Harbour's net income in Q3 2022?", True),
        ("What was the effective tax rate?", True),
        ("What effective tax rate did Harbour report?", True),
        ("What revenue from ferries did Harbour report in its 10-Q?", True),
        ("What were the main contributors to net income?", False),
        ("What legal proceedings or liabilities were disclosed?", False),
        ("What changes in debt were reported?", False),
        ("What are the financial implications of the repurchases?", False),
        ("How has revenue changed?", False),
        ("How much do the captains know?", False),
    ],
)
def test_a_figure_is_asked_for_or_what_is_said_of_it(question: str, figure: bool):
    assert asks_how_much(question) is figure


def test_what_statements_call_by_another_name_is_searched_for_too():
    (revenue,) = measures_of("What was the revenue?", TITLED, {})

    assert {"revenu", "sale"} <= set(revenue.search_terms)
    assert concept("revenu") == concept("sale") == concept("turnov")


def test_a_margin_may_have_to_be_worked_out_from_its_rows():
    margin, sales, costs = asked("What was Harbour's gross margin?")

    assert (margin, sales, costs) == (["gross", "margin"], ["net", "sale"], ["expens", "sale"])


def test_a_word_of_every_statement_counts_less_than_whose_it_is():
    (measure,) = measures_of("What was the revenue from ferries?", TITLED, {})

    assert measure.weights["sale"] < measure.weights["ferr"]
    assert not measure.is_generic
    assert Measure({"sale": 0.5}, {}, ()).is_generic


def test_the_rest_of_the_question_stands_beside_its_measures():
    (measure,) = measures_of("Which storms hit Norway, and what was the revenue?", TITLED, {})

    assert set(measure.context_weights) == {"storm", "hit", "norwa"}
    assert sum(measure.context_weights.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("question", "by"),
    [
        ("What was the revenue breakdown across its various service offerings?", {"servic", "offer"}),
        ("Show sales by region.", {"region"}),
        ("What was the revenue?", None),
    ],
)
def test_a_breakdown_names_by_what(question: str, by: set[str] | None):
    found = breakdown_concepts(question)

    assert found is None if by is None else found is not None and by <= found
