"""Hypothetical passages from the chat model, in this process."""

from __future__ import annotations

from agentic_rag.answering.prompts.hyde import hyde_consultation
from agentic_rag.kernel.deadline import Deadline
from agentic_rag.models.chat.request import Fault, Told
from agentic_rag.models.providers.llm_client import Advisor
from agentic_rag.tenancy.principals import WorkspaceRef


class ModelPassages:
    """Implements `answering.ports.HypotheticalPassages`."""

    def __init__(self, advisor: Advisor) -> None:
        self._advisor = advisor

    async def write(self, workspace: WorkspaceRef, question: str, deadline: Deadline) -> Told[str] | Fault:
        """A passage for `question`."""
        return await self._advisor.ask(lambda nonce: hyde_consultation(question, nonce), deadline)
