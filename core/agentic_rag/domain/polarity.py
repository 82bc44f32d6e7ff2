"""Yes or no, where one sentence decides it: it says all that the question says, outright, and affirms or denies it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.domain.term_match import QuestionTerm, weight_of

DECIDING_SHARE = 0.95
"""Weight of the question's terms that the sentence itself must hold: any word it lacks may be what is asked."""

_NEGATION = re.compile(
    r"\b(?:not|no|never|none|cannot|neither|nor|without|nobody|nothing|prohibited|forbidden)\b|n['’]t\b", re.IGNORECASE
)
_HEDGE = re.compile(
    r"\b(?:may|might|could|would|should|if|unless|except|only|until|before|after|some|most|often|usually|sometimes|partly|"
    r"planned|expected|alleged(?:ly)?|reported(?:ly)?|claim(?:s|ed)?|whether|but|although|however)\b",
    re.IGNORECASE,
)
_SIMPLE = re.compile(r"^(?:is|are|was|were|do|does|did|can|has|have|had)\b", re.IGNORECASE)
_OPEN = re.compile(
    r"\b(?:or|and|what|which|who|how|why|when|where|if)\b|\b(?:any|ever|more|less|same|both)\b", re.IGNORECASE
)


def verdict(question: str, sentence: str, mask: int, terms: Sequence[QuestionTerm]) -> str | None:
    """ "Yes" or "No" when the sentence (holding the question's terms of `mask`) decides the question, else None.

    None for a question of several things, with a choice or a degree, and for a sentence that hedges or sets a
    condition: a verdict that is not sure is worse than none.
    """
    if _SIMPLE.match(question) is None or _OPEN.search(question) or weight_of(mask, terms) < DECIDING_SHARE:
        return None
    if _HEDGE.search(sentence) or sentence.rstrip().endswith("?"):
        return None
    denials = len(_NEGATION.findall(sentence))
    if denials > 1 or _NEGATION.search(question):
        return None
    return "No" if denials else "Yes"


def is_denied(sentence: str) -> bool:
    """Whether a sentence denies what it says: it holds one negation."""
    return len(_NEGATION.findall(sentence)) == 1
