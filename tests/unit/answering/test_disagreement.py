"""Two sentences disagree when they state the same thing of the same subject differently."""

from __future__ import annotations

import pytest

from agentic_rag.answering.extraction.contradiction import contradicts


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
