"""Two sentences disagree when they state the same thing of the same subject differently."""

from __future__ import annotations

import pytest

from agentic_rag.answering.extraction.contradiction import (
    answers_differ,
    are_dated_issues,
    are_other_editions,
    contradicts,
    order_in_time,
)
from agentic_rag.answering.plan import AnswerType


def test_how_often_something_may_be_done_disagrees_in_words_too() -> None:
    twice, amended = "Books can be renewed twice.", "§ 3 is amended: Books can be renewed three times."
    assert contradicts(twice, amended)
    assert contradicts(amended, twice)
    assert not contradicts(twice, "Books can be renewed two times.")
    assert not contradicts(twice, "§ 3 is amended: Books can be renewed twice.")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The crane lifts at most 40 tonnes.", "The crane lifts at most 45 tonnes."),
        ("The main gate of the yard is locked at night.", "The main gate of the yard is not locked at night."),
        ("Divers must inspect all 12 hulls every spring.", "Divers must never inspect all 12 hulls every spring."),
    ],
)
def test_other_figures_or_a_denial_disagree_both_ways(left: str, right: str):
    assert contradicts(left, right)
    assert contradicts(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The crane lifts at most 40 tonnes.", "The crane lifts at most 40 tonnes."),
        ("The harbour served 40 ships in 2021.", "The harbour served 45 ships in 2022."),
        ("The crane lifts at most 40 tonnes.", "Ferries carry up to 45 cars across the bay."),
        ("The main gate of the yard is not locked.", "The main gate of the yard is never locked."),
        ("The fee of order No. 17 is 30 euros.", "The fee of order 17 is 30 euros."),
        ("The main gate is locked at night.", "Visitors without a pass may not enter the tower."),
    ],
)
def test_agreeing_sentences_other_years_and_other_subjects_do_not(left: str, right: str):
    assert not contradicts(left, right)
    assert not contradicts(right, left)


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("The notice period is 30 days.", "The notice period is extended from 30 to 60 days.", AnswerType.FIGURE),
        ("Dredging lasts 12 weeks.", "Dredging, as the harbour board announced, lasts 14 weeks.", AnswerType.FIGURE),
        ("The pier cost $1.5 million.", "As stated in the audit, the pier cost 2 million dollars.", AnswerType.FIGURE),
        ("Corrand Tidal was founded by Maren Tollack.", "Ida Voss founded Corrand Tidal.", AnswerType.PERSON),
        ("Corrand Air was based in Miami, Florida.", "Corrand Air was based in Oslo.", AnswerType.FACT),
        ("The office closes at 5 p.m.", "The office closes at 18:00.", AnswerType.FIGURE),
        ("Pump: P-3; Rate: 40 l/min; Weight: 20 kg.", "Pump: P-3; Rate: 45 l/min; Weight: 20 kg.", AnswerType.FIGURE),
        (
            "Otter Voe Stadium The Otter Voe Stadium was the home venue of Skerry United.",
            "The Otter Voe Stadium was the home venue of Lunna Rovers.",
            AnswerType.FACT,
        ),
    ],
)  # fmt: skip
def test_one_statement_with_another_value_of_the_kind_asked_for_disagrees(left: str, right: str, kind: AnswerType):
    assert contradicts(left, right, kind)
    assert contradicts(right, left, kind)


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("The pier is 1.5 km long.", "The pier is 1,500 m long.", AnswerType.FIGURE),
        ("Visitors wait two weeks.", "Visitors wait 14 days.", AnswerType.FIGURE),
        ("The office closes at 5 p.m.", "The office closes at 17:00.", AnswerType.FIGURE),
        ("Corrand Tidal was founded by Maren Tollack.", "Corrand Tidal was founded by M. Tollack.", AnswerType.PERSON),
        ("It is based in Port Aldery, Norway.", "It is based in Port Aldery.", AnswerType.FACT),
        ("Berth 4 is 12 m deep.", "Berth 5 is 14 m deep.", AnswerType.FIGURE),
        ("The north pump delivers 40 litres.", "The south pump delivers 45 litres.", AnswerType.FIGURE),
        ("The pier cost 9 million euros.", "The planned pier cost 7 million euros.", AnswerType.FIGURE),
        ("The park produced 900 MWh.", "The park was expected to produce 950 MWh.", AnswerType.FIGURE),
        ("The firm has 90 employees.", "The firm has 40 employees in Oslo.", AnswerType.FIGURE),
        ("The crane lifts 40 tonnes in Oslo.", "The crane lifts 40 tonnes in Bergen.", AnswerType.FIGURE),
        ("The board met on 3 May 2024.", "The board met on 7 June 2024.", AnswerType.FACT),
        ("Ada Byron was born in London.", "Mary Shelley was born in London.", AnswerType.PERSON),
        ("The film stars Ada Byron.", "The film stars Mary Shelley.", AnswerType.PERSON),
    ],
)
def test_other_words_units_subjects_qualifiers_and_occasions_do_not_disagree(left: str, right: str, kind: AnswerType):
    assert not contradicts(left, right, kind)
    assert not contradicts(right, left, kind)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("commissioned on 31 March 2024", "commissioned on 2024-03-31"),
        ("commissioned on March 31, 2024", "commissioned in March 2024"),
        ("commissioned on 31.03.2024", "commissioned in 2024"),
    ],
)
def test_one_date_in_other_forms_is_one_date(left: str, right: str):
    assert not contradicts(f"The site was {left}.", f"The site was {right}.", AnswerType.DATE, about_dates=True)
    later = right.replace("2024", "2025")
    assert contradicts(f"The site was {left}.", f"The site was {later}.", AnswerType.DATE, about_dates=True)


