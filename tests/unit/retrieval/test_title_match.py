"""The title of a long document counts as far as the question speaks of it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.retrieval.title_match import score_title_match, strip_references, title_date, title_terms

HARBOUR = [f"Harbour Inc. Form 10-Q, quarterly period ended {end} ({name})" for end, name in (
    ("June 30, 2022", "2022-Q2"), ("March 31, 2023", "2023-Q1"), ("June 30, 2023", "2023-Q2"))]  # fmt: skip
MERIDIAN = [title.replace("Harbour Inc.", "MERIDIAN CORPORATION") for title in HARBOUR]
TITLES = [title for title in (*HARBOUR, *MERIDIAN) for _ in range(2)]


def best(question: str, titles: list[str] = TITLES) -> set[str]:
    fits = score_title_match(question, titles)
    return {title for title, fit in zip(titles, fits, strict=True) if fit == fits.max() and fit > 0}


def test_a_company_and_a_quarter_mean_one_filing():
    assert best("What was Harbour's net income in Q2 2023?") == {HARBOUR[2]}
    assert best("what did meridian earn in the second quarter of 2022") == {MERIDIAN[0]}


def test_a_company_alone_means_all_its_filings():
    assert best("How did Meridian's revenue change?") == set(MERIDIAN)


def test_the_latest_filing_is_the_newest_of_that_company():
    assert best("What tax rate does Harbour report in its most recent 10-Q?") == {HARBOUR[2]}
    assert best("What tax rate does Meridian report in its latest quarterly filing?") == {MERIDIAN[2]}


def test_a_recent_thing_is_not_the_latest_document():
    assert best("Which recent trends does Harbour name?") == set(HARBOUR)


def test_a_question_that_speaks_of_no_document_prefers_none():
    assert not score_title_match("What is a gross margin?", TITLES).any()
    assert not score_title_match("Which form was filed?", TITLES).any()


def test_short_documents_gain_nothing():
    titles = ["Harbour history", "Harbour authority", "Meridian history"]

    assert not score_title_match("When was Harbour founded?", titles).any()


def test_periods_are_one_word_however_they_are_written():
    assert "q3" in title_terms("Report for the third fiscal quarter")
    assert "q3" in title_terms("Quarter 3 report")
    assert "h1" in title_terms("first half results")


def test_a_title_is_as_new_as_the_last_day_it_names():
    assert title_date("period ended June 25, 2022 (2023-Q3)") == (2022, 6, 25)
    assert title_date("Bericht, 3 October 2021") == (2021, 10, 3)
    assert title_date("minutes 2024-02-29") == (2024, 2, 29)
    assert title_date("Results Q3 2022") == (2022, 9, 0)
    assert title_date("2022-H1 results") == (2022, 6, 0)
    assert title_date("Annual report 2020") == (2020, 0, 0)
    assert title_date("Handbook") is None


def test_without_dates_no_title_is_the_latest():
    titles = ["Harbour handbook", "Harbour handbook", "Meridian manual", "Meridian manual"]

    assert best("What does the latest Harbour handbook say?", titles) == {"Harbour handbook"}


@given(st.text(max_size=80), st.lists(st.sampled_from([*HARBOUR, *MERIDIAN, "Handbook", ""]), max_size=8))
def test_the_fit_is_a_share(question: str, titles: list[str]):
    fits = score_title_match(question, titles)

    assert len(fits) == len(titles)
    assert np.all((fits >= 0) & (fits <= 1))


def test_only_a_question_that_names_a_form_loses_the_words_that_say_which():
    assert strip_references("What was net income, as reported in the Q3 2022 10-Q?") == "What was net income?"
    for whole in (
        "Which features shipped in Q3 2022?",
        "Which bugs were fixed in Q1 2023 and Q2 2023?",
        "What is the retention period for the filings?",
        "Who is in charge of reports?",
        "How is staff paid during the period?",
    ):
        assert strip_references(whole) == whole


def test_titles_that_name_no_edition_count_only_for_questions_that_speak_of_one():
    articles = [title for title in ("Bovine coronavirus in calves", "Avian viruses of the coast") for _ in range(2)]
    assert not score_title_match("What is the size of bovine coronavirus?", articles).any()
    plans = [title for title in ("Harbour plan 2022", "Harbour plan 2023") for _ in range(2)]
    assert best("What did the harbour plan of 2023 cost?", plans) == {"Harbour plan 2023"}
