"""Asks for a passage that would answer the question. It is embedded to find real ones and never shown as an answer."""

from __future__ import annotations

from agentic_rag.answering.prompts.fence import TEXT, fence_instruction, fence_text, strict_object
from agentic_rag.models.chat.reply_fields import parse_fields, text_in
from agentic_rag.models.chat.request import ChatRequest, ChatTask, Prompt, ReplySchema

MAX_PASSAGE_CHARACTERS = 2000

_FORM = ReplySchema("hypothetical_passage", strict_object({"passage": TEXT}))

_REPLY_TOKENS = 100
"""Of three sentences."""

_SYSTEM = (
    "Write the passage of two to four sentences that a document answering the question would most likely hold, in the "
    "question's language and in the style of such a document. It is only used to find similar passages, so a plausible "
    "statement is as good as a true one; do not say that you are unsure."
)


def hyde_prompt(question: str, nonce: str) -> Prompt[str]:
    """A hypothetical passage (Gao et al., "Precise Zero-Shot Dense Retrieval without Relevance Labels", 2022)."""
    user = f"{fence_text(nonce, 'QUESTION', question)}\nWrite the passage."

    def read(text: str) -> str:
        return text_in(parse_fields(text, "passage"), "passage", MAX_PASSAGE_CHARACTERS)

    return Prompt(
        ChatTask.HYDE, ChatRequest(f"{_SYSTEM}\n\n{fence_instruction(nonce)}", user, _FORM), read, _REPLY_TOKENS
    )
