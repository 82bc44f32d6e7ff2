"""Calls a chat model for structured output."""

from __future__ import annotations

from typing import Protocol

from agentic_rag.models.chat.request import ChatReply, ChatRequest


class ChatModel(Protocol):
    """One model of one provider.

    Errors: `Retryable` (rate limit with its wait, time-out, 5xx, an unreadable answer), `Permanent` (rejected key,
    refused request).
    """

    @property
    def name(self) -> str:
        """The model's name as recorded in runs and cache keys."""
        ...

    async def complete(self, request: ChatRequest) -> ChatReply:
        """One exchange. The reply is not validated against the schema."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...
