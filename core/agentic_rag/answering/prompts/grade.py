"""Asks how an answer compares with those a dataset knows, and whether it says only what its sources say."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.answering.prompts.fence import data_rule, fenced, one_of, strict_object
from agentic_rag.models.chat.reply_fields import fields_of, raw_text_in
from agentic_rag.models.chat.request import ChatForm, ChatRequest, ChatTask, Consultation, ReplyInvalid


class Mark(enum.Enum):
    """How much of something holds."""

    FULL = "full"
    PART = "part"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Grade:
    """A judge's word on one answer."""

    correct: Mark
    """How far it says what the expected answers say."""
    grounded: Mark
    """How far its sources say what it says."""


_FORM = ChatForm(
    "grade",
    strict_object({"correct": one_of([one.value for one in Mark]), "grounded": one_of([one.value for one in Mark])}),
)

_SYSTEM = (
    "You grade an answer to a question. Give two marks. correct: full, if the answer says what one of the expected "
    "answers says, in whatever words and with whatever more; part, if it says some of that; none, if it does not say "
    "it or says the contrary. grounded: full, if the sources say all that the answer says; part, if they say some of "
    "it; none, if they say none of it or the contrary, whatever you know yourself."
)


def grade_consultation(
    question: str, expected: Sequence[str], answer: str, sources: Sequence[str], nonce: str
) -> Consultation[Grade]:
    """Marks for an answer. With several expected answers any of them is right."""
    user = "\n".join(
        (
            fenced(nonce, "QUESTION", question),
            *(fenced(nonce, f"EXPECTED {place}", one) for place, one in enumerate(expected)),
            fenced(nonce, "ANSWER", answer),
            *(fenced(nonce, f"SOURCE {place}", one) for place, one in enumerate(sources)),
            "Give the marks.",
        )
    )

    def read(text: str) -> Grade:
        fields = fields_of(text, "correct", "grounded")
        return Grade(_mark(raw_text_in(fields, "correct")), _mark(raw_text_in(fields, "grounded")))

    return Consultation(ChatTask.GRADE, ChatRequest(f"{_SYSTEM}\n\n{data_rule(nonce)}", user, _FORM), read)


def _mark(text: str) -> Mark:
    try:
        return Mark(text)
    except ValueError as error:
        raise ReplyInvalid("The reply holds a mark that there is not.") from error
