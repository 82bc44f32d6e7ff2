"""Writes passages that would answer a question, for HyDE."""

from __future__ import annotations

from typing import Protocol

from agentic_rag.domain.chat import Fault, Told
from agentic_rag.domain.pipeline import Budget
from agentic_rag.domain.tenancy import WorkspaceRef


class HypotheticalPassages(Protocol):
    """Never raises for lack of a model, a worker or time: that is a `Fault`."""

    async def write(self, workspace: WorkspaceRef, question: str, budget: Budget) -> Told[str] | Fault:
        """A passage for `question`, within its task's share of the time left."""
        ...
