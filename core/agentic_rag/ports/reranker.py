"""Puts the first candidates of retrieval into another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agentic_rag.domain.evidence import Passage


class Reranker(Protocol):
    """A model, or a server, that judges passages against the question. Without one the order of fusion stands, which
    holds the learned part already (`domain.bridge.StepWeights`).

    Whatever it raises, and whatever comes too late or in the wrong number, leaves the order as it was and marks the
    answer as degraded (RERANKER).
    """

    @property
    def name(self) -> str:
        """What answers made with it are told apart by; another name when it would judge otherwise."""
        ...

    @property
    def depth(self) -> int:
        """How many of the first candidates it wants to see, at least 1."""
        ...

    async def scores(self, question: str, passages: Sequence[Passage]) -> Sequence[float]:
        """One finite figure per passage, the higher the better; passages come best first. Each has its text, its title,
        its fused score and what every arm gave it. May be cancelled.
        """
        ...
