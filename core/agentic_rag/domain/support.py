"""Whether the chosen evidence supports an answer, part by part.

    support = ( near · 0.10 + passage · 0.20 + lexical · 0.28 + dense · 0.42 ) · factors

`near` and `passage` are sums over the part's content terms of weight × credit for the unit that has most of it: terms
spread over several documents support nothing. Weight is the term's share of the question's rarity. For `near` the
credit is 1 in the unit, its title, headings or table header, 0.8 in the sentences beside it; for `passage` it is 1
anywhere in its passage. `lexical` and `dense` are the absolute scores of the arms that found the passage.
RETRIEVAL.md: a first passage's score separates supported from unsupported questions best, and its scale differs by
corpus; coverage by idf share is the part of it that keeps its scale.

Each factor lowers the support of a unit that misses what an answer must have: the figure, date or person that is asked
for; a figure or identifier that the question names; a name that the question names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.domain.contradiction import MONTH_NAMES, MONTHS
from agentic_rag.domain.evidence import Passage
from agentic_rag.domain.passage_units import PartQuery, Unit, reading_of
from agentic_rag.domain.retrieval import Retriever
from agentic_rag.domain.support_threshold import DEFAULT_THRESHOLD
from agentic_rag.domain.synthesis import PartDraft
from agentic_rag.domain.term_match import weight_of

NEAR_SHARE, PASSAGE_SHARE, LEXICAL_SHARE, DENSE_SHARE = 0.10, 0.20, 0.28, 0.42
BESIDE_CREDIT = 0.8
WITHOUT_ANSWER = 0.8
"""Factor for a unit that has no figure, date or name where one is asked for."""
WITHOUT_PROPERTY = 0.9
"""Factor for a passage without the word for what is asked (the *salary* of …, which *university* …)."""
MARK_ELSEWHERE, MARK_MISSING = 0.95, 0.7
"""Factor for a figure or identifier of the question that stands only elsewhere in the passage, or not at all."""
NAME_MISSING = 0.5
"""What is taken off per weight of names of the question that the passage lacks."""
OTHER_SUBJECT = 0.8
"""Factor for a passage that lacks at least half of the names, however common they are in the corpus: it is about
another company, machine or person."""

_QUARTERS = ("first", "second", "third", "fourth")


@dataclass(frozen=True, slots=True)
class Support:
    """The support of each part in [0, 1], and the positions of the parts that have enough or too little."""

    scores: tuple[float, ...]
    supported: tuple[int, ...]
    missing: tuple[int, ...]


def support_of(part: PartQuery, draft: PartDraft, passages: Sequence[Passage]) -> float:
    """The support of one part by its best unit, rounded to 1e-6; 0 without one."""
    return max((unit_support(part, unit, passages) for unit in draft.units), default=0.0)


def unit_support(part: PartQuery, unit: Unit, passages: Sequence[Passage]) -> float:
    """The support that one unit gives, in [0, 1]."""
    passage = passages[unit.passage]
    own = unit.mask | unit.context
    near = weight_of(own, part.terms) + BESIDE_CREDIT * weight_of(unit.near & ~own, part.terms)
    everywhere = own | unit.near | unit.passage_mask
    arms = {arm.retriever: min(1.0, max(0.0, arm.normalised)) for arm in passage.candidate.arms}
    lexical = arms.get(Retriever.LEXICAL, 0.0)
    dense = arms.get(Retriever.DENSE, lexical)
    support = (
        NEAR_SHARE * near
        + PASSAGE_SHARE * weight_of(everywhere, part.terms)
        + LEXICAL_SHARE * lexical
        + DENSE_SHARE * dense
    )
    if not unit.fits:
        support *= WITHOUT_ANSWER
    if part.asked & ~everywhere:
        support *= WITHOUT_PROPERTY
    unnamed = part.names & ~everywhere
    support *= 1.0 - NAME_MISSING * weight_of(unnamed, part.terms)
    if 2 * unnamed.bit_count() >= max(1, part.names.bit_count()):
        support *= OTHER_SUBJECT
    return round(support * _mark_factor(part, unit, passage), 6)


def _mark_factor(part: PartQuery, unit: Unit, passage: Passage) -> float:
    """Each figure and identifier of the question stands by the unit, elsewhere in its passage, or is missing."""
    if not part.marks:
        return 1.0
    low = reading_of(passage).low
    chunk = passage.chunk
    above = " ".join((chunk.document_title, *chunk.heading_path, *_heading(unit, low))).lower()
    factor = 1.0
    for mark in part.marks:
        found = re.compile(rf"(?<![\w.,]){_either_way(mark)}(?![\w]|[.,]\d)")
        if found.search(low, *unit.around) or found.search(above):
            continue
        factor *= MARK_ELSEWHERE if found.search(low) else MARK_MISSING
    return factor


def _heading(unit: Unit, low: str) -> tuple[str, ...]:
    return () if unit.heading is None else (low[slice(*unit.heading)],)


def _either_way(mark: str) -> str:
    """A figure with or without thousands separators, an identifier with any hyphen or a space."""
    digits = mark.replace(",", "")
    if digits.isdigit():
        return ",?".join(digits)
    if mark.endswith(" quarter"):
        return rf"(?:{mark}|q{_QUARTERS.index(mark.split()[0]) + 1})"
    if mark in MONTHS:
        return rf"(?:{mark}|{mark[:3]}\.?|(?:19|20)\d\d-{MONTH_NAMES.index(mark) + 1:02d}-\d\d)"
    return re.sub(r"(?:\\-|‑)", "[-‐‑– ]?", re.escape(mark))


def assess(scores: Sequence[float], threshold: float = DEFAULT_THRESHOLD) -> Support:
    """Which parts are supported."""
    supported = tuple(place for place, score in enumerate(scores) if score >= threshold)
    missing = tuple(place for place, score in enumerate(scores) if score < threshold)
    return Support(tuple(scores), supported, missing)
