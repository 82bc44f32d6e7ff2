"""What a model's sentence may say of the text that it quotes."""

from __future__ import annotations

import pytest

from agentic_rag.answering.verification.claim_support import find_unsupported

SOURCE = (
    "The coordinator Wilf Hastane informs the captain by 06:00 on 9 May 2024, and most vessels within 1.5 km stop "
    "for at least 20 minutes."
)


@pytest.mark.parametrize(
    ("claim", "guardrail"),
    [
        ("The coordinator does not inform the captain.", "negation_not_in_source"),
        ("Vessels within 2.5 km stop.", "figure_not_in_source"),
        ("Vessels within 1.5 m stop.", "figure_not_in_source"),
        ("He informs the captain by 07:00.", "figure_not_in_source"),
        ("He informs the captain on 9 June 2024.", "figure_not_in_source"),
        ("Vessels stop for at least 20 hours.", "figure_not_in_source"),
        ("The coordinator Tobias Aarle informs the captain.", "name_not_in_source"),
        ("All vessels within 1.5 km stop.", "quantifier_not_in_source"),
        ("Vessels stop for at most 20 minutes.", "quantifier_not_in_source"),
        ("The captain informs the coordinator by 06:00.", "roles_not_as_in_source"),
        ("The coordinator informs the captain because insurers demand it.", "words_not_in_source"),
    ],
)
def test_a_sentence_that_says_something_else_or_more_is_refused(claim: str, guardrail: str) -> None:
    assert find_unsupported(claim, SOURCE, ()) == guardrail


@pytest.mark.parametrize(
    "claim",
    [
        "The coordinator Wilf Hastane informs the captain by 6 a.m.",
        "On 2024-05-09 the coordinator informs the captain.",
        "Most vessels within 1,500 m stop for at least 20 minutes.",
        "Within 1.5 km, most vessels stop.",
        "The coordinator tells the captain by 06:00.",
    ],
)
def test_the_same_in_other_words_order_and_units_passes(claim: str) -> None:
    assert find_unsupported(claim, SOURCE, ()) is None


TWO_FIGURES = (
    "Costs were 5 million euros, and revenue fell to 3 million euros; the north pump delivers 40 litres while the "
    "south pump delivers 45 litres."
)


@pytest.mark.parametrize(
    "claim",
    [
        "Revenue was 5 million euros.",
        "Costs fell to 3 million euros.",
        "The south pump delivers 40 litres.",
        "The north pump delivers 45 litres.",
    ],
)
def test_a_figure_supports_only_in_its_own_clause(claim: str) -> None:
    assert find_unsupported(claim, TWO_FIGURES, ()) == "figure_of_another_clause"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Costs were 5 million euros.", TWO_FIGURES),
        ("Revenue fell to 3 million euros, and costs were 5 million euros.", TWO_FIGURES),
        ("The south pump delivers 45 litres.", TWO_FIGURES),
        ("Adults pay 5 euros.", "Adults, seniors and children pay 5, 4 and 3 euros."),
        ("The mill has 40 workers.", "The mill stands in Otter Voe. It has 40 workers, and it closes at 5 p.m."),
    ],
)
def test_a_figure_in_its_own_clause_passes(claim: str, source: str) -> None:
    assert find_unsupported(claim, source, ()) != "figure_of_another_clause"


