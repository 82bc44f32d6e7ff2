"""The order of units once a model has read the likeliest of them beside the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.extraction.candidate_units import CandidateUnit
from agentic_rag.retrieval.candidates import SCORE_DIGITS

MAX_READ = 12
"""Units of a question that are read."""
MIN_READ = 4
"""Of a part, however many parts there are."""
READING_WEIGHT = 3.0
"""What a likeness of 1 counts beside a score of 1. Fitted by eval/training/train_reading.py."""
READ_SPREAD = 0.5
"""Read units lie about twice as far apart as unread ones: shrunk by this, as many follow the best one closely."""


def rank_units(units: Sequence[CandidateUnit], likeness: Sequence[float]) -> list[CandidateUnit]:
    """The units best first, where `likeness` is that of the first of them to the question. A unit that was not read
    counts as the least like it.
    """
    if not likeness:
        return list(units)
    most, least = max(likeness), min(likeness)
    known = [*likeness, *[least] * (len(units) - len(likeness))]
    scores = [unit.score - READING_WEIGHT * (most - like) for unit, like in zip(units, known, strict=True)]
    best = max(scores)
    ranked = [
        replace(unit, score=round(best - READ_SPREAD * (best - score), SCORE_DIGITS))
        for unit, score in zip(units, scores, strict=True)
    ]
    return sorted(ranked, key=lambda unit: (-unit.score, unit.passage, unit.start))
