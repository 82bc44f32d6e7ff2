"""Hypothetical passages from the chat model, in this process."""

from __future__ import annotations

from agentic_rag.answering.prompts.hyde import hyde_prompt
from agentic_rag.kernel.clock import Deadline
from agentic_rag.models.chat.request import LlmError, LlmResult
from agentic_rag.models.providers.llm_client import LlmClient
from agentic_rag.tenancy.principals import WorkspaceRef


class ModelPassages:
    """Implements `answering.ports.HypotheticalPassages`."""

    def __init__(self, advisor: LlmClient) -> None:
        self._advisor = advisor

    async def write(self, workspace: WorkspaceRef, question: str, deadline: Deadline) -> LlmResult[str] | LlmError:
        """A passage for `question`."""
        return await self._advisor.ask(lambda nonce: hyde_prompt(question, nonce), deadline)
