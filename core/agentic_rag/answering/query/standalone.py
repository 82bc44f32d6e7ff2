"""Rewrites follow-up questions so that they stand alone; a question that stands alone stays as it is.

The rules in order: an elliptical question is completed from the one before it; pronouns, "there" and "that …" are
replaced by their antecedents; where an antecedent is unknown, the earlier question is appended. A wrong rewrite is
worse than none, so in doubt the question stays.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.answering.query.anaphora import AUXILIARY, Anaphor, AnaphorKind, find_anaphors
from agentic_rag.answering.query.coreference import ConversationTurn, find_antecedent
from agentic_rag.answering.query.ellipsis import (
    append_earlier,
    capitalise_sentence,
    complete_question,
    continues,
    without_lead,
)
from agentic_rag.answering.query.gate import is_pleasantry
from agentic_rag.answering.query.mentions import MAX_READ_CHARACTERS, find_question_names
from agentic_rag.answering.question import MAX_QUESTION_CHARACTERS, MAX_TURN_CHARACTERS, MAX_TURN_CITED, Turn
from agentic_rag.answering.run import Run
from agentic_rag.documents.document import CitedPassage
from agentic_rag.kernel.text import fold_text
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.tokenizer import query_terms

LONGEST_FOLLOW_UP = 300
"""Characters: a longer question names its subject."""
FEW_TERMS = 2
"""A question with at most so many content terms continues the one before it when it opens with "And" or refers to
nothing by name."""
MOST_TERMS, MOST_TERMS_OF_SUBJECT = 4, 8
"""A question with more content terms is understood by itself, despite a pronoun; the second limit is for a pronoun as
subject."""

_IN_BEFORE = re.compile(r"\b(?:in|at|from|to|near|around|of|on|by|during|since|over|about)$", re.IGNORECASE)
_POINTS_AT_ONCE = re.compile(
    rf"^(?:(?:and|but|so|or)\b,? )?(?:(?:\w+ ){{0,4}}?{AUXILIARY} )(?:it|its|they|their|he|she|his|her|that|those)\b",
    re.IGNORECASE,
)
"""The subject of the question is a pronoun."""
_NO_VERB = re.compile(
    rf"^(?!.*\b(?:{AUXILIARY}|who|whom|whose|what|when|where|why|which|how)\b)(?:\S+ ){{0,7}}\S+\?$", re.IGNORECASE
)
"""A phrase: "Acme's revenue?"."""


class RewriteReason(enum.Enum):
    """How a question was rewritten."""

    STANDS_ALONE = "stands alone"
    COMPLETED = "completed"
    """The question was elliptical: words of the one before it were added."""
    RESOLVED = "resolved"
    """Anaphors were replaced by their antecedents."""
    MATTER_ADDED = "matter added"
    """The antecedent has no name: the earlier question was appended."""


@dataclass(frozen=True, slots=True)
class StandaloneQuestion:
    """A question that means the same without the conversation, and how it was rewritten."""

    text: str
    reason: RewriteReason

    @property
    def is_rewrite(self) -> bool:
        """True when the question did not stand alone."""
        return self.reason is not RewriteReason.STANDS_ALONE


def make_standalone(question: str, history: Sequence[Turn]) -> StandaloneQuestion:
    """The question (folded, see `kernel.text.fold_text`) as it stands alone after the turns, oldest first. Pure."""
    said: list[ConversationTurn] = []
    for turn in history:
        text = _rewrite_follow_up(fold_text(turn.question), said).text[:MAX_READ_CHARACTERS]
        if _terms(text) and not is_pleasantry(text):
            said.append(ConversationTurn(text, turn.answer))
    return _rewrite_follow_up(question, said)


def turn_of(run: Run) -> Turn:
    """A finished run as a turn of the conversation: its stand-alone question, its answer and its citations."""
    question = run.answer.debug.standalone_question or run.question
    cited = dict.fromkeys(CitedPassage(one.document_id, one.chunk_id) for one in run.answer.citations)
    return Turn(question, run.answer.text[: MAX_TURN_CHARACTERS - len(question)], tuple(cited)[:MAX_TURN_CITED])


def _rewrite_follow_up(question: str, said: Sequence[ConversationTurn]) -> StandaloneQuestion:
    alone = StandaloneQuestion(question, RewriteReason.STANDS_ALONE)
    if not said or len(question) > LONGEST_FOLLOW_UP:
        return alone
    earlier = said[-1].question
    whole = complete_question(question, earlier)
    if whole is not None:
        return _accept_rewrite(whole, RewriteReason.COMPLETED, alone)
    references = [] if _says_enough(question) else find_anaphors(question)
    if references:
        return _resolve_references(question, references, said, alone)
    if _continues(question):
        return _accept_rewrite(append_earlier(question, earlier), RewriteReason.MATTER_ADDED, alone)
    return alone


def _resolve_references(
    question: str, references: Sequence[Anaphor], said: Sequence[ConversationTurn], alone: StandaloneQuestion
) -> StandaloneQuestion:
    pieces: list[str] = []
    done = 0
    replaced = False
    missing = False
    for one in references:
        found = find_antecedent(question[one.start : one.end], one, said)
        if found is None:
            missing = missing or _must_point_back(question, one)
            continue
        pieces += [question[done : one.start], _inflect(found, one, question[: one.start])]
        done = one.end
        replaced = True
    if replaced:
        text = without_lead("".join(pieces) + question[done:])
        if continues(question) and _NO_VERB.match(text):
            text = f"What about {text}"
        return _accept_rewrite(capitalise_sentence(text), RewriteReason.RESOLVED, alone)
    if missing:
        return _accept_rewrite(append_earlier(question, said[-1].question), RewriteReason.MATTER_ADDED, alone)
    return alone


def _must_point_back(question: str, reference: Anaphor) -> bool:
    """ "This document" may be the one to search, and a question with a name of its own needs no antecedent."""
    word = question[reference.start : reference.end].lower()
    return not (word.startswith(("this ", "these ")) or find_question_names(question)) and _terms(question) <= FEW_TERMS


def _inflect(found: str, reference: Anaphor, before: str) -> str:
    if reference.possessive:
        return f"{found}'" if found.endswith("s") else f"{found}'s"
    located = reference.kind is AnaphorKind.PLACE or (reference.kind is AnaphorKind.NAMED and found.isdigit())
    if located and not _IN_BEFORE.search(before.rstrip()):
        return f"in {found}"
    return found


def _says_enough(question: str) -> bool:
    return _terms(question) > (MOST_TERMS_OF_SUBJECT if _POINTS_AT_ONCE.match(question) else MOST_TERMS)


def _terms(question: str) -> int:
    return sum(term not in FUNCTION_WORDS for term in query_terms(question))


def _continues(question: str) -> bool:
    """ "And what is the limit?": the first word continues the conversation, and few terms follow."""
    body = without_lead(question)
    if not continues(question) or find_question_names(body) or any(sign.isdigit() for sign in body):
        return False
    return 0 < _terms(body) <= FEW_TERMS and body.endswith("?")


def _accept_rewrite(text: str, reason: RewriteReason, alone: StandaloneQuestion) -> StandaloneQuestion:
    text = fold_text(text)
    if not text or text == alone.text or len(text) > MAX_QUESTION_CHARACTERS:
        return alone
    return StandaloneQuestion(text, reason)
