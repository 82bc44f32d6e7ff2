"""Finds a question's content terms in raw text, fast: plain substring search for each stem, then a look at the word.

A tokenizer over eight passages costs several milliseconds; this costs about a tenth of one, and finds the same words
but for characters that NFKC would change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_FIRST_IDEOGRAPH = "\u2e80"
_SHORT_STEM = 3
_SHORT_ENDINGS = frozenset(("", "s", "es", "ed", "d", "ing", "'s", "’s"))
_INFLECTING = "ered ering s es d ed ing ings e y ies ied ying er ers est ier iest iness 's ’s"
_DERIVED = (
    "ly ily ally al als ally ial ic ical ics able ably ible ibly ability ibility ation ations ational ition itions ion "
    "ions ional ioned ioning sion sions tion tions ment ments mental ness nesses ful fully less ance ances ence ences "
    "ant ants ent ents ency ancy or ors ator ators ate ates ated ating ative ive ives ively ity ities ous ously ist "
    "ists istic ism ise ised ises ising isation ize ized izes izing ization ure ures ship ships ward wards fy fied ery"
)
_ENDINGS = frozenset((*_INFLECTING.split(), *_DERIVED.split(), ""))
"""What may follow an English stem in a written form of it."""
_LONGEST_ENDING = max(map(len, _ENDINGS))

_DERIVING = (
    "ational", "ization", "isation", "fulness", "iveness", "ibility", "ability", "ation", "ition", "ement", "iness",
    "ment", "ness", "ance", "ence", "ible", "able", "ator", "sion", "tion", "iest", "ier", "ion", "ive", "ity", "iti",
    "ous", "ful", "iv", "er",
)  # fmt: skip
"""Endings of English derivation, longest first (after Porter's steps 2 to 4, on stems of step 1)."""
_SHORTEST_ROOT = 4
"""Letters that stay: noisi-er and suppli-er, not oft-en."""


@dataclass(frozen=True, slots=True)
class QuestionTerm:
    """A content term with its share of the question's rarity; all shares of a question sum to 1."""

    term: str
    stem: str
    weight: float


def weighted_terms(terms: Iterable[str], rarity: Mapping[str, float]) -> tuple[QuestionTerm, ...]:
    """Distinct terms in order with weights proportional to their rarity (1 where unknown)."""
    distinct = list(dict.fromkeys(terms))
    total = sum(rarity.get(term, 1.0) for term in distinct)
    if total <= 0:
        return ()
    return tuple(QuestionTerm(term, _stem(term), rarity.get(term, 1.0) / total) for term in distinct)


def lowered(text: str) -> str:
    """Lower case of the same length, so that offsets stay valid."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


def hits(low: str, terms: Sequence[QuestionTerm]) -> list[tuple[int, int]]:
    """Where the terms occur in lower-case text: (offset, bit of the term), by term, then offset."""
    found: list[tuple[int, int]] = []
    for place, term in enumerate(terms):
        stem = term.stem
        at = low.find(stem)
        while at >= 0:
            end = at + len(stem)
            if _is_word(low, at, end, stem):
                found.append((at, 1 << place))
            at = low.find(stem, end)
    return found


def mask_of(low: str, terms: Sequence[QuestionTerm]) -> int:
    """The bits of the terms that occur in lower-case text."""
    mask = 0
    for _, bit in hits(low, terms):
        mask |= bit
    return mask


def weight_of(mask: int, terms: Sequence[QuestionTerm]) -> float:
    """The sum of the weights of a mask's terms, in [0, 1]."""
    total = 0.0
    while mask:
        lowest = mask & -mask
        total += terms[lowest.bit_length() - 1].weight
        mask ^= lowest
    return total


def _stem(term: str) -> str:
    """What every written form of a stemmed term begins with: the tokenizer turns a final y into i, and a long word is
    cut before a suffix that derives another part of speech (commission-ing, install-ation, noisi-er).
    """
    if len(term) <= _SHORT_STEM or not term.isalpha() or not term.isascii():
        return term
    for suffix in _DERIVING:
        if term.endswith(suffix) and len(term) - len(suffix) >= _SHORTEST_ROOT:
            return term[: -len(suffix)]
    return term[:-1] if term.endswith("i") else term


def _is_word(low: str, at: int, end: int, stem: str) -> bool:
    if stem[0] >= _FIRST_IDEOGRAPH:
        return True
    if at and low[at - 1].isalnum():
        return False
    stop = end
    limit = min(len(low), end + _LONGEST_ENDING + 2)
    while stop < limit and low[stop].isalpha():
        stop += 1
    if stop < len(low) and low[stop].isdigit() and stop == end and stem[-1].isdigit():
        return False
    if len(stem) <= _SHORT_STEM or stem[-1].isdigit():
        return low[end:stop] in _SHORT_ENDINGS or stem[-1].isdigit()
    ending = low[end:stop]
    return ending in _ENDINGS or (ending[0] == stem[-1] and ending[1:] in _ENDINGS)
