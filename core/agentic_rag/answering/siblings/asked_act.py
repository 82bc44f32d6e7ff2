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
_ACTS = tuple(
    (re.compile(rf"\b(?:{asked})\b", re.IGNORECASE), re.compile(rf"\b(?:{said})\b", re.IGNORECASE))
    for asked, said in (
        (r"becom\w*|became", r"becam\w*|succeed\w*|inherit\w*|appointed|elected|crowned|created|promoted"),
        (r"creators?|created|wrote|writer|author", r"creat\w+|wr[io]te\w*|written|direct\w+|devised"),
        (r"artists?|singers?|performers?|musicians?|bands?", r"by|singers?|recorded|sung|performed"),
        (r"released?|air(?:ed)?", r"releas\w+|premier\w+|air(?:ed)?|ran|broadcast|published|issued"),
        (r"architects?|designers?", r"architects?|design\w+"),
    )
)
"""What is asked for, and other words that tell of it."""


def tells_act(part: Subquery, unit: CandidateUnit, said: str) -> bool:
    """True for a unit with all words of the question beside names, or with other words for what is asked; where it is
    asked when somebody was born or died, for the one that dates it.
    """
    if part.answer_type is AnswerType.DATE and _ASKS_LIFE.search(part.text):
        return _TELLS_LIFE.search(said) is not None
    return _holds_rest(part, unit.mask) or any(asked.search(part.text) and tells.search(said) for asked, tells in _ACTS)


def asks_what_it_is(question: str) -> bool:
    """True for a question that the sentence answers which says what somebody or something is."""
    return _ASKS_KIND.search(question) is not None


def leaves_words(part: Subquery, held: int) -> bool:
    """True where a word of the question is not held, is no name and asks for nothing: "on cassette", "of 2019"."""
    asking = (found[0] for one in (_ASKS_LIFE, *(act for act, _ in _ACTS)) for found in one.finditer(part.text))
    return not _holds_rest(part, held | part.bits_of(frozenset(terms_of(" ".join(asking)))))


def _holds_rest(part: Subquery, mask: int) -> bool:
    rest = (1 << len(part.terms)) - 1 & ~part.name_mask & ~part.bits_of(ASKING_WORDS)
    return rest != 0 and not rest & ~mask
