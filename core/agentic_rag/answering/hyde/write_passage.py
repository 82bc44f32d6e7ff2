"""The work of a HYDE job: write the passage that an answer waits for."""

from __future__ import annotations

from agentic_rag.answering.ports import PassageExchange
from agentic_rag.answering.prompts.hyde import hyde_prompt
from agentic_rag.models.chat.request import LlmError
from agentic_rag.models.providers.llm_client import LlmClients
from agentic_rag.tenancy.principals import WorkspaceRef

NO_LLM = LlmError("CHAT_MODEL_MISSING")
KEEP_SECONDS = 10.0
"""How long a passage can be collected: longer than two clocks may differ about the wait."""


class WritePassage:
    """Without `llm_clients` this process has no chat model; the waiting answer learns it at once."""

    def __init__(self, exchange: PassageExchange, llm_clients: LlmClients | None) -> None:
        self._exchange = exchange
        self._llm_clients = llm_clients

    async def run(self, workspace: WorkspaceRef, key: str) -> None:
        """Write for the exchange `key` with the workspace's model, unless nobody waits any more. Errors:
        `DependencyUnavailable`, those of `LlmClients`.
        """
        request = await self._exchange.pending_request(key)
        if request is None:
            return
        llm = None if self._llm_clients is None else await self._llm_clients.client_for(workspace)
        if llm is None:
            await self._exchange.give(key, NO_LLM, KEEP_SECONDS)
            return
        written = await llm.ask_within(lambda nonce: hyde_prompt(request.question, nonce), request.seconds_left)
        await self._exchange.give(key, written, KEEP_SECONDS)
