"""Whether a sentence of a document that is about a thing tells what is asked of the thing."""

from __future__ import annotations

import re

from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery
from agentic_rag.answering.extraction.subquery import ASKING_WORDS, terms_of
from agentic_rag.answering.plan import AnswerType

_ASKS_KIND = re.compile(
    r"\b(?:profession|occupation|known for|sport|genre|medium|nationality|refers? to|stands? for)\b", re.IGNORECASE
)
_ASKS_LIFE = re.compile(r"\b(?:born|birth\w*|died?|death)\b", re.IGNORECASE)
_TELLS_LIFE = re.compile(
    r"\([^()]*(?:\bborn\b|\d\s*[–-])[^()]*\)|\b(?:born|died)\b[^.;]{0,40}?\b\d{4}\b", re.IGNORECASE
)
_ASKS_BECOMING = re.compile(r"\b(?:becom\w*|became)\b", re.IGNORECASE)
_TELLS_BECOMING = re.compile(
    r"\b(?:becam\w*|succeed\w*|inherit\w*|appointed|elected|crowned|created|promoted)\b", re.IGNORECASE
)
"""Other words for that somebody became something."""


def tells_act(part: Subquery, unit: CandidateUnit, said: str) -> bool:
    """True for a unit with all words of the question beside names, or with other words for "become"; where it is asked
    when somebody was born or died, for the one that dates it.
    """
    if part.answer_type is AnswerType.DATE and _ASKS_LIFE.search(part.text):
        return _TELLS_LIFE.search(said) is not None
    is_told = _ASKS_BECOMING.search(part.text) is not None and _TELLS_BECOMING.search(said) is not None
    return is_told or _holds_rest(part, unit.mask)


def asks_what_it_is(part: Subquery) -> bool:
    """True for a question that has, beside a name, only words for what somebody or something is: the sentence answers
    it which says that.
    """
    asking = _ASKS_KIND.search(part.text)
    return asking is not None and not _rest(part) & ~part.bits_of(frozenset(terms_of(f"{asking[0]} term")))


def leaves_words(part: Subquery, held: int) -> bool:
    """True where a word of the question is not held, is no name and asks for nothing: "on cassette", "of 2019"."""
    asking = (found[0] for one in (_ASKS_LIFE, _ASKS_BECOMING) for found in one.finditer(part.text))
    return not _holds_rest(part, held | part.bits_of(frozenset(terms_of(" ".join(asking)))))


def _holds_rest(part: Subquery, mask: int) -> bool:
    rest = _rest(part)
    return rest != 0 and not rest & ~mask


def _rest(part: Subquery) -> int:
    """The words of a question beside names that ask for nothing by themselves."""
    return (1 << len(part.terms)) - 1 & ~part.name_mask & ~part.bits_of(ASKING_WORDS)
