"""Hypothetical passages from the chat model, in this process."""

from __future__ import annotations

from agentic_rag.app.advisor import Advisor
from agentic_rag.domain.chat import Fault, Told
from agentic_rag.domain.pipeline import Budget
from agentic_rag.domain.prompts.hyde import hyde_consultation
from agentic_rag.domain.tenancy import WorkspaceRef


class ModelPassages:
    """Implements `ports.HypotheticalPassages`."""

    def __init__(self, advisor: Advisor) -> None:
        self._advisor = advisor

    async def write(self, workspace: WorkspaceRef, question: str, budget: Budget) -> Told[str] | Fault:
        """A passage for `question`."""
        return await self._advisor.ask(lambda nonce: hyde_consultation(question, nonce), budget)
