"""What a question is after, by its wording, and how clearly the wording says so."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.shapes.question_kind import QuestionKind, question_kind


class Intent(enum.Enum):
    """What a question is after."""

    LOOKUP = "lookup"
    EXPLAIN = "explain"
    COMPARE = "compare"
    LIST = "list"
    FRESH_NEWS = "fresh_news"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class AskedIntent:
    """An intent, and how sure the rules are of it, in [0, 1]."""

    intent: Intent
    confidence: float


STATED = 1.0
"""The wording names the intent."""
SHAPED = 0.8
"""The form of the question has it; half of what asks *how* or *why* wants one value all the same."""
ASSUMED = 0.5
"""Nothing speaks for another one."""

_NEWS = re.compile(
    r"\b(?:latest|breaking|newest|up-to-date|news|headlines?|announce[ds]?|press releases?|"
    r"today'?s|this (?:week|month)'?s|most recent|so far this (?:week|month|year))\b",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"\b(?:source code|code|stack ?trace|traceback|compil\w+|API|SDK|regex|null pointer|exception|unit tests?|"
    r"python|javascript|typescript|java|rust|golang|kotlin|c\+\+|sql quer\w+)\b|"
    r"\b\w+\(\)|\b[a-z]+(?:_[a-z0-9]+)+\b|\b[\w-]+\.(?:py|js|ts|go|rs|java|c|cpp|sh|sql)\b|`[^`]+`",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\b(?:compar\w+|versus|vs\.?|differ(?:s|ence|ences)? (?:between|from)|rather than|better than|instead of)\b",
    re.IGNORECASE,
)

_OF_KIND = {
    QuestionKind.COMPARISON: Intent.COMPARE,
    QuestionKind.LIST: Intent.LIST,
    QuestionKind.DOCUMENTS: Intent.LIST,
    QuestionKind.STEPS: Intent.EXPLAIN,
    QuestionKind.REASON: Intent.EXPLAIN,
    QuestionKind.DEFINITION: Intent.EXPLAIN,
    QuestionKind.SUMMARY: Intent.EXPLAIN,
}


def find_intent(question: str, answer_type: AnswerType) -> AskedIntent:
    """The intent of a stand-alone question. News comes before all, because it decides how old an answer may be."""
    for intent, said in ((Intent.FRESH_NEWS, _NEWS), (Intent.COMPARE, _COMPARES), (Intent.CODE, _CODE)):
        if said.search(question):
            return AskedIntent(intent, STATED)
    by_form = _OF_KIND.get(question_kind(question, answer_type))
    return AskedIntent(Intent.LOOKUP, ASSUMED) if by_form is None else AskedIntent(by_form, SHAPED)
