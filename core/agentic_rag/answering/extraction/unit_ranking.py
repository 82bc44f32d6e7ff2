"""The order of units once a model has read the likeliest of them beside the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.extraction.candidate_units import CandidateUnit
from agentic_rag.answering.extraction.segmented_text import Span
from agentic_rag.retrieval.candidates import SCORE_DIGITS

MAX_READ = 48
"""Units of a question that are read."""
MIN_READ = 8
"""Of a part, however many parts there are."""
SECTION_CREDIT = 0.5
"""What the best score of its section adds to a unit's own where it is decided what to read: an answer often stands one
or two sentences after the one that shares words with the question."""
BEFORE_CREDIT = 0.3
"""The same of the unit before it."""
FITTING_CREDIT = 0.3
"""The same of the figure, date or name that is asked for."""
READING_WEIGHT = 4.5
"""What a likeness of 1 counts beside a score of 1. Fitted by eval/training/train_reading.py."""
JUDGED = 6
"""Units, best first by score and likeness, that are judged beside the question."""
JUDGEMENT_WEIGHT = 0.2
"""What the odds that a unit answers, as a logarithm, count beside a score of 1. Fitted as the other."""
LOWEST_ODDS, HIGHEST_ODDS = -6.0, 6.0
"""Further out the logarithm of the odds says no more."""
READ_SPREAD, JUDGED_SPREAD = 0.5, 0.15
"""Read units lie about twice as far apart as unread ones, judged ones about seven times: shrunk by this, as many follow
the best one closely."""


def units_to_read(units: Sequence[CandidateUnit], most: int) -> list[CandidateUnit]:
    """Those of the units, in their order, that are worth reading: by their own scores and by those beside them."""
    section: dict[tuple[int, Span | None], float] = {}
    for unit in units:
        key = (unit.passage, unit.heading)
        section[key] = max(section.get(key, 0.0), unit.score)
    worth: dict[tuple[int, int], float] = {}
    before: CandidateUnit | None = None
    for unit in sorted(units, key=lambda unit: (unit.passage, unit.start)):
        beside = before is not None and (before.passage, before.heading) == (unit.passage, unit.heading)
        worth[unit.passage, unit.start] = (
            unit.score
            + SECTION_CREDIT * section[unit.passage, unit.heading]
            + (BEFORE_CREDIT * before.score if before is not None and beside else 0.0)
            + FITTING_CREDIT * unit.fits
        )
        before = unit
    bounds = sorted((-round(value, 6), *place) for place, value in worth.items())[:most]
    first = {(passage, start) for _, passage, start in bounds}
    return [unit for unit in units if (unit.passage, unit.start) in first]


def rank_units(units: Sequence[CandidateUnit], likeness: Sequence[float]) -> list[CandidateUnit]:
    """The units best first, where `likeness` is that of each to the question."""
    most = max(likeness)
    scores = [unit.score - READING_WEIGHT * (most - like) for unit, like in zip(units, likeness, strict=True)]
    best = max(scores)
    ranked = [
        replace(unit, score=round(best - READ_SPREAD * (best - score), SCORE_DIGITS))
        for unit, score in zip(units, scores, strict=True)
    ]
    return sorted(ranked, key=lambda unit: (-unit.score, unit.passage, unit.start))


def rank_judged(ranked: Sequence[CandidateUnit], odds: Sequence[float]) -> list[CandidateUnit]:
    """Ranked units once the first of them were judged: best first. The others count as the least likely of these."""
    top, least = ranked[0].score, min(odds)
    judged = with_odds(ranked, odds)
    worth = [
        (unit.score - top) / READ_SPREAD + JUDGEMENT_WEIGHT * (least if unit.odds is None else unit.odds)
        for unit in judged
    ]
    best = max(worth)
    found = [
        replace(unit, score=round(top - JUDGED_SPREAD * (best - one), SCORE_DIGITS))
        for unit, one in zip(judged, worth, strict=True)
    ]
    return sorted(found, key=lambda unit: (-unit.score, unit.passage, unit.start))


def with_odds(ranked: Sequence[CandidateUnit], odds: Sequence[float]) -> list[CandidateUnit]:
    """The units in their order, the first of them with their odds."""
    return [*map(_with_odds, ranked, odds), *ranked[len(odds) :]]


def _with_odds(unit: CandidateUnit, odds: float) -> CandidateUnit:
    return replace(unit, odds=odds)


def clip_odds(odds: Sequence[float]) -> tuple[float, ...]:
    """Within the bounds that tell."""
    return tuple(min(HIGHEST_ODDS, max(LOWEST_ODDS, one)) for one in odds)
