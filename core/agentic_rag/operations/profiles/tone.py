"""The tone of a sentence, by a lexicon of English words (VADER)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from agentic_rag.operations.profiles.lists import valences

_WORD = re.compile(r"[a-z]+(?:['’-][a-z]+)*")
_NORMALISED_BY = 15
"""The constant of VADER's compound score: Hutto and Gilbert, ICWSM 2014; `alpha` of their program."""
_NEGATED = -0.74
"""By what a negation multiplies (the same)."""
_BEFORE = 3
"""Words before a word among which a negation counts (the same)."""
CLEAR = 0.05
"""From this compound score on a sentence is positive, and from its opposite on negative (the same)."""
_NEGATIONS = frozenset({
    "not", "no", "never", "none", "nor", "neither", "without", "cannot", "hardly", "rarely", "seldom", "nothing",
    "nobody", "nowhere", "despite",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tone:
    """`compound` is in [-1, 1]; `words` are those that made it, each with its valence after negation."""

    compound: float
    words: tuple[tuple[str, float], ...] = ()


def tone_of(sentence: str) -> Tone:
    """Σ valences ÷ √(Σ² + 15). Punctuation, capitals, boosters and emoticons, which VADER weighs too, do not count."""
    words = [one.replace("’", "'") for one in _WORD.findall(sentence.lower())]
    known = valences()
    found = [
        (word, known[word] * (_NEGATED if _is_negated(words[max(0, at - _BEFORE) : at]) else 1.0))
        for at, word in enumerate(words)
        if word in known and word not in _NEGATIONS
    ]
    total = math.fsum(valence for _, valence in found)
    return Tone(total / math.sqrt(total * total + _NORMALISED_BY), tuple(found))


def _is_negated(before: list[str]) -> bool:
    return any(word in _NEGATIONS or word.endswith("n't") for word in before)
