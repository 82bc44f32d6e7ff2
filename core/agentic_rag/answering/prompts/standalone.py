"""Asks to rewrite a follow-up question so that it stands alone."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.answering.prompts.fence import (
    TEXT,
    fence_instruction,
    fence_text,
    find_unsupported_words,
    strict_object,
)
from agentic_rag.answering.question import MAX_QUESTION_CHARACTERS, Turn
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.chat.reply_fields import parse_fields, text_in
from agentic_rag.models.chat.request import ChatRequest, ChatTask, Prompt, ReplyInvalid, ReplySchema

_FORM = ReplySchema("standalone_question", strict_object({"question": TEXT}))

_SYSTEM = (
    "You make the last question of a conversation understandable without the conversation. Put the names that it "
    "points back to in their place, and complete what it leaves out. Keep its meaning, its language and, where you "
    "can, its words. Add nothing that the conversation does not say, and do not answer it. A question that stands "
    "alone already is repeated as it is."
)


def standalone_prompt(question: str, history: Sequence[Turn], nonce: str) -> Prompt[str]:
    """The stand-alone question. A reply with a name or figure that the conversation does not contain is invalid."""
    turns = [f"Question: {turn.question}\nAnswer: {turn.answer}" for turn in history]
    user = "\n".join(
        (
            fence_text(nonce, "CONVERSATION", "\n\n".join(turns)),
            fence_text(nonce, "QUESTION", question),
            "Rewrite QUESTION.",
        )
    )

    def read(text: str) -> str:
        written = text_in(parse_fields(text, "question"), "question", MAX_QUESTION_CHARACTERS)
        new = find_unsupported_words(written, question, *turns)
        if new:
            raise ReplyInvalid("The stand-alone question names what nobody said.")
        return written

    return Prompt(
        ChatTask.REWRITE,
        ChatRequest(f"{_SYSTEM}\n\n{fence_instruction(nonce)}", user, _FORM),
        read,
        20 + estimate_tokens(question),
    )
