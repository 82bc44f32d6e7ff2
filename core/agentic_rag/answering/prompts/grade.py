"""Asks how an answer compares with those a dataset knows, and whether it says only what its sources say."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.answering.prompts.fence import fence_instruction, fence_text, one_of, strict_object
from agentic_rag.models.chat.reply_fields import parse_fields, raw_text_in
from agentic_rag.models.chat.request import ChatRequest, ChatTask, Prompt, ReplyInvalid, ReplySchema


class GradeLevel(enum.Enum):
    """How much of something holds."""

    FULL = "full"
    PART = "part"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Grade:
    """A judge's word on one answer."""

    correct: GradeLevel
    """How far it says what the expected answers say."""
    grounded: GradeLevel
    """How far its sources say what it says."""


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
    """Marks for an answer. With several expected answers any of them is right."""
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
