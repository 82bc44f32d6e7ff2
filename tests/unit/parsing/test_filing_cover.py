"""Filings are named by what their cover page states."""

from __future__ import annotations

from agentic_rag.adapters.parsing.dispatch import filing_title, load
from agentic_rag.adapters.parsing.process.limits import ParserLimits

COVER = """UNITED STATES
SECURITIES AND EXCHANGE COMMISSION
FORM 10-Q
For the quarterly period ended June 30, 2023
or
For the transition period from            to             .
{registrant}
(Exact name of Registrant as specified in its charter)
Delaware 12-3456789
"""


def test_a_quarterly_report_is_named_by_company_form_period_and_file():
    text = COVER.format(registrant="Harbour Robotics, Inc.")

    assert (
        filing_title(text, "2023-Q2-HRB")
        == "Harbour Robotics, Inc. Form 10-Q, quarterly period ended June 30, 2023 (2023-Q2-HRB)"
    )


def test_rules_and_blanks_around_the_name_are_not_part_of_it():
    text = COVER.format(registrant="HARBOUR ROBOTICS, INC.\n ______________")

    assert (filing_title(text, "") or "").startswith("HARBOUR ROBOTICS, INC. Form 10-Q")


def test_an_annual_report_states_its_fiscal_year():
    text = COVER.format(registrant="Harbour").replace("10-Q", "10-K").replace("quarterly period", "fiscal year")

    assert filing_title(text, "") == "Harbour Form 10-K, fiscal year ended June 30, 2023"


def test_a_text_that_lacks_one_of_them_is_no_filing():
    cover = COVER.format(registrant="Harbour")

    assert filing_title("We filed our FORM 10-Q in time.", "memo") is None
    assert filing_title(cover.replace("FORM 10-Q", "Report"), "memo") is None
    assert filing_title(cover.replace("(Exact name", "(Name"), "memo") is None
    assert filing_title("x" * 6_000 + cover, "memo") is None
    assert filing_title(COVER.format(registrant="H" * 101), "memo") is None


def test_a_filing_of_any_kind_gets_its_title_when_it_is_read():
    content = COVER.format(registrant="Harbour").encode()

    _, reading = load(content, "reports/2023-Q2-HRB.txt", "text/plain", ParserLimits())

    assert reading.title == "Harbour Form 10-Q, quarterly period ended June 30, 2023 (2023-Q2-HRB)"
