"""The body of HYDE jobs: write the passage that an answer waits for."""

from __future__ import annotations

from agentic_rag.answering.ports import PassageExchange
from agentic_rag.answering.prompts.hyde import hyde_prompt
from agentic_rag.models.chat.request import LlmError
from agentic_rag.models.providers.llm_client import LlmClients
from agentic_rag.tenancy.principals import WorkspaceRef

NO_LLM = LlmError("CHAT_MODEL_MISSING")
KEEP_SECONDS = 10.0
"""How long a passage is there to be taken; longer than the difference of any two clocks' ideas of the wait."""


class WritePassage:
    """`advisors` None: this process has no chat model, which the answer is told at once."""

    def __init__(self, exchange: PassageExchange, advisors: LlmClients | None) -> None:
        self._exchange = exchange
        self._advisors = advisors

    async def run(self, workspace: WorkspaceRef, key: str) -> None:
        """Write for the exchange `key` with the workspace's model, unless nobody waits any more. Errors:
        `DependencyUnavailable`, those of `Advisors`.
        """
        asked = await self._exchange.pending_request(key)
        if asked is None:
            return
        advisor = None if self._advisors is None else await self._advisors.client_for(workspace)
        if advisor is None:
            await self._exchange.give(key, NO_LLM, KEEP_SECONDS)
            return
        written = await advisor.ask_within(lambda nonce: hyde_prompt(asked.question, nonce), asked.seconds_left)
        await self._exchange.give(key, written, KEEP_SECONDS)
