"""Entities of new chunks with a chat model's help, one call a chunk; chunks it fails for keep those found by rule."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from agentic_rag.answering.prompts.extract import ClaimedGraph, extract_prompt
from agentic_rag.ingestion.ports import NewChunk
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.language.quote_matching import locate_quote
from agentic_rag.models.chat.request import LlmError, LlmResult
from agentic_rag.models.providers.llm_client import LlmClient, LlmClients
from agentic_rag.retrieval.candidates import ChunkEntities, ExtractedEntity
from agentic_rag.retrieval.graph.entities import ENTITY_CAP, PAIR_CAP, entity_id_for, entity_key, is_entity_key
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


_NAME_PART_KIND = "part"
"""Words of names found by rule give way to names that a model found."""


def add_llm_entities(workspace_id: UUID, text: str, rules: ChunkEntities, claimed: ClaimedGraph) -> ChunkEntities:
    """The entities of both, at most as many as of rules alone; related pairs of the model first."""
    known = {entity.key for entity in rules.entities}
    added: dict[str, ExtractedEntity] = {}
    for name in claimed.names:
        key = entity_key(name)
        if key not in known and is_entity_key(key) and locate_quote(name, text) is not None:
            added.setdefault(key, ExtractedEntity(entity_id_for(workspace_id, key), key, name, "name", 1))
    strong = [entity for entity in rules.entities if entity.kind != _NAME_PART_KIND]
    weak = [entity for entity in rules.entities if entity.kind == _NAME_PART_KIND]
    entities = tuple((*strong, *added.values(), *weak))[:ENTITY_CAP]
    places = {entity.key: place for place, entity in enumerate(entities)}
    related = [(entity_key(one), entity_key(other)) for one, other in claimed.relations]
    beside = [(rules.entities[one].key, rules.entities[other].key) for one, other in rules.pairs]
    return ChunkEntities(entities, _pairs(entities, places, (*related, *beside)))


def _pairs(
    entities: Sequence[ExtractedEntity], places: Mapping[str, int], related: Sequence[tuple[str, str]]
) -> tuple[tuple[int, int], ...]:
    """Positions, the smaller id first, each pair once."""
    found: dict[tuple[int, int], None] = {}
    for one, other in related:
        if one in places and other in places and one != other:
            first, second = sorted((places[one], places[other]), key=lambda place: entities[place].entity_id.int)
            found[first, second] = None
    return tuple(found)[:PAIR_CAP]
