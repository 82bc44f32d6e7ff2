"""The rule-based planner: answer type, sub-questions and tools of a question.

Every rule is conservative: a question that fits none has one part, is of type fact and calls no tool.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentic_rag.answering.plan import AnswerType, Plan, SubQuestion, ToolRequest
from agentic_rag.answering.query.standalone import ABOUT
from agentic_rag.answering.tools.registry import TOOLS
from agentic_rag.language.words.word_table import Asked
from agentic_rag.language.words.word_tables import table_of

PLANNER = "rules"
MAX_PARTS = 4
FINDING_PLACEHOLDER = "{finding}"
"""Stands in a sub-question for the finding of an earlier one."""

_WH = r"(?:who|whom|whose|what|when|where|why|which|how)"
_TYPES: tuple[tuple[AnswerType, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (
            AnswerType.DATE,
            r"^(?:when|since when|until when|on (?:what|which) (?:date|day)|by when)\b|"
            r"\b(?:what|which) (?:year|date|day|month)\b|\bwhat is the (?:\w+ ){0,2}(?:date|deadline)\b",
        ),
        (AnswerType.PERSON, r"^(?:who|whom|whose)\b|\b(?:by|from|to|with) whom\b"),
        (
            AnswerType.FIGURE,
            r"\bhow (?:many|much|long|tall|far|high|deep|wide|old|often|large|big|heavy|fast|hot|cold|thick)\b|"
            r"\bwhat (?:is|was|are|were) the (?:\w+[ -]){0,4}(?:number|amount|percentage|share|rate|cost|price|revenue|"
            r"capacity|height|length|width|weight|limit|speed|temperature|diameter|total|size|depth|pressure|power|"
            r"duration|distance|threshold|torque|budget|income|margin|interval|ratio|population|elevation|altitude|age|"
            r"(?:fee|rent|deposit|salary)(?! (?:for\W*$|\w+ (?:is )?(?:called|named))))\b|"
            r"\b(?:what|which) (?:\w+[ -]){0,2}(?:percentage|share|voltage|pressure|temperature|speed|height|level|"
            r"weight|price|mark|limit|rate|number|amount)\b|\bwhat (?:does|did|do|would|will) (?:.{3,120} |it )cost\b",
        ),
        (
            AnswerType.LIST,
            r"^(?:list|name|enumerate)\b|^(?:what|which) are\b|"
            r"^(?:what|which) (?:\w+ ){0,2}\w+s (?:are|were|must|should|can|do|have)\b|\bwhat (?:\w+ )?steps\b|"
            r"^which (?:two |three |four |\w+ )?(?!does|was|is|has|this)[a-z]{2,}[^\Wsu]s\b",
        ),
        (
            AnswerType.YES_NO,
            r"^(?:is|are|was|were|do|does|did|can|could|should|must|may|will|would|has|have|had)\b",
        ),
    )
)

_TYPE_OF: Mapping[Asked | None, AnswerType] = {
    Asked.WHEN: AnswerType.DATE,
    Asked.WHO: AnswerType.PERSON,
    Asked.HOW_MUCH: AnswerType.FIGURE,
    Asked.HOW_LONG: AnswerType.FIGURE,
    Asked.PRICE: AnswerType.FIGURE,
    Asked.LIST: AnswerType.LIST,
    Asked.YES_NO: AnswerType.YES_NO,
}
"""Of what a word table finds asked."""

_BETWEEN = re.compile(
    r"^(?P<lead>.*?)\b(?:differences?|distinction) between (?P<a>.{2,80}?) and (?P<b>.{2,80}?)"
    r"(?P<rest>(?: (?:in|with respect to|regarding|when|for|during|at) .+)?)[?.!]*$",
    re.IGNORECASE,
)
_COMPARE = re.compile(
    r"^compare (?P<a>.{2,80}?) (?:and|with|to|against|versus|vs\.?) (?P<b>.{2,80}?)"
    r"(?P<rest>(?: (?:in|with respect to|regarding|when|for|during|at|by) .+)?)[?.!]*$",
    re.IGNORECASE,
)
_VERSUS = re.compile(r"^(?P<a>.{2,80}?) (?:vs\.?|versus) (?P<b>.{2,80}?)(?P<rest>)[?.!]*$", re.IGNORECASE)
_EITHER = re.compile(
    rf"^(?P<lead>(?:in |at |on |for |of )?{_WH}\b[^,:]{{3,120}}?)\s*[,:]\s*"
    r"(?P<a>[^,]{2,80}?),? or (?P<b>[^,]{2,80}?)[?.!]*$",
    re.IGNORECASE,
)
"""Which is …, A or B?"""
_THAT_OF = re.compile(r"^(?:that|those|the one|the ones) (?:of|in|at|on|for|from)\s+(?:the\s+)?", re.IGNORECASE)
_COMPARED_FIGURE = re.compile(
    r"\b(?:greater|larger|bigger|higher|lower|smaller|longer|shorter|heavier|lighter|cheaper|dearer|faster|slower|more|"
    r"less|fewer|taller|deeper|wider|stronger|warmer|colder)\b.*:",
    re.IGNORECASE,
)
_COMPARED_DATE = re.compile(r"\b(?:earlier|later|sooner|older|newer|younger|first|last)\b.*:", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)

_NEXT_QUESTION = re.compile(
    rf"(?<=[?])\s+(?=\S)|(?:,)?\s+and\s+(?=(?:in |at |on |by |to |for )?{_WH}\b)", re.IGNORECASE
)
_BARE = re.compile(
    r"^(?:(?:in|at|on|by|to|for|from|of) )?(?:who|whom|whose|what|which|how)(?: [\w-]+)?$", re.IGNORECASE
)
"""A question without a verb: it shares that of the next one."""
_PRONOUN = re.compile(r"\b(?:it|its|they|them|their|he|she|his|her|him)\b", re.IGNORECASE)

_RELATIVE = re.compile(
    r"\bthe [\w-]+(?: [\w-]+){0,3}? (?:that|which|who|where|whose|used|built|made|named|called) \w", re.IGNORECASE
)


def may_need_steps(question: str) -> bool:
    """True where a relative clause says which thing is meant ("the site whose cable broke"): a chat model may find the
    thing first. Rules do not: on 300 questions of three multi-hop sets that made no answer right.
    """
    return _RELATIVE.search(question) is not None


def plan_question(question: str, *, use_tools: bool = True) -> Plan:
    """The plan of a standalone question (folded, see `kernel.text.fold_text`)."""
    for tool in TOOLS:
        if tool.answer_type is not None and (arguments := tool.wanted(question)):
            requests = tuple(ToolRequest(tool.name, argument) for argument in arguments) if use_tools else ()
            return Plan((SubQuestion(question),), tool.answer_type, requests, PLANNER)
    own, _, earlier = question.partition(ABOUT)
    if earlier:
        return Plan((SubQuestion(question),), detect_answer_type(own), (), PLANNER)
    compared = _comparison(question)
    if compared:
        return Plan(compared, AnswerType.COMPARISON, (), PLANNER)
    return Plan(_conjunction(question), detect_answer_type(question), (), PLANNER)


def detect_answer_type(question: str) -> AnswerType:
    """The answer type that the wording asks for."""
    table = table_of(question)
    if table is not None:
        return _TYPE_OF.get(table.asked_by(question), AnswerType.FACT)
    if ":" in question:
        if _COMPARED_FIGURE.search(question):
            return AnswerType.FIGURE
        if _COMPARED_DATE.search(question):
            return AnswerType.DATE
    for kind, pattern in _TYPES:
        if pattern.search(question):
            return kind
    return AnswerType.FACT


def _comparison(question: str) -> tuple[SubQuestion, ...]:
    match = _BETWEEN.match(question) or _COMPARE.match(question) or _VERSUS.match(question)
    if match is None:
        return _either(question)
    rest = match["rest"].strip(" ?.!")
    sides = [_ARTICLE.sub("", match[side].strip(" ,")) for side in ("a", "b")]
    return tuple(SubQuestion(f"{side} {rest}".strip()) for side in sides)


def _either(question: str) -> tuple[SubQuestion, ...]:
    match = _EITHER.match(question)
    if match is None:
        return ()
    sides = [_THAT_OF.sub("", match[side].strip(" ,")) for side in ("a", "b")]
    return tuple(SubQuestion(f"{match['lead'].strip()}: {side}?") for side in sides)


def _conjunction(question: str) -> tuple[SubQuestion, ...]:
    pieces = [piece.strip(" ,") for piece in _NEXT_QUESTION.split(question) if piece.strip(" ,?")]
    whole = (SubQuestion(question),)
    if not 1 < len(pieces) <= MAX_PARTS or any(len(piece.split()) < 3 or _BARE.match(piece) for piece in pieces):
        return whole
    if not all(re.match(rf"(?:in |at |on |by |to |for )?{_WH}\b", piece, re.IGNORECASE) for piece in pieces):
        return whole
    return tuple(
        SubQuestion(piece if piece.endswith("?") else f"{piece}?", (0,) if at and _PRONOUN.search(piece) else ())
        for at, piece in enumerate(pieces)
    )
