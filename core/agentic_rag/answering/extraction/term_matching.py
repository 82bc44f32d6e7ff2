"""Finds a question's content terms in raw text, fast: plain substring search for each stem, then a look at the word.

A tokenizer over eight passages costs several milliseconds; this costs about a tenth of one, and finds the same words
but for characters that NFKC would change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentic_rag.language import english
from agentic_rag.language.counterparts import is_done_to

_FIRST_IDEOGRAPH = "\u2e80"
_SHORT_STEM = 3
_LOST_E = re.compile(r"[^eoy]e$")
"""The e of "make", which "making" drops: "seeing" and "dyeing" keep theirs."""
_SHORT_ENDINGS = frozenset(("", "s", "es", "ed", "d", "ing", "'s", "’s"))
_INFLECTING = "s es d ed ing ings e y ies ied ying er ers est ier iest iness 's ’s"
_DERIVED = (
    "ly ily ally al als ally ial ic ical ics able ably ible ibly ability ibility ation ations ational ition itions ion "
    "ions ional ioned ioning sion sions tion tions ment ments mental ness nesses ful fully less ance ances ence ences "
    "ant ants ent ents ency ancy or ors ator ators ate ates ated ating ative ive ives ively ity ities ous ously ist "
    "ists istic ism ise ised ises ising isation ize ized izes izing ization ure ures ship ships ward wards fy fied ery"
)
_AFTER_LOST_E = frozenset(("ing", "ings"))
"""What a verb in -e loses it before: mak-ing."""
_ENDINGS = frozenset((*_INFLECTING.split(), *_DERIVED.split(), ""))
"""What may follow the root of an English word in another word of its family."""
_LONGEST_ENDING = 4
"""Letters that inflection and the commonest derivations add to an English stem (-ings, -ally)."""

_AGENT_ENDINGS = frozenset(("r", "rs"))
"""What makes an agent noun of a stem in -e; one that a stemmer shortens again is of a noun in -ee: employe-e."""

_SHORTEST_NOUN_STEM = 5
_NOUN_ENDINGS = frozenset(("ation", "ations"))
"""What makes a noun of a verb and is longer, after a final consonant that may be doubled: instal-lation."""

_LONGEST_AFTER, _LONGEST_INFLECTION = {1: 0, 2: 1, 3: 2, 4: 4}, 6
"""The same where a word table knows the stem, by its letters: short ones begin many other words."""
_SHORTEST_PART = 4
"""Letters of a part of a compound; one that has no more ends it."""

_LONGEST_WORD_REST = 9
"""Letters looked at: none of the endings is longer."""

_DERIVING = (
    "ational", "ization", "isation", "fulness", "iveness", "ibility", "ability", "ation", "ition", "ement", "iness",
    "ment", "ness", "ance", "ence", "ible", "able", "ator", "sion", "tion", "iest", "ier", "ion", "ive", "ity", "iti",
    "ous", "ful", "iv", "er",
)  # fmt: skip
"""Endings of English derivation, longest first (after Porter's steps 2 to 4, on stems of step 1)."""
_SHORTEST_ROOT = 4
"""Letters that stay: noisi-er and suppli-er, not oft-en."""


_MEASURED_BY: Mapping[str, tuple[str, ...]] = {
    "heavi": ("heav", "weigh"), "wide": ("wide", "width"), "deep": ("deep", "depth"), "high": ("high", "height"),
    "tall": ("tall", "height"),
}  # fmt: skip
"""The stems of adjectives that ask for a measure, and what its words begin with: "How wide …?", "Width: 70 cm". "How
long" asks for times as well.
"""


@dataclass(frozen=True, slots=True)
class QuestionTerm:
    """A content term with its share of the question's rarity; all shares of a question sum to 1."""

    term: str
    stem: str
    """What its inflected forms begin with."""
    root: str
    """What forms of other parts of speech begin with as well: the stem or its beginning."""
    weight: float
    forms: tuple[str, ...] = ()
    """What its forms begin with, where a word table knows them; stem and root are not looked at then."""
    is_inside: bool = False
    """It may stand inside a compound."""

    @property
    def opening(self) -> str:
        """What all its forms begin with, but for `forms`: the root without an e that inflection drops."""
        may_lose = self.root == self.stem and len(self.root) >= _SHORT_STEM and _LOST_E.search(self.root) is not None
        return self.root[:-1] if may_lose else self.root


def weigh_terms(terms: Iterable[str], rarity: Mapping[str, float]) -> tuple[QuestionTerm, ...]:
    """Distinct terms in order with weights proportional to their rarity (1 where unknown)."""
    distinct = list(dict.fromkeys(terms))
    total = sum(rarity.get(term, 1.0) for term in distinct)
    if total <= 0:
        return ()
    return tuple(
        QuestionTerm(term, _stem(term), _root(_stem(term)), rarity.get(term, 1.0) / total, _MEASURED_BY.get(term, ()))
        for term in distinct
    )


def lower_text(text: str) -> str:
    """Lower case of the same length, so that offsets stay valid."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


def find_hits(low: str, terms: Sequence[QuestionTerm]) -> list[tuple[int, int]]:
    """Where the terms occur in lower-case text: (offset, bit of the term), by term, then offset."""
    found: list[tuple[int, int]] = []
    for place, term in enumerate(terms):
        if term.forms:
            found += ((at, 1 << place) for at in _form_hits(low, term))
            continue
        opening, stem = term.opening, term.stem
        at = low.find(opening)
        while at >= 0:
            whole = opening is stem or low.startswith(stem, at)
            if _is_word(low, at, at + len(stem if whole else opening), term, derived=not whole):
                found.append((at, 1 << place))
            at = low.find(opening, at + len(opening))
    return found


def mask_of(low: str, terms: Sequence[QuestionTerm]) -> int:
    """The bits of the terms that occur in lower-case text."""
    mask = 0
    for _, bit in find_hits(low, terms):
        mask |= bit
    return mask


def join_masks(masks: Iterable[int]) -> int:
    """All bits that one of them has."""
    joined = 0
    for one in masks:
        joined |= one
    return joined


def holds_phrase(text: str, phrase: str) -> bool:
    """Whether a phrase stands in a text as whole words, both in lower case; an empty one never does. Each phrase is
    another one: a pattern would be compiled anew.
    """
    at = text.find(phrase) if phrase else -1
    while at >= 0:
        end = at + len(phrase)
        if not _is_word_sign(text[at - 1 : at]) and not _is_word_sign(text[end : end + 1]):
            return True
        at = text.find(phrase, at + 1)
    return False


def _is_word_sign(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def weight_of(mask: int, terms: Sequence[QuestionTerm]) -> float:
    """The sum of the weights of a mask's terms, in [0, 1]."""
    total = 0.0
    while mask:
        lowest = mask & -mask
        total += terms[lowest.bit_length() - 1].weight
        mask ^= lowest
    return total


def root_of(term: str) -> str:
    """What the forms of a stemmed term in all parts of speech begin with."""
    return _root(_stem(term))


def _stem(term: str) -> str:
    """What every inflected form of a stemmed term begins with (the tokenizer turns a final y into i)."""
    return term[:-1] if len(term) >= _SHORT_STEM and term.endswith("i") else term


def _root(stem: str) -> str:
    """A long English stem without the suffix that made it another part of speech: noisi-er, productiv → product."""
    if stem.isascii() and stem.isalpha():
        for suffix in _DERIVING:
            if stem.endswith(suffix) and len(stem) - len(suffix) >= _SHORTEST_ROOT:
                return stem[: -len(suffix)]
    return stem


def _form_hits(low: str, term: QuestionTerm) -> list[int]:
    """Where words begin, or parts of compounds, that are forms of a term."""
    found: set[int] = set()
    for form in term.forms:
        at = low.find(form)
        while at >= 0:
            if _is_form(low, at, at + len(form), is_inside=term.is_inside):
                found.add(at)
            at = low.find(form, at + 1)
    return sorted(found)


def _is_form(low: str, at: int, end: int, *, is_inside: bool) -> bool:
    """Whether [at, end) begins a word and inflection ends it, or it is a part of a compound."""
    if low[at] >= _FIRST_IDEOGRAPH:
        return True
    stop = end
    while stop < len(low) and low[stop].isalpha():
        stop += 1
    opens = not at or not low[at - 1].isalnum()
    closes = stop - end <= _LONGEST_AFTER.get(end - at, _LONGEST_INFLECTION)
    if opens and closes:
        return True
    return is_inside and (end - at > _SHORTEST_PART or (end - at == _SHORTEST_PART and closes))


def _is_word(low: str, at: int, end: int, term: QuestionTerm, *, derived: bool) -> bool:
    """Whether [at, end), the stem of the term or what else its forms begin with (`derived`), begins one of them."""
    stem = term.stem
    if stem[0] >= _FIRST_IDEOGRAPH:
        return True
    if at and low[at - 1].isalnum():
        return False
    stop = end
    limit = min(len(low), end + _LONGEST_WORD_REST)
    while stop < limit and low[stop].isalpha():
        stop += 1
    if stop < len(low) and low[stop].isdigit() and stop == end and stem[-1].isdigit():
        return False
    rest = low[end:stop]
    if derived and term.root == stem:
        return rest in _AFTER_LOST_E
    if derived:
        return rest in _ENDINGS and not (rest == "ed" and is_done_to(low, at, stop))
    if stem[-1].isdigit():
        return True
    if len(stem) <= _SHORT_STEM:
        lacks_i = stem != term.term
        if rest in _SHORT_ENDINGS and not lacks_i:
            return True
        return (lacks_i or rest.startswith("e")) and _is_inflected(low[at:stop], term.term)
    if rest in _AGENT_ENDINGS and stem.endswith("e") and english.stem(stem) != stem:
        return False
    return len(rest) <= _LONGEST_ENDING or (
        len(stem) >= _SHORTEST_NOUN_STEM and rest.removeprefix(stem[-1]) in _NOUN_ENDINGS
    )


def _is_inflected(word: str, term: str) -> bool:
    """Whether a stemmer makes the term of a word, or of its plural: it leaves words of three letters as they are."""
    return english.stem(word) == term or (len(word) <= _SHORT_STEM and english.stem(f"{word}s") == term)
