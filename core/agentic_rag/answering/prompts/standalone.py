"""Asks for a follow-up question that can be understood without the conversation before it."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.answering.prompts.fence import TEXT, data_rule, fenced, invented, strict_object
from agentic_rag.answering.question import MAX_QUESTION_CHARACTERS, Turn
from agentic_rag.models.chat.reply_fields import fields_of, text_in
from agentic_rag.models.chat.request import ChatForm, ChatRequest, ChatTask, Consultation, ReplyInvalid

_FORM = ChatForm("standalone_question", strict_object({"question": TEXT}))

_SYSTEM = (
    "You make the last question of a conversation understandable without the conversation. Put the names that it "
    "points back to in their place, and complete what it leaves out. Keep its meaning, its language and, where you "
    "can, its words. Add nothing that the conversation does not say, and do not answer it. A question that stands "
    "alone already is repeated as it is."
)


def standalone_consultation(question: str, history: Sequence[Turn], nonce: str) -> Consultation[str]:
    """The stand-alone question. A reply with a name or figure that nobody said is invalid."""
    turns = [f"Question: {turn.question}\nAnswer: {turn.answer}" for turn in history]
    user = "\n".join(
        (fenced(nonce, "CONVERSATION", "\n\n".join(turns)), fenced(nonce, "QUESTION", question), "Rewrite QUESTION.")
    )

    def read(text: str) -> str:
        written = text_in(fields_of(text, "question"), "question", MAX_QUESTION_CHARACTERS)
        new = invented(written, question, *turns)
        if new:
            raise ReplyInvalid("The stand-alone question names what nobody said.")
        return written

    return Consultation(ChatTask.REWRITE, ChatRequest(f"{_SYSTEM}\n\n{data_rule(nonce)}", user, _FORM), read)
