"""Chat completions with structured output from any provider with OpenAI's interface."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from agentic_rag.adapters.openai.client import provider_failure
from agentic_rag.kernel.errors import Retryable
from agentic_rag.models.chat.request import ChatReply, ChatRequest, ChatUsage, FinishReason

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class OpenAIChatModel:
    """Implements `models.chat.ports.ChatModel`. Owns `client` (see `open_client`).

    `temperature` None leaves it to the provider: some models refuse any value but their default.
    """

    def __init__(self, client: AsyncOpenAI, model: str, *, temperature: float | None = None) -> None:
        self._client = client
        self._model = model
        self._temperature = temperature

    @property
    def name(self) -> str:
        return self._model

    async def complete(self, request: ChatRequest) -> ChatReply:
        """One exchange. Errors: those of `provider_failure`, `Retryable` (PROVIDER_BAD_RESPONSE)."""
        import openai

        try:
            # The raw body is parsed here, because the client's models accept malformed answers silently.
            response = await self._client.chat.completions.with_raw_response.create(
                model=self._model,
                messages=[
                    {"role": "system", "content": request.system},
                    {"role": "user", "content": request.user},
                ],
                response_format={
                    "type": "json_schema",
                    "json_schema": {
                        "name": request.reply_schema.name,
                        "strict": True,
                        "schema": dict(request.reply_schema.schema),
                    },
                },
                temperature=openai.omit if self._temperature is None else self._temperature,
            )
        except openai.OpenAIError as error:
            raise provider_failure(error) from error
        return _reply(response.content)

    async def aclose(self) -> None:
        await self._client.close()


def _reply(body: bytes) -> ChatReply:
    """The reply in a response body. Errors: `Retryable` (PROVIDER_BAD_RESPONSE)."""
    try:
        parsed = cast(dict[str, Any], json.loads(body))
        choice = cast(dict[str, Any], parsed["choices"][0])
        message = cast(dict[str, Any], choice["message"])
        content = message.get("content")
        if content is not None and not isinstance(content, str):
            raise TypeError("content is no text")
        usage = _usage(parsed.get("usage"))
        end = _end(content or "", message.get("refusal"), choice.get("finish_reason"))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise Retryable(
            "The provider's reply is not a chat completion; try again.", code="PROVIDER_BAD_RESPONSE"
        ) from error
    return ChatReply(content or "", usage, end)


def _end(content: str, refusal: object, finish: object) -> FinishReason:
    if refusal or finish == "content_filter":
        return FinishReason.REFUSED
    if finish == "length":
        return FinishReason.TRUNCATED
    return FinishReason.COMPLETE if content.strip() else FinishReason.EMPTY


def _usage(given: Any) -> ChatUsage | None:
    if given is None:
        return None
    return ChatUsage(max(0, int(given["prompt_tokens"])), max(0, int(given["completion_tokens"])))
