"""Asks whether each sentence of an answer follows from its quotes and concerns the question."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.answering.prompts.fence import NUMBER, fence_instruction, fence_text, list_of, one_of, strict_object
from agentic_rag.models.chat.reply_fields import as_fields, items_in, number_in, parse_fields, raw_text_in
from agentic_rag.models.chat.request import ChatRequest, ChatTask, Prompt, ReplyInvalid, ReplySchema


class ClaimVerdict(enum.Enum):
    """A judge's verdict on a sentence."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    """Its quotes do not state it, state less, or state the contrary."""
    OFF_TOPIC = "off_topic"
    """It is supported, but does not concern the question."""


@dataclass(frozen=True, slots=True)
class ClaimToJudge:
    """A sentence beside its quotes with their titles and headings."""

    sentence: str
    source: str


_VERDICT = strict_object({"sentence": NUMBER, "verdict": one_of([one.value for one in ClaimVerdict])})
_FORM = ReplySchema("verdicts", strict_object({"verdicts": list_of(_VERDICT)}))

_VERDICT_TOKENS = 12

_SYSTEM = (
    "You check the sentences of an answer, each beside the source that it cites. For each sentence give one verdict: "
    "supported, if its source says what the sentence says; unsupported, if the source does not say it, says less, or "
    "says the contrary, whatever you know yourself; off_topic, if the source says it and it neither answers the "
    "question, in part or as a whole, nor is needed to understand a sentence that does."
)


def judge_prompt(question: str, claims: Sequence[ClaimToJudge], nonce: str) -> Prompt[tuple[ClaimVerdict, ...]]:
    """A verdict for each claim, in their order."""
    shown = [
        fence_text(nonce, f"SENTENCE {place}", claim.sentence)
        + "\n"
        + fence_text(nonce, f"SOURCE {place}", claim.source)
        for place, claim in enumerate(claims)
    ]
    user = "\n".join((fence_text(nonce, "QUESTION", question), *shown, "Give the verdicts."))

    def read(text: str) -> tuple[ClaimVerdict, ...]:
        found: dict[int, ClaimVerdict] = {}
        items = items_in(parse_fields(text, "verdicts"), "verdicts")
        for item in items:
            fields = as_fields(item, "sentence", "verdict")
            found[number_in(fields, "sentence")] = _verdict(raw_text_in(fields, "verdict"))
        if len(items) != len(claims) or found.keys() != set(range(len(claims))):
            raise ReplyInvalid(f"The reply judges {len(items)} sentences, not the {len(claims)} given.")
        return tuple(found[place] for place in range(len(claims)))

    return Prompt(
        ChatTask.JUDGE,
        ChatRequest(f"{_SYSTEM}\n\n{fence_instruction(nonce)}", user, _FORM),
        read,
        8 + _VERDICT_TOKENS * len(claims),
    )


def _verdict(text: str) -> ClaimVerdict:
    try:
        return ClaimVerdict(text)
    except ValueError as error:
        raise ReplyInvalid("The reply holds a verdict that there is not.") from error
