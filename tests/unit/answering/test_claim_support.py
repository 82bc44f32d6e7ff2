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