def test_an_amendment_follows_what_it_amends_and_a_later_document_an_earlier_one():
    titles = ["Amendment of 1 July 2023", "Contract", "Lease of 2 May 2019", "Lease of 3 May 2018"]

    assert sorted(titles, key=lambda one: order_in_time(one, "")) == [titles[1], titles[3], titles[2], titles[0]]
    assert are_other_editions("Report 2021", "Report 2022")
    assert not are_other_editions("Contract of 2021", "Amendment of 2022")


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("Fire drills should be held every six months.", "d) Fire drills every quarter.", AnswerType.FIGURE),
        ("Fire drills are held weekly.", "Fire drills are held every month.", AnswerType.FIGURE),
        ("The kiosk opens from 9:00 to 18:00.", "The kiosk opens every day from 10:00 to 19:00.", AnswerType.DATE),
        ("The kiosk opens from 9:00 to 18:00.", "The kiosk opens from 9:00 to 19:00.", AnswerType.DATE),
        ("El museo abre de 10:00 a 21:00.", "El museo abre todos los días de 9:00 a 20:00.", AnswerType.DATE),
        ("Der Kiosk öffnet von 9 bis 18:00 Uhr.", "Der Kiosk ist täglich von 9 bis 17:00 geöffnet.", AnswerType.DATE),
        ("Die Gebühr beträgt 1.200,50 Euro.", "Die Gebühr beträgt 1.350 Euro.", AnswerType.FIGURE),
        ("Die Frist beträgt 14 Tage.", "Die Frist beträgt 30 Tage.", AnswerType.FIGURE),
        ("La fianza es de 100 euros.", "La fianza es de 150 euros.", AnswerType.FIGURE),
        ("Das Fest ist am 29. März.", "Das Fest ist am 5. April.", AnswerType.DATE),
    ],
)  # fmt: skip
def test_frequencies_ranges_and_values_of_other_languages_disagree(left: str, right: str, kind: AnswerType):
    about_dates = kind is AnswerType.DATE
    assert contradicts(left, right, kind, about_dates=about_dates)
    assert contradicts(right, left, kind, about_dates=about_dates)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Fire drills are held every three months.", "Fire drills are held quarterly."),
        ("The kiosk opens from 9:00 to 18:00.", "The kiosk opens every day from 9:00 to 18:00."),
        ("The kiosk opens from 9:00 to 18:00.", "The tea room opens from 10:00 to 19:00."),
        ("The kiosk opens from 9:00 to 18:00.", "The kiosk opens from 10:00 to 19:00 on Sundays."),
        ("Die Gebühr beträgt 1.200,50 Euro.", "Die Gebühr beträgt 1200,50 €."),
        ("Die Frist beträgt zwei Wochen.", "Die Frist beträgt 14 Tage."),
        ("Die Frist beträgt 14 Tage.", "Die Frist für Besucher beträgt 30 Tage."),
        ("La fianza es de 100 euros.", "La fianza prevista es de 150 euros."),
        ("El plazo vence el 3 de mayo.", "El plazo vence el 3 de mayo de 2025."),
    ],
)  # fmt: skip
def test_the_same_frequency_range_or_amount_and_another_occasion_do_not(left: str, right: str):
    for kind in (AnswerType.FIGURE, AnswerType.DATE):
        assert not contradicts(left, right, kind, about_dates=kind is AnswerType.DATE)
        assert not contradicts(right, left, kind, about_dates=kind is AnswerType.DATE)


