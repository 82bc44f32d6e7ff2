"""The smallest request that shows whether a model answers, and in the requested form."""

from __future__ import annotations

from agentic_rag.answering.prompts.fence import strict_object
from agentic_rag.models.chat.reply_fields import boolean_in, parse_fields
from agentic_rag.models.chat.request import ChatRequest, ReplySchema

PROBE = ChatRequest(
    "Answer in the form you are given.",
    "Set ready to true.",
    ReplySchema("readiness", strict_object({"ready": {"type": "boolean"}})),
)


def read_probe(text: str) -> bool:
    """The model's value. Errors: `ReplyInvalid` when the reply does not have the form of `PROBE`."""
    return boolean_in(parse_fields(text, "ready"), "ready")
