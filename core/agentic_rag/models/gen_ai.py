"""Attributes of the spans of model calls, as the semantic conventions of OpenTelemetry for generative AI name them.

Source: OpenTelemetry semantic conventions 1.38, "Generative AI client spans". The conventions leave prompts and replies
out unless they are asked for; here nothing asks for them.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from agentic_rag.models.chat.request import ChatReply

CONVENTIONAL = {"gemini": "gcp.gemini"}
"""Names of providers that the conventions spell in another way than we do."""


class GenAiOperation(enum.Enum):
    """Values of `gen_ai.operation.name`."""

    CHAT = "chat"
    EMBEDDINGS = "embeddings"


def request_attributes(operation: GenAiOperation, provider: str, model: str) -> Mapping[str, str]:
    """What is known before a call."""
    return {
        "gen_ai.operation.name": operation.value,
        "gen_ai.provider.name": CONVENTIONAL.get(provider, provider),
        "gen_ai.request.model": model,
    }


def reply_attributes(reply: ChatReply) -> Mapping[str, str | int]:
    """What a reply tells of its call."""
    model = {"gen_ai.response.model": reply.model} if reply.model else {}
    if reply.usage is None:
        return model
    return {**model, **usage_attributes(reply.usage.input_tokens, reply.usage.output_tokens)}


def usage_attributes(input_tokens: int | None, output_tokens: int | None = None) -> Mapping[str, int]:
    """Tokens as the provider counted them, as far as it did; embeddings have no output."""
    counted = {"gen_ai.usage.input_tokens": input_tokens, "gen_ai.usage.output_tokens": output_tokens}
    return {name: tokens for name, tokens in counted.items() if tokens is not None}
