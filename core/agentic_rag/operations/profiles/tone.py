"""The tone of a sentence, by a lexicon of English words (VADER, with additions of our own)."""

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
_LONGEST = 4
"""Words that the lexicon rates side by side, at most."""
_ENDINGS = ("s", "es", "d", "ed", "ing")
"""Of other forms of a word that the lexicon rates as bad: it has "crash", and no "crashes"."""
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
    found: list[tuple[str, float]] = []
    at = 0
    while at < len(words):
        count, valence = _rated(words[at : at + _LONGEST])
        if valence:
            negated = _is_negated(words[max(0, at - _BEFORE) : at])
            found.append((" ".join(words[at : at + count]), valence * (_NEGATED if negated else 1.0)))
        at += count
    total = math.fsum(valence for _, valence in found)
    return Tone(total / math.sqrt(total * total + _NORMALISED_BY), tuple(found))


def _rated(words: list[str]) -> tuple[int, float]:
    """How many words from the first on are rated together, and how; one with 0 where it has no tone."""
    known = valences()
    for count in range(len(words), 1, -1):
        if (phrase := " ".join(words[:count])) in known:
            return count, known[phrase]
    word = words[0]
    if word in known:
        return 1, 0.0 if word in _NEGATIONS else known[word]
    stems = (word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending) and len(word) > len(ending) + 3)
    return 1, min((valence for stem in stems if (valence := known.get(stem, 0.0)) < 0), default=0.0)


def _is_negated(before: list[str]) -> bool:
    return any(word in _NEGATIONS or word.endswith("n't") for word in before)
