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
