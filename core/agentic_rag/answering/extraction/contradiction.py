"""A light check for sources that disagree: nearly the same sentence, other figures or dates, or its denial."""

from __future__ import annotations

import re

from agentic_rag.answering.extraction.negation import is_denied
from agentic_rag.language.calendar import MONTH_NAMES

_FIGURE = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w*[-/]\w*\d)(?:[ \u00a0]?%)?")
_YEAR = re.compile(r"^(?:1[5-9]|20)\d\d$")
_WORD = re.compile(r"[^\W\d_]{3,}")
MONTHS = frozenset(MONTH_NAMES)
SAME_STATEMENT = 0.6
"""Share of common words (Jaccard) from which two sentences are taken to state the same thing."""
NEARLY_IDENTICAL = 0.8
"""Jaccard from which one of two sentences is redundant."""

DENIED_STATEMENT = 0.75
"""Jaccard from which one sentence denies the other: the negation itself is one of the words."""


def figures(sentence: str) -> frozenset[str]:
    """The figures of a sentence, thousands separators removed, and the months it names."""
    found = {"".join(match[0].replace(",", "").split()).rstrip(".") for match in _FIGURE.finditer(sentence)}
    return frozenset(found) | (MONTHS & frozenset(sentence.lower().split()))


def words(sentence: str) -> frozenset[str]:
    """The words of three letters or more, months left out."""
    return frozenset(_WORD.findall(sentence.lower())) - MONTHS


def likeness(left: frozenset[str], right: frozenset[str]) -> float:
    """Jaccard: common words over all words; 0 when both are empty."""
    union = len(left | right)
    return len(left & right) / union if union else 0.0


def disagree(left: str, right: str, *, about_dates: bool = False) -> bool:
    """True when the sentences say the same of different figures, each having one that the other lacks, or when one says
    in nearly the same words, with the same figures, what the other denies.

    Sentences about different years are about different things, unless the date is what is asked for.
    """
    ours, theirs = figures(left), figures(right)
    if ours == theirs:
        return is_denied(left) != is_denied(right) and likeness(words(left), words(right)) >= DENIED_STATEMENT
    if not ours - theirs or not theirs - ours:
        return False
    if not about_dates and _years(ours) != _years(theirs):
        return False
    return likeness(words(left), words(right)) >= SAME_STATEMENT


def _years(found: frozenset[str]) -> frozenset[str]:
    return frozenset(figure for figure in found if _YEAR.match(figure)) | (found & MONTHS)
