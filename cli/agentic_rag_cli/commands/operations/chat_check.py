"""The chat model check of `rag doctor`: one small request in the same form as all others."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from agentic_rag.answering.prompts.probe import PROBE, read_probe
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.models.billing.prices import PLATFORM
from agentic_rag.models.chat.ports import ChatModel
from agentic_rag.models.chat.request import ChatReply, FinishReason, ReplyInvalid
from agentic_rag.settings import Settings
from agentic_rag_cli.commands.operations.check import DEGRADED, Check, ok

MOST_SECONDS = 20.0
"""Upper bound on the wait, whatever the time-out of answers."""

_REMEDIES = {
    "PROVIDER_KEY_REJECTED": "Correct OPENAI_API_KEY.",
    "PROVIDER_RATE_LIMITED": "Wait, or raise the key's limit at the provider.",
    "CHAT_REPLY_INVALID": "Take a model with structured output (AGENTIC_RAG_CHAT_MODEL).",
}
_REMEDY = "Correct AGENTIC_RAG_CHAT_MODEL or OPENAI_BASE_URL, or see the provider's state."


async def check_chat(settings: Settings) -> Check:
    """The configured model answers in the requested form. Without it rules do all tasks, so this is not a failure."""
    from agentic_rag.bootstrap import open_chat_model

    seconds = min(settings.models.timeout_seconds, MOST_SECONDS)
    async with aclosing(open_chat_model(settings)) as model:
        return await _probe(model, settings, seconds)


async def _probe(model: ChatModel, settings: Settings, seconds: float) -> Check:
    try:
        async with asyncio.timeout(seconds):
            reply = await model.complete(PROBE)
    except TimeoutError:
        return _warning(
            "CHAT_NO_TIME",
            f"{model.name} gave no answer within {seconds:g} s",
            "See the provider's state, or raise AGENTIC_RAG_PROVIDER_TIMEOUT_SECONDS.",
        )
    except AgenticRagError as error:
        return _warning(error.code, f"{model.name}: {error.message}", _REMEDIES.get(error.code, _REMEDY))
    return _judge_reply(model.name, reply, _cost(reply, settings))


def _judge_reply(name: str, reply: ChatReply, cost: str) -> Check:
    if reply.finish_reason is not FinishReason.COMPLETE:
        return _warning(reply.finish_reason.value, f"{name} ended without a reply ({cost})", _REMEDY)
    try:
        read_probe(reply.text)
    except ReplyInvalid as error:
        detail = f"{name} does not keep to the form it is given: {error.message} ({cost})"
        return _warning(error.code, detail, _REMEDIES[error.code])
    return ok("chat model", f"{name} answers in the form it is given ({cost})")


def _cost(reply: ChatReply, settings: Settings) -> str:
    if reply.usage is None:
        return "the provider counts no tokens"
    tokens = f"{reply.usage.input_tokens} + {reply.usage.output_tokens} tokens"
    price = settings.models.prices.of(PLATFORM, settings.models.chat_model)
    usd = 0.0 if price is None else price.of(reply.usage.input_tokens, reply.usage.output_tokens)
    return f"{tokens}, {usd:.6f} USD" if usd else f"{tokens}, price not known"


def _warning(code: str, detail: str, remedy: str) -> Check:
    return Check("chat model", DEGRADED, detail, code, remedy)
