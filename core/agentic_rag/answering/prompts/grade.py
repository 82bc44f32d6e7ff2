"""Asks a judge to compare an answer with the expected answers of a dataset and with its sources."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.answering.prompts.fence import fence_instruction, fence_text, one_of, strict_object
from agentic_rag.models.chat.reply_fields import parse_fields, raw_text_in
from agentic_rag.models.chat.request import ChatRequest, ChatTask, Prompt, ReplyInvalid, ReplySchema


class GradeLevel(enum.Enum):
    """A mark: all of it, part of it, none of it."""

    FULL = "full"
    PART = "part"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Grade:
    """The marks of one answer."""

    correct: GradeLevel
    """Agreement with the expected answers."""
    grounded: GradeLevel
    """Support by its sources."""


_FORM = ReplySchema(
    "grade",
    strict_object(
        {"correct": one_of([one.value for one in GradeLevel]), "grounded": one_of([one.value for one in GradeLevel])}
    ),
)

_SYSTEM = (
    "You grade an answer to a question. Give two marks. correct: full, if the answer says what one of the expected "
    "answers says, in whatever words and with whatever more; part, if it says some of that; none, if it does not say "
    "it or says the contrary. grounded: full, if the sources say all that the answer says; part, if they say some of "
    "it; none, if they say none of it or the contrary, whatever you know yourself."
)


def grade_prompt(
    question: str, expected: Sequence[str], answer: str, sources: Sequence[str], nonce: str
) -> Prompt[Grade]:
    """The marks of an answer. Any of several expected answers is right."""
    user = "\n".join(
        (
            fence_text(nonce, "QUESTION", question),
            *(fence_text(nonce, f"EXPECTED {place}", one) for place, one in enumerate(expected)),
            fence_text(nonce, "ANSWER", answer),
            *(fence_text(nonce, f"SOURCE {place}", one) for place, one in enumerate(sources)),
            "Give the marks.",
        )
    )

    def read(text: str) -> Grade:
        fields = parse_fields(text, "correct", "grounded")
        return Grade(_grade_level(raw_text_in(fields, "correct")), _grade_level(raw_text_in(fields, "grounded")))

    return Prompt(ChatTask.GRADE, ChatRequest(f"{_SYSTEM}\n\n{fence_instruction(nonce)}", user, _FORM), read)


def _grade_level(text: str) -> GradeLevel:
    try:
        return GradeLevel(text)
    except ValueError as error:
        raise ReplyInvalid("The reply holds a mark that there is not.") from error
