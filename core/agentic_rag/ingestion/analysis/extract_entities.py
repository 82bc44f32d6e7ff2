"""Entities of new chunks with a chat model's help, one call a chunk; chunks it fails for keep those found by rule."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agentic_rag.answering.prompts.extract import extract_prompt
from agentic_rag.ingestion.analysis.llm_entities import ClaimedGraph, add_llm_entities
from agentic_rag.ingestion.ports import NewChunk
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.models.chat.request import LlmError, LlmResult
from agentic_rag.models.providers.llm_client import LlmClient, LlmClients
from agentic_rag.tenancy.principals import WorkspaceRef

CONCURRENT_CALLS = 4
"""Of one document; as many as embedding allows itself."""


PATIENCE_SECONDS = 60.0
"""How long one document waits for a model that fails, from its first fault on: well below what an ingestion may stand
still. What is left then keeps the entities of the rules.
"""

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 8.0

TRANSIENT = frozenset(
    {"PROVIDER_RATE_LIMITED", "PROVIDER_UNAVAILABLE", "PROVIDER_BAD_RESPONSE", "CHAT_NO_TIME", "CHAT_RESTING"}
)
"""Faults that pass; `CHAT_RESTING` while the advisor honours the provider's own wish to be left alone."""


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """Chunks with their entities, and by whom these were found."""

    chunks: tuple[NewChunk, ...]
    model: str
    by_rules: int
    """Chunks that the model failed for."""
    fault: str | None = None
    """Why it failed for the last of them."""

    def provenance(self) -> Mapping[str, str]:
        """As a document shows it."""
        return {
            "entities_model": self.model,
            "entities_by_rules": str(self.by_rules),
            "entities_fault": self.fault or "",
        }


class _RetryBudget:
    """The time that one document waits, from its first fault on."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends: float | None = None

    async def pause(self, tries: int) -> bool:
        """Wait before another try, with jitter; False when the time is over."""
        now = asyncio.get_running_loop().time()
        if self._ends is None:
            self._ends = now + self._seconds
        longest = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2**tries)
        left = self._ends - now
        if left <= 0:
            return False
        await asyncio.sleep(min(left, longest * random.uniform(0.5, 1.0)))
        return True


class ExtractEntities:
    """Reads new chunks; what did not change keeps its entities."""

    def __init__(self, advisors: LlmClients, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._advisors = advisors
        self._patience = patience_seconds

    async def read(
        self, workspace: WorkspaceRef, title: str, chunks: Sequence[NewChunk], progress: JobProgress
    ) -> ExtractionResult | None:
        """The chunks with what the model finds besides; None for a workspace without a chat model."""
        advisor = await self._advisors.client_for(workspace)
        if advisor is None:
            return None
        slots = asyncio.Semaphore(CONCURRENT_CALLS)
        patience = _RetryBudget(self._patience)

        async def one(chunk: NewChunk) -> tuple[NewChunk, str | None]:
            async with slots:
                claimed = await _extract_graph(advisor, patience, title, chunk.draft.text)
            progress.advance()
            if isinstance(claimed, LlmError):
                return chunk, claimed.code
            found = add_llm_entities(workspace.workspace_id, chunk.draft.text, chunk.entities, claimed.value)
            return replace(chunk, entities=found), None

        read = await asyncio.gather(*map(one, chunks))
        faults = [fault for _, fault in read if fault is not None]
        return ExtractionResult(
            tuple(chunk for chunk, _ in read), advisor.model, len(faults), faults[-1] if faults else None
        )


async def _extract_graph(
    advisor: LlmClient, patience: _RetryBudget, title: str, text: str
) -> LlmResult[ClaimedGraph] | LlmError:
    """What the model lists of a chunk; a fault that passes is waited for while the document's patience lasts."""
    tries = 0
    while True:
        claimed = await advisor.ask_within(lambda nonce: extract_prompt(title, text, nonce), float("inf"))
        if not isinstance(claimed, LlmError) or claimed.code not in TRANSIENT or not await patience.pause(tries):
            return claimed
        tries += 1