PRICES = "Adults pay 5 euros, children 3 euros."
STAFF = "The plant had 200 employees in 2020 and 300 employees in 2021."
SALES = "Der Umsatz stieg von 500 Millionen Euro im Jahr 2020 auf 600 Millionen Euro im Jahr 2021."
HEADS = "In 2020 the plant had 200 employees; in 2021 it had 300."
SHIFTS = "The first shift begins at 06:00, the second shift at 14:00."


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Revenue was 5 million euros.", "Costs were 5 million euros (revenue: 3 million euros)."),
        ("Revenue was 5 million euros.", "While costs were 5 million euros, revenue was only 3 million euros."),
        ("Revenue was 5 million euros.", "Costs were 5 million euros – revenue fell to 3 million euros."),
        ("Revenue was 5 million euros.", "Costs were 5 million euros, with revenue at 3 million euros."),
        ("Revenue was 5 million euros.", "Costs of 5 million euros exceeded revenue of 3 million euros."),
        ("Revenue was 5 million euros.", "They spent 5 million euros in costs and 3 million euros in revenue."),
        ("The fee for adults is 3 euros.", "The fee for adults is 5 euros and for children 3 euros."),
        ("Children pay 5 euros.", PRICES),
        ("Adults pay 3 euros.", PRICES),
        ("The first shift begins at 14:00.", SHIFTS),
        ("The pump was built in 1999.", "The pump was serviced in 1999 and built in 1984."),
        ("The north pump delivers 45 litres.", "The north pump delivers 40 litres; the south one 45 litres."),
        ("Der Umsatz betrug 5 Millionen Euro.", "Die Kosten betrugen 5 Millionen Euro; der Umsatz 3 Millionen Euro."),
        ("Kinder zahlen 5 Euro.", "Erwachsene zahlen 5 Euro, Kinder 3 Euro."),
        ("Les enfants paient 5 euros.", "Les adultes paient 5 euros et les enfants 3 euros."),
        ("Los niños pagan 5 euros.", "Los adultos pagan 5 euros, mientras que los niños pagan 3 euros."),
        ("Дети платят 5 евро.", "Взрослые платят 5 евро, а дети 3 евро."),
        ("In 2021, the plant had 200 employees.", HEADS),
        ("Revenue was 5 million euros.", "Savings from 5 million euros in grants exceeded revenue of 3 million euros."),
        ("Children pay 5 euros.", "Members pay 5 euros, guests with children 8 euros, children 3 euros."),
        ("Guests pay 5 euros.", "Members pay 5 euros and guests 8 euros per day in the north hall."),
        ("The tower is 10 m high.", "The tower is 40 m high and 10 m wide."),
        ("The deadline for appeals is 30 days.", "The deadline for complaints is 30 days, for appeals 14 days."),
        ("Revenue was 5 million euros.", "Costs of 5 million euros brought revenue to 3 million euros."),
    ],
)
def test_a_figure_of_another_part_of_the_clause_supports_nothing(claim: str, source: str) -> None:
    assert find_unsupported(claim, source, ()) == "figure_of_another_clause"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Children pay 3 euros.", PRICES),
        ("Adults pay 5 euros.", PRICES),
        ("The second shift begins at 14:00.", SHIFTS),
        ("Revenue was 3 million euros.", "Costs of 5 million euros exceeded revenue of 3 million euros."),
        ("The fee for children is 3 euros.", "The fee for adults is 5 euros and for children 3 euros."),
        ("Revenue rose to 5 million euros.", "Revenue rose from 3 million euros to 5 million euros in Europe."),
        ("Members pay 5 euros per day.", "Members pay 5 euros and guests 8 euros per day in the north hall."),
        ("The pump was serviced in 1999 by Kern.", "The pump, built in 1984, was serviced in 1999 by Kern Ltd."),
        (
            "Vessels within 1.5 km stop.",
            "Vessels within 1.5 km stop for 20 minutes, and others within 3 km slow.",
        ),
        ("Die Gebühr für Kinder beträgt 3 Euro.", "Die Gebühr für Erwachsene beträgt 5 Euro und für Kinder 3 Euro."),
        ("Les enfants paient 3 euros.", "Les adultes paient 5 euros et les enfants 3 euros."),
        ("In 2021 the plant had 300 employees.", STAFF),
        ("In 2020 the plant had 200 employees.", STAFF),
        ("In 2021, the plant had 300 employees.", HEADS),
        ("Staff grew to 300 people.", "Staff grew from 200 people to 300 people."),
        ("Staff grew to 300 people in York.", "Staff grew from 200 people in Leeds to 300 people in York."),
        ("Der Umsatz stieg auf 600 Millionen Euro.", SALES),
        ("Der Umsatz stieg im Jahr 2021 auf 600 Millionen Euro.", SALES),
        (
            "Der Umsatz betrug 2021 600 Millionen Euro.",
            "Der Umsatz betrug 2020 500 Millionen Euro und 2021 600 Millionen Euro.",
        ),
        (
            "Le chiffre d'affaires est passé à 600 millions d'euros.",
            "Le chiffre d'affaires est passé de 500 millions d'euros à 600 millions d'euros.",
        ),
    ],
)
def test_what_a_clause_borrows_from_the_one_before_it_may_be_said(claim: str, source: str) -> None:
    assert find_unsupported(claim, source, ()) != "figure_of_another_clause"
