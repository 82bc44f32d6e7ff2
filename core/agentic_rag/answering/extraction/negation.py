"""Negation in a text, and whether a sentence denies what it says."""

from __future__ import annotations

import re

_NEGATION = re.compile(
    r"\b(?:not|no(?!\.?\s*\d)|never|none|cannot|neither|nor|without|nobody|nothing|prohibited|forbidden)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words that deny; "No. 17" is a number."""


def has_negation(text: str) -> bool:
    """Whether anything in the text is denied."""
    return _NEGATION.search(text) is not None


def is_negative(sentence: str) -> bool:
    """Whether a sentence denies what it says: it holds one negation."""
    return len(_NEGATION.findall(sentence)) == 1
