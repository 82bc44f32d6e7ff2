"""Entities of new chunks with a chat model's help, one call a chunk; chunks it fails for keep those found by rule."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from agentic_rag.app.advisor import Advisors
from agentic_rag.domain.chat import Fault
from agentic_rag.domain.claimed_entities import with_claimed
from agentic_rag.domain.prompts.extract import extract_consultation
from agentic_rag.domain.tenancy import WorkspaceRef
from agentic_rag.ports.publication import NewChunk

CONCURRENT_CALLS = 4
"""Of one document; as many as embedding allows itself."""


class Steps(Protocol):
    """Shows that work moves on."""

    def advance(self) -> None:
        """One more step is done."""
        ...


@dataclass(frozen=True, slots=True)
class Extracted:
    """Chunks with their entities, and by whom these were found."""

    chunks: tuple[NewChunk, ...]
    model: str
    by_rules: int
    """Chunks that the model failed for."""

    def provenance(self) -> Mapping[str, str]:
        """As a document shows it."""
        return {"entities_model": self.model, "entities_by_rules": str(self.by_rules)}


class ModelEntities:
    """Reads new chunks; what did not change keeps its entities."""

    def __init__(self, advisors: Advisors) -> None:
        self._advisors = advisors

    async def read(
        self, workspace: WorkspaceRef, title: str, chunks: Sequence[NewChunk], steps: Steps
    ) -> Extracted | None:
        """The chunks with what the model finds besides; None for a workspace without a chat model."""
        advisor = await self._advisors.advisor_of(workspace)
        if advisor is None:
            return None
        slots = asyncio.Semaphore(CONCURRENT_CALLS)

        async def one(chunk: NewChunk) -> tuple[NewChunk, bool]:
            async with slots:
                claimed = await advisor.ask_within(
                    lambda nonce: extract_consultation(title, chunk.draft.text, nonce), float("inf")
                )
            steps.advance()
            if isinstance(claimed, Fault):
                return chunk, False
            found = with_claimed(workspace.workspace_id, chunk.draft.text, chunk.entities, claimed.value)
            return replace(chunk, entities=found), True

        read = await asyncio.gather(*map(one, chunks))
        return Extracted(tuple(chunk for chunk, _ in read), advisor.model, sum(not told for _, told in read))
