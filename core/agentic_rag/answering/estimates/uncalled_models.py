"""The models of a workspace as they are estimated with: providers are not called, and each call that would be made is
noted. Models on this machine work as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from agentic_rag.answering.prompts.hyde import hyde_prompt
from agentic_rag.answering.state_machine import Stage
from agentic_rag.kernel.clock import Deadline
from agentic_rag.kernel.errors import Permanent
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.billing.prices import PriceTable
from agentic_rag.models.chat.request import ChatSpend, ChatTask, LlmError, LlmResult
from agentic_rag.models.embedding.ports import Embedder, Embedders, EmbedderSource
from agentic_rag.models.embedding.space import EmbeddingSpace, SpaceChoice
from agentic_rag.models.providers.llm_client import ESTIMATED, LlmClient, LlmClients
from agentic_rag.tenancy.principals import WorkspaceRef

STAGES = {
    ChatTask.REWRITE: Stage.PLAN,
    ChatTask.PLAN: Stage.PLAN,
    ChatTask.HYDE: Stage.HYDE,
    ChatTask.SYNTHESIZE: Stage.SYNTHESIZE,
    ChatTask.JUDGE: Stage.SELF_CHECK,
}
"""The stage of a run in which each task is done."""


@dataclass(slots=True)
class CallTally:
    """The calls of one question that would be made, by stage."""

    spent: dict[Stage, ChatSpend] = field(default_factory=dict[Stage, ChatSpend])
    unpriced: bool = False
    """A model whose price is not known would be called."""

    def note(self, stage: Stage, spend: ChatSpend) -> None:
        """Add a call."""
        self.unpriced = self.unpriced or spend.cost_usd is None
        before = self.spent.get(stage)
        self.spent[stage] = spend if before is None else before.plus(spend)

    def note_task(self, task: ChatTask, spend: ChatSpend) -> None:
        """Add a call of a chat model."""
        self.note(STAGES[task], spend)


@dataclass(frozen=True, slots=True)
class UncalledClients:
    """Implements `models.providers.llm_client.LlmClients` and `answering.ports.HypotheticalPassages` over those of the
    process: nothing is asked.
    """

    inner: LlmClients
    tally: CallTally

    async def client_for(self, workspace: WorkspaceRef) -> LlmClient | None:
        """The workspace's client, which estimates. Errors: as `inner`."""
        found = await self.inner.client_for(workspace)
        return None if found is None else found.estimating(self.tally.note_task)

    async def write(self, workspace: WorkspaceRef, question: str, deadline: Deadline) -> LlmResult[str] | LlmError:
        """No passage; the call is noted."""
        client = await self.client_for(workspace)
        return ESTIMATED if client is None else await client.ask(lambda nonce: hyde_prompt(question, nonce), deadline)


@dataclass(frozen=True, slots=True)
class UncalledSource:
    """Implements `models.embedding.ports.EmbedderSource` over that of the process."""

    inner: EmbedderSource
    prices: PriceTable
    tally: CallTally

    async def of(self, workspace: WorkspaceRef) -> Embedders:
        """The embedders of a workspace. Errors: as `inner`."""
        return _UncalledEmbedders(await self.inner.of(workspace), self.prices, self.tally)

    async def admit(self, workspace: WorkspaceRef) -> None:
        """Admit all work: estimating is free."""

    async def is_billed(self, workspace: WorkspaceRef) -> bool:
        """As `inner`."""
        return await self.inner.is_billed(workspace)


@dataclass(frozen=True, slots=True)
class _UncalledEmbedders:
    inner: Embedders
    prices: PriceTable
    tally: CallTally

    @property
    def default(self) -> Embedder:
        return self._uncalled(self.inner.default)

    def for_space(self, space: EmbeddingSpace) -> Embedder:
        return self._uncalled(self.inner.for_space(space))

    def resolve_space(self, choice: SpaceChoice) -> EmbeddingSpace:
        return self.inner.resolve_space(choice)

    def _uncalled(self, embedder: Embedder) -> Embedder:
        if embedder.space.is_local:
            return embedder
        price = self.prices.of_space(embedder.space)
        return _UncalledEmbedder(
            embedder.space,
            embedder.batch_size,
            lambda tokens: self.tally.note(
                Stage.EMBED, ChatSpend(1, tokens, 0, None if price is None else price.of(tokens))
            ),
        )


@dataclass(frozen=True, slots=True)
class _UncalledEmbedder:
    """Fails as one whose provider is away, so that the search goes on by words and graph."""

    space: EmbeddingSpace
    batch_size: int
    note: Callable[[int], None]

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Errors: `Permanent`, always."""
        self.note(sum(map(estimate_tokens, texts)))
        raise Permanent("An estimate calls no provider.", code=ESTIMATED.code)

    async def aclose(self) -> None:
        """Nothing is open."""
