"""A light check for sources that disagree: nearly the same sentence, other figures or dates, or its denial."""

from __future__ import annotations

import re

from agentic_rag.answering.extraction.negation import is_negative
from agentic_rag.language.calendar import MONTH_NAMES

_FIGURE = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w*[-/]\w*\d)(?:[ \u00a0]?%)?")
_YEAR = re.compile(r"^(?:1[5-9]|20)\d\d$")
_WORD = re.compile(r"[^\W\d_]{3,}")
MONTHS = frozenset(MONTH_NAMES)
MIN_STATEMENT_OVERLAP = 0.6
"""Share of common words (Jaccard) from which two sentences are taken to state the same thing."""
NEARLY_IDENTICAL = 0.8
"""Jaccard from which one of two sentences is redundant."""

MIN_NEGATED_OVERLAP = 0.75
"""Jaccard from which one sentence denies the other: the negation itself is one of the words."""


def extract_figures(sentence: str) -> frozenset[str]:
    """The figures of a sentence, thousands separators removed, and the months it names."""
    found = {"".join(match[0].replace(",", "").split()).rstrip(".") for match in _FIGURE.finditer(sentence)}
    return frozenset(found) | (MONTHS & frozenset(sentence.lower().split()))


def extract_words(sentence: str) -> frozenset[str]:
    """The words of three letters or more, months left out."""
    return frozenset(_WORD.findall(sentence.lower())) - MONTHS


def jaccard_similarity(left: frozenset[str], right: frozenset[str]) -> float:
    """Jaccard: common words over all words; 0 when both are empty."""
    union = len(left | right)
    return len(left & right) / union if union else 0.0


def contradicts(left: str, right: str, *, about_dates: bool = False) -> bool:
    """True when the sentences say the same of different figures, each having one that the other lacks, or when one says
    in nearly the same words, with the same figures, what the other denies.

    Sentences about different years are about different things, unless the date is what is asked for.
    """
    ours, theirs = extract_figures(left), extract_figures(right)
    if ours == theirs:
        return (
            is_negative(left) != is_negative(right)
            and jaccard_similarity(extract_words(left), extract_words(right)) >= MIN_NEGATED_OVERLAP
        )
    if not ours - theirs or not theirs - ours:
        return False
    if not about_dates and _years(ours) != _years(theirs):
        return False
    return jaccard_similarity(extract_words(left), extract_words(right)) >= MIN_STATEMENT_OVERLAP


def _years(found: frozenset[str]) -> frozenset[str]:
    return frozenset(figure for figure in found if _YEAR.match(figure)) | (found & MONTHS)
