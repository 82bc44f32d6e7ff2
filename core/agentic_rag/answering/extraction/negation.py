"""Negation in a text, and whether a sentence denies what it says."""

from __future__ import annotations

import re

from agentic_rag.language.words.word_tables import table_of

_NEGATION = re.compile(
    r"\b(?:not|no(?!\.?\s*\d)|never|none|cannot|neither|nor|without|nobody|nothing|prohibited|forbidden)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words that deny; "No. 17" is a number."""


def has_negation(text: str) -> bool:
    """Whether anything in the text is denied."""
    return _negation_of(text).search(text) is not None


def count_negations(text: str) -> int:
    """How often something is denied."""
    return len(_negation_of(text).findall(text))


def _negation_of(text: str) -> re.Pattern[str]:
    table = table_of(text)
    return _NEGATION if table is None else table.negation.pattern


def is_negative(sentence: str) -> bool:
    """Whether a sentence denies what it says: it holds one negation."""
    return count_negations(sentence) == 1
