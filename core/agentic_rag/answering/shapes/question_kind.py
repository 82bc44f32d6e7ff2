"""The kind of a question, which decides what its answer looks like."""

from __future__ import annotations

import enum
import re

from agentic_rag.answering.plan import AnswerType
from agentic_rag.language.words.word_table import Asked
from agentic_rag.language.words.word_tables import table_of


class QuestionKind(enum.Enum):
    """What a question asks for."""

    VALUE = "value"
    """Who, when, where, how much, which one."""
    STEPS = "steps"
    LIST = "list"
    COMPARISON = "comparison"
    YES_NO = "yes_no"
    DEFINITION = "definition"
    REASON = "reason"
    DOCUMENTS = "documents"
    SUMMARY = "summary"
    FACT = "fact"
    """Anything else."""


_DOCUMENTS = r"(?:documents?|files?|reports?|minutes|agreements|contracts|policies|manuals|guides|memos|notes)"
_ANYONE = r"(?:i|we|you|one|someone|staff|employees|people|users?|visitors?|customers?|members?|operators?|tenants?)"
_RULES: tuple[tuple[QuestionKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (
            QuestionKind.DOCUMENTS,
            rf"^in which (?:\w+ )?{_DOCUMENTS}\b|^which (?:\w+ )?{_DOCUMENTS}\b(?! (?:is|was) )",
        ),
        (
            QuestionKind.SUMMARY,
            r"^(?:please )?(?:summari[sz]e|sum up|give (?:me |us )?(?:an? )?(?:\w+ )?(?:summary|overview))\b|"
            r"\b(?:short|brief|quick) (?:summary|overview)\b|\b(?:main|key) points of\b|"
            r"\bin (?:a nutshell|short|brief)\W*$|^(?:in short|briefly)\b",
        ),
        (
            QuestionKind.STEPS,
            rf"\bhow (?:do|can|should|would|must|may|might) {_ANYONE}\b|^how to\b|"
            r"\bhow (?:does|do|can) (?:an? |new )[\w ]{2,40} "
            r"(?:get|apply|order|request|report|book|join|become|register|start|open|change|return)\b|"
            r"^how (?:is|are) .{2,60} (?:done|made|carried out|performed)\W*$|"
            rf"\bwhat (?:should|must|do|shall|can|have) {_ANYONE} (?:(?:have|need) to )?(?:do|try|check)\b|"
            r"\bwhat happens (?:if|when|after)\b|\bwhat to do\b|\bstep[ -]by[ -]step\b|"
            r"\b(?:what|which) (?:is|are) the (?:\w+ ){0,2}(?:steps?|procedure|process|instructions?)\b|"
            r"\b(?:what|which) (?:\w+ )?steps\b|^(?!who\b|where\b)(?:[\w-]+ )?(?:procedure|instructions|steps)\b",
        ),
        (
            QuestionKind.DEFINITION,
            r"^(?:what (?:exactly )?(?:is|are)|what's) (?:an? |the (?=(?-i:[A-Z])))?"
            r"(?!(?:the|your|our|my|their|his|her|its)\b)"
            r"(?:(?!\b(?:of|for|in|on|at|by|used|needed|required)\b)[\"“'‘]?[\w'’/-]+[\"”]? ?){1,5}\??$|"
            r"^what (?:do|does|is) .{2,60} (?:mean|meant|stand for)\b|^what is meant by\b|^define\b|"
            r"^what is the (?:meaning|definition) of\b",
        ),
        (
            QuestionKind.REASON,
            r"^(?:why|what caused|what is the reason|for what reason)\b",
        ),
        (
            QuestionKind.COMPARISON,
            r"\bcompared (?:with|to)\b|\bdifference between\b|\b(?:\w{2,}er|more|less) .*\bthan\b|\bthe same .+ as\b|"
            r"\bhow (?:has|have|did|do|does) .{2,80} (?:change|differ|compare|develop)\w*\b|"
            r"\bwith (?:and|or) without\b|\b(?:versus|vs\.?)(?= )",
        ),
    )
)
_BY_TYPE = {
    AnswerType.DATE: QuestionKind.VALUE,
    AnswerType.PERSON: QuestionKind.VALUE,
    AnswerType.FIGURE: QuestionKind.VALUE,
    AnswerType.LIST: QuestionKind.LIST,
    AnswerType.COMPARISON: QuestionKind.COMPARISON,
    AnswerType.YES_NO: QuestionKind.YES_NO,
}
_BY_ASKED = {
    Asked.DOCUMENTS: QuestionKind.DOCUMENTS,
    Asked.SUMMARY: QuestionKind.SUMMARY,
    Asked.STEPS: QuestionKind.STEPS,
    Asked.REASON: QuestionKind.REASON,
    Asked.DEFINITION: QuestionKind.DEFINITION,
    Asked.COMPARISON: QuestionKind.COMPARISON,
    Asked.LIST: QuestionKind.LIST,
    Asked.YES_NO: QuestionKind.YES_NO,
} | dict.fromkeys(
    (Asked.PRICE, Asked.HOW_LONG, Asked.HOW_MUCH, Asked.WHEN, Asked.WHO, Asked.WHERE, Asked.WHICH), QuestionKind.VALUE
)
"""Of what a word table finds asked."""
_VALUE = re.compile(
    r"^(?:(?:in|at|on|from|to|for|by|under|with) )?"
    r"(?:where|(?:what|which) (?:\w+ ){0,2}(?:is|was|does|did|has|had|of)\b)",
    re.IGNORECASE,
)
_THINGS = re.compile(
    r"^(?:what|which) (?:[\w'’-]+ ){0,3}?[a-z]{2,}(?:[^\Wsui]s|ies|ses) (?:are|were|do|did|have|had|can|must|should|"
    r"may|need|will|would|could|belong|apply)\b|"
    r"^(?:what|which) .{2,60}\b(?:are|were) there\b|^what counts as\b|\bwhat (?:belongs to|is included in)\b|"
    r"^(?:what|which) are the\b|^(?:list|name|enumerate)\b",
    re.IGNORECASE,
)


def question_kind(text: str, answer_type: AnswerType) -> QuestionKind:
    """The kind of a question, by its wording first, by its answer type where the wording leaves it open."""
    if answer_type is AnswerType.COMPARISON:
        return QuestionKind.COMPARISON
    table = table_of(text)
    if table is not None:
        asked = table.asked_by(text)
        return QuestionKind.FACT if asked is None else _BY_ASKED[asked]
    for kind, pattern in _RULES:
        if pattern.search(text):
            return kind
    known = _BY_TYPE.get(answer_type)
    if known is not QuestionKind.VALUE and _THINGS.search(text):
        return QuestionKind.LIST
    if known is not None:
        return known
    return QuestionKind.VALUE if _VALUE.match(text) else QuestionKind.FACT
