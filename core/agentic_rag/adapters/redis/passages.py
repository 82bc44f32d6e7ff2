"""Exchange of hypothetical passages between a worker and the answer that waits for them."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, cast

import orjson

from agentic_rag.adapters.redis.connection import redis_errors, waiting_client
from agentic_rag.answering.ports import PassageRequest
from agentic_rag.models.chat.request import LlmError, LlmResult


class RedisPassageExchange:
    """`answering.ports.PassageExchange`: a key that expires with the wait holds the question, a list the result."""

    def __init__(self, url: str, *, prefix: str = "agentic-rag") -> None:
        self._client = waiting_client(url)
        self._prefix = prefix

    async def ask(self, key: str, question: str, seconds: float) -> None:
        with redis_errors():
            await self._client.set(self._question(key), question.encode(), px=_milliseconds(seconds))

    async def pending_request(self, key: str) -> PassageRequest | None:
        with redis_errors():
            async with self._client.pipeline(transaction=True) as commands:
                commands.get(self._question(key))
                commands.pttl(self._question(key))
                found: Any = await commands.execute()
        question, left = found
        return None if question is None else PassageRequest(question.decode(), left / 1000)

    async def give(self, key: str, passage: LlmResult[str] | LlmError, seconds: float) -> None:
        value = {"fault": passage.code} if isinstance(passage, LlmError) else {"text": passage.value}
        with redis_errors():
            async with self._client.pipeline(transaction=True) as commands:
                commands.rpush(self._passage(key), orjson.dumps(value))
                commands.pexpire(self._passage(key), _milliseconds(seconds))
                await commands.execute()

    async def wait(self, key: str) -> LlmResult[str] | LlmError:
        with redis_errors():
            found: Any = await cast(Awaitable[Any], self._client.blpop([self._passage(key)], timeout=0))
        value = orjson.loads(found[1])
        return LlmResult(value["text"]) if "text" in value else LlmError(value["fault"])

    async def aclose(self) -> None:
        await self._client.aclose(close_connection_pool=True)

    def _question(self, key: str) -> str:
        return f"{self._prefix}:hyde:{{{key}}}:question"

    def _passage(self, key: str) -> str:
        return f"{self._prefix}:hyde:{{{key}}}:passage"


def _milliseconds(seconds: float) -> int:
    return max(1, int(seconds * 1000))