@pytest.mark.parametrize(
    ("left", "right", "question"),
    [
        ("A mooring costs 12 euros a year.", "The yearly price of a mooring is 15 euros.", "What does a mooring cost?"),
        (
            "Paint tins are thrown away six months after they were opened.",
            "Skins form on old paint, so that opened tins are disposed of after three months.",
            "How long may opened paint tins be kept?",
        ),
        (
            "Keep logbooks, charts and lists for ten years after the last voyage.",
            "Papers are kept for seven years after the last voyage.",
            "How many years must logbooks be kept after the last voyage?",
        ),
        (
            "**3 May, 10:31, Ida Voss.** Deleted routes stay in the bin of the plotter for 60 days.",
            "The bin of the plotter keeps charts for 30 days.",
            "How long do charts stay in the bin?",
        ),
    ],
)  # fmt: skip
def test_answers_in_other_words_with_another_value_differ(left: str, right: str, question: str):
    assert answers_differ(left, right, question, AnswerType.FIGURE)
    assert answers_differ(right, left, question, AnswerType.FIGURE)


@pytest.mark.parametrize(
    ("left", "right", "question"),
    [
        ("The north pump delivers 40 litres.", "The south pump delivers 45 litres.", "How much does a pump deliver?"),
        ("Adults pay 10 pounds for a trip.", "Children pay 5 pounds for a trip.", "What does a trip cost?"),
        ("A mooring costs 12 euros.", "The planned price of a mooring is 15 euros.", "What does a mooring cost?"),
        ("A mooring costs 12 euros.", "A mooring costs 15 euros if the crew stays.", "What does a mooring cost?"),
        ("A mooring costs 12 euros.", "A mooring is 15 metres long.", "What does a mooring cost?"),
        ("The pier is 40 m long.", "Ferries of up to 45 m with deep hulls land at the quay.", "How long is the pier?"),
        ("A mooring costs 12 euros a week.", "A mooring is 12 euros weekly.", "What does a mooring cost?"),
    ],
)  # fmt: skip
def test_answers_about_another_thing_or_with_the_same_value_do_not(left: str, right: str, question: str):
    assert not answers_differ(left, right, question, AnswerType.FIGURE)
    assert not answers_differ(right, left, question, AnswerType.FIGURE)


def test_issues_of_one_thing_differ_in_their_dates_alone():
    assert are_dated_issues("Status report March 2025", "Status report June 2025")
    assert are_dated_issues("board-2025-01-16", "board-2025-03-13")
    assert not are_dated_issues("Staff rules", "Staff leaflet")


def test_another_place_in_a_row_disagrees_where_a_time_is_asked_for():
    fourth, third = "A note is due from the fourth day on.", "A note is due from the 3rd day on."
    assert contradicts(fourth, third, AnswerType.DATE, about_dates=True)
    left, right = "In the first year the hedge has no effect.", "In the third year the hedge has no effect."
    assert not contradicts(left, right)
    assert not contradicts("The first day is paid.", "The first week is paid.", AnswerType.DATE, about_dates=True)
    assert not contradicts(
        "It is due on the 3rd day.", "It is due on the third day.", AnswerType.DATE, about_dates=True
    )
