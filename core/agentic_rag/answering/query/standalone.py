"""Makes a follow-up question stand alone: a phrase ("And in 2021?") takes the place of its counterpart in the question
before it; to any other follow-up that question is added, "Where was she born (about: who founded Acme)?".

A question that stands alone stays as it is. What is added counts less than the question's own words when sentences are
chosen (`weigh_follow_up`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.subquery import terms_of
from agentic_rag.answering.query.anaphora import AUXILIARY, PREPOSITION, points_back
from agentic_rag.answering.query.pleasantry import is_pleasantry
from agentic_rag.answering.query.substitution import TIME, substitute
from agentic_rag.answering.question import MAX_QUESTION_CHARACTERS, MAX_TURN_CHARACTERS, MAX_TURN_CITED, Turn
from agentic_rag.answering.run import Run
from agentic_rag.documents.document import CitedPassage
from agentic_rag.kernel.text import fold_text
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.tokenizer import query_terms

LONGEST_FOLLOW_UP = 300
"""Characters: a longer question names its subject. The most characters that are added, too."""
MOST_TERMS, MOST_TERMS_OF_SUBJECT = 4, 6
"""A question with more content terms is understood by itself, despite a pronoun; the second limit is for a pronoun as
subject."""
FEW_TERMS, FEW_TERMS_LED = 1, 2
"""A question of so few content terms that has no name follows the one before it; the second is for one that opens with
"And"."""
LONGEST_PHRASE, LONGEST_PHRASE_LED = 3, 6
"""Words of a phrase without a verb ("in 2021?") that follows the question before it; the second is for "And"."""
WEIGHT_OF_EARLIER = 0.3
"""Of a term that only the earlier question has. The answer was right for 77 / 81 / 85 of 103 follow-ups with 1 / 0.5 /
0.3 (`tests/quality`)."""

ABOUT = " (about: "
"""Stands between a question and the one that it follows."""
_LEAD = re.compile(
    r"^(?:(?:and|but|so|or|then|also|now|well|ok|okay|right|plus|thanks|thank you|great|good|yes|no)\b[,.!: ]*)+",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"^(?:and|but|or|plus|also)\b|^(?:what|how) about\b", re.IGNORECASE)
_ASKS_ABOUT = re.compile(r"^(?:what|how) about ", re.IGNORECASE)
_CLAUSE = re.compile(
    rf"\b(?:{AUXILIARY}|who|whom|whose|what|when|where|why|which|how|his|her|its|their)\b|"
    r"^(?:list|tell|give|explain|describe|show|define|compare|find|name|summari[sz]e|identify|state|please|calculate)\b",
    re.IGNORECASE,
)
_PHRASE = re.compile(rf"^{PREPOSITION} [^?]+\?+$", re.IGNORECASE)
_COMPARES = re.compile(r"\b(?:than|compared|versus|vs|since|from)\b", re.IGNORECASE)
_WHEN = re.compile(rf"(?: (?:in|of|for|during|on))? {TIME.pattern}")
_DEFINES = re.compile(r"^(?:what|who)(?:['’]s| is| are| was| were) ", re.IGNORECASE)
_NAME = re.compile(r"(?<=[\w,;:)&’'] )[A-Z][\w’'-]*|\d")
_SUBJECT_POINTS_BACK = re.compile(
    rf"^(?:(?:and|but|so|or)\b,? )?(?:(?:\w+ ){{0,4}}?{AUXILIARY} )(?:it|its|they|their|he|she|his|her|that|those)\b",
    re.IGNORECASE,
)


def make_standalone(question: str, history: Sequence[Turn]) -> str:
    """The question (folded, see `kernel.text.fold_text`) as it stands alone after the turns, oldest first. Pure."""
    earlier = ""
    for turn in history:
        text = _add_earlier(fold_text(turn.question), earlier)
        if _count_terms(text) and not is_pleasantry(text):
            earlier = text
    return _add_earlier(question, earlier)


def weigh_follow_up(part: Subquery) -> Subquery:
    """The part with less weight for the terms that only the earlier question has."""
    own, found, _ = part.text.partition(ABOUT)
    if not found:
        return part
    said = frozenset(terms_of(own))
    weights = [term.weight * (1.0 if term.term in said else WEIGHT_OF_EARLIER) for term in part.terms]
    whole = sum(weights) or 1.0
    terms = zip(part.terms, weights, strict=True)
    return replace(part, terms=tuple(replace(term, weight=weight / whole) for term, weight in terms))


def turn_of(run: Run) -> Turn:
    """A finished run as a turn of the conversation: its stand-alone question, its answer and its citations."""
    question = run.answer.debug.standalone_question or run.question
    cited = dict.fromkeys(CitedPassage(one.document_id, one.chunk_id) for one in run.answer.citations)
    return Turn(question, run.answer.text[: MAX_TURN_CHARACTERS - len(question)], tuple(cited)[:MAX_TURN_CITED])


def _add_earlier(question: str, earlier: str) -> str:
    if not earlier or len(question) > LONGEST_FOLLOW_UP or is_pleasantry(question) or not _follows(question):
        return question
    body = _LEAD.sub("", question) or question
    phrase = _phrase(question)
    whole = None if phrase is None or ABOUT in earlier else substitute(phrase, earlier)
    if whole is not None:
        return fold_text(whole)
    if TIME.search(body) and not _COMPARES.search(body):
        earlier = _WHEN.sub("", earlier)
    about = " ".join(earlier.replace(ABOUT, "; ").split())[:LONGEST_FOLLOW_UP].rstrip(" ?.!);")
    first = about.split(" ", 1)[0].lower().rstrip(";")
    about = about[:1].lower() + about[1:] if first in FUNCTION_WORDS else about
    text = fold_text(f"{body[:1].upper()}{body[1:].rstrip(' ?.!')}{ABOUT}{about})?")
    return text if len(text) <= MAX_QUESTION_CHARACTERS else question


def _follows(question: str) -> bool:
    """Whether a question needs the one before it."""
    if _phrase(question) is not None:
        return True
    body = _LEAD.sub("", question) or question
    goes_on = _GOES_ON.match(question) is not None
    terms = _count_terms(body)
    plain = _CLAUSE.search(body) is not None and _NAME.search(body) is None
    if plain and terms <= (FEW_TERMS_LED if goes_on else FEW_TERMS) and (goes_on or not _DEFINES.match(body)):
        return True
    most = MOST_TERMS_OF_SUBJECT if _SUBJECT_POINTS_BACK.match(question) else MOST_TERMS
    return terms <= most and points_back(question)


def _phrase(question: str) -> str | None:
    """The phrase without a verb that a question consists of; None for any other question."""
    goes_on = _GOES_ON.match(question) is not None
    phrase = _ASKS_ABOUT.sub("", _LEAD.sub("", question) or question)
    if _CLAUSE.search(phrase) or not (goes_on or _PHRASE.match(phrase)):
        return None
    return phrase if len(phrase.split()) <= (LONGEST_PHRASE_LED if goes_on else LONGEST_PHRASE) else None


def _count_terms(question: str) -> int:
    return sum(term not in FUNCTION_WORDS for term in query_terms(question))
