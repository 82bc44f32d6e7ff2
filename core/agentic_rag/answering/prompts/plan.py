"""Asks for sub-questions, their dependencies and the answer type."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.answering.plan import AnswerType, Plan, SubQuestion
from agentic_rag.answering.prompts.fence import (
    NUMBER,
    TEXT,
    fence_instruction,
    fence_text,
    find_unsupported_words,
    list_of,
    one_of,
    strict_object,
)
from agentic_rag.answering.query.planner import FINDING_PLACEHOLDER, MAX_PARTS
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.chat.reply_fields import as_fields, items_in, numbers_in, parse_fields, raw_text_in, text_in
from agentic_rag.models.chat.request import ChatRequest, ChatTask, Prompt, ReplyInvalid, ReplySchema

MAX_PART_CHARACTERS = 500

_TYPES = {kind.value: kind for kind in AnswerType if kind not in (AnswerType.CALCULATION, AnswerType.LOOKUP)}
"""Arithmetic and named documents are recognised by rule, before a model is asked."""

_FORM = ReplySchema(
    "plan",
    strict_object(
        {
            "answer_type": one_of(list(_TYPES)),
            "sub_questions": list_of(strict_object({"text": TEXT, "depends_on": list_of(NUMBER)})),
        }
    ),
)

_REPLY_TOKENS = 40
"""Of a plan without its words: the type, and the fields of two parts."""

_SYSTEM = (
    "You plan how a question is looked up in a collection of documents. Most questions are one sub-question: the "
    "question itself. Divide only what has several independent parts, compares things, or asks about something that "
    f"must be found first; at most {MAX_PARTS} sub-questions, each a search of its own in the question's language. "
    "Sub-questions are numbered from 0; depends_on lists the numbers of earlier ones that must be answered first. "
    f"Where a sub-question needs what an earlier one finds, write {FINDING_PLACEHOLDER} in its place. Do not "
    f"answer, and name "
    "nothing that the question does not name: what you know yourself does not count."
)


def plan_prompt(question: str, rules: Plan, model: str, nonce: str) -> Prompt[Plan]:
    """The plan of a stand-alone question; tools stay those of the plan by rules."""
    user = f"{fence_text(nonce, 'QUESTION', question)}\nPlan QUESTION."

    def read(text: str) -> Plan:
        reply = parse_fields(text, "answer_type", "sub_questions")
        kind = _TYPES.get(raw_text_in(reply, "answer_type"))
        if kind is None:
            raise ReplyInvalid("The plan has an answer type that there is not.")
        return Plan(_parts(question, items_in(reply, "sub_questions")), kind, rules.tools, model)

    return Prompt(
        ChatTask.PLAN,
        ChatRequest(f"{_SYSTEM}\n\n{fence_instruction(nonce)}", user, _FORM),
        read,
        _REPLY_TOKENS + 2 * estimate_tokens(question),
    )


def _parts(question: str, items: Sequence[object]) -> tuple[SubQuestion, ...]:
    if not 1 <= len(items) <= MAX_PARTS:
        raise ReplyInvalid(f"The plan has {len(items)} parts, not 1 to {MAX_PARTS}.")
    parts = tuple(_part(question, place, one) for place, one in enumerate(items))
    if len({part.text.casefold() for part in parts}) < len(parts):
        raise ReplyInvalid("The plan asks the same twice.")
    # A question with one part is searched for as it was asked.
    return parts if len(parts) > 1 else (SubQuestion(question),)


def _part(question: str, place: int, item: object) -> SubQuestion:
    fields = as_fields(item, "text", "depends_on")
    text = text_in(fields, "text", MAX_PART_CHARACTERS)
    depends_on = tuple(sorted(set(numbers_in(fields, "depends_on"))))
    if any(not 0 <= one < place for one in depends_on):
        raise ReplyInvalid("A part of the plan waits for one that does not come before it.")
    if FINDING_PLACEHOLDER in text and not depends_on:
        raise ReplyInvalid("A part of the plan needs a finding and waits for none.")
    if find_unsupported_words(text.replace(FINDING_PLACEHOLDER, " "), question):
        raise ReplyInvalid("The plan names what the question does not.")
    return SubQuestion(text, depends_on)
