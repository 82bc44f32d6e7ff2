"""Chat completions with structured output from any provider with OpenAI's interface."""

from __future__ import annotations

import enum
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from agentic_rag.adapters.openai.client import provider_failure
from agentic_rag.kernel.errors import Retryable
from agentic_rag.models.chat.request import ChatReply, ChatRequest, ChatUsage, FinishReason

if TYPE_CHECKING:
    from openai import AsyncOpenAI

FORMAT_KNOWN_SECONDS = 600.0
"""Seconds for which the reply format that a server took is remembered."""
REFUSAL_KNOWN_SECONDS = 30.0
"""Seconds without other formats after a server refused all of them: the request itself may have been at fault."""

MODEL_NAME_CHARS = 200
"""A model's name in a reply is cut after these: it is the server's own text, and it is kept on spans."""


class ReplyFormat(enum.Enum):
    """How a server is asked for JSON, the strictest first."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    WORDS = "words"


class OpenAIChatModel:
    """Implements `models.chat.ports.ChatModel`. Owns `client` (see `open_client`).

    `temperature` None leaves it to the provider: some models refuse any value but their default. A server that refuses
    a request (HTTP 400) gets it again in the next reply format, with the schema in words.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        model: str,
        *,
        temperature: float | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._model = model
        self._temperature = temperature
        self._monotonic = monotonic
        self._formats: tuple[ReplyFormat, ...] = ()
        self._formats_until = float("-inf")

    @property
    def name(self) -> str:
        return self._model

    async def complete(self, request: ChatRequest) -> ChatReply:
        """One exchange. Errors: those of `provider_failure`, `Retryable` (PROVIDER_BAD_RESPONSE)."""
        import openai

        known = self._formats if self._monotonic() < self._formats_until else ()
        formats = known or tuple(ReplyFormat)
        for reply_format in formats[:-1]:
            try:
                body = await self._post(request, reply_format)
            except openai.BadRequestError:
                continue
            except openai.OpenAIError as error:
                raise provider_failure(error) from error
            self._remember(reply_format, known)
            return _reply(body)
        try:
            body = await self._post(request, formats[-1])
        except openai.OpenAIError as error:
            if isinstance(error, openai.BadRequestError):
                self._remember(ReplyFormat.JSON_SCHEMA, known, REFUSAL_KNOWN_SECONDS)
            raise provider_failure(error) from error
        self._remember(formats[-1], known)
        return _reply(body)

    async def _post(self, request: ChatRequest, reply_format: ReplyFormat) -> bytes:
        """The raw body: the client's models accept malformed answers silently."""
        import openai

        form, wanted, system = request.reply_schema, openai.omit, request.system
        schema = dict(form.schema)
        match reply_format:
            case ReplyFormat.JSON_SCHEMA:
                wanted = {"type": "json_schema", "json_schema": {"name": form.name, "strict": True, "schema": schema}}
            case ReplyFormat.JSON_OBJECT:
                wanted = {"type": "json_object"}
            case ReplyFormat.WORDS:
                pass
        if reply_format is not ReplyFormat.JSON_SCHEMA:
            written = json.dumps({"title": form.name, **schema}, ensure_ascii=False)
            system = f"{system}\n\nReply with one JSON object and nothing else. Its JSON schema: {written}"
        response = await self._client.chat.completions.with_raw_response.create(
            model=self._model,
            messages=[{"role": "system", "content": system}, {"role": "user", "content": request.user}],
            response_format=cast("Any", wanted),
            temperature=openai.omit if self._temperature is None else self._temperature,
        )
        return response.content

    def _remember(
        self, taken: ReplyFormat, known: tuple[ReplyFormat, ...], seconds: float = FORMAT_KNOWN_SECONDS
    ) -> None:
        """Ask in this format alone for `seconds` from when it was found."""
        if not known:
            self._formats, self._formats_until = (taken,), self._monotonic() + seconds

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
        model = parsed.get("model")
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise Retryable(
            "The provider's reply is not a chat completion; try again.", code="PROVIDER_BAD_RESPONSE"
        ) from error
    return ChatReply(content or "", usage, end, model[:MODEL_NAME_CHARS] if isinstance(model, str) else "")


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
