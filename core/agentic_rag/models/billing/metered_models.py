"""Metered model calls: a workspace's budgets admit each call, and the ledger records it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentic_rag.kernel.clock import Clock
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.billing.enforce_budgets import EnforceBudgets
from agentic_rag.models.billing.forecast import INPUT_MARGIN, cost_at_most
from agentic_rag.models.billing.prices import FREE, PriceTable, TokenPrice
from agentic_rag.models.billing.usage import Charge, UsageKind
from agentic_rag.models.billing.usage_ledger import UsageLedger
from agentic_rag.models.chat.request import ChatUsage
from agentic_rag.models.embedding.ports import CountingEmbedder, Embedder, Embedders
from agentic_rag.models.embedding.space import EmbeddingSpace, SpaceChoice
from agentic_rag.models.gen_ai import GenAiOperation, request_attributes, usage_attributes
from agentic_rag.tenancy.principals import WorkspaceRef


@dataclass(frozen=True, slots=True)
class UsageMeters:
    """What metered clients work with."""

    budgets: EnforceBudgets
    ledger: UsageLedger
    clock: Clock
    prices: PriceTable


@dataclass(frozen=True, slots=True)
class ChatMeter:
    """Charges a chat model's calls to one workspace."""

    meters: UsageMeters
    workspace: WorkspaceRef
    provider: str
    own_key: bool

    def price_of(self, model: str) -> TokenPrice | None:
        """The price of a model; None when unknown."""
        return self.meters.prices.of(self.provider, model)

    def hold(self, model: str, expected: ChatUsage) -> AbstractAsyncContextManager[None]:
        """Admit a call, and count what it may cost as spent while it goes on. Errors: `BudgetExceeded`."""
        price = self.price_of(model)
        most = None if price is None else cost_at_most(expected, price)
        return self.meters.budgets.hold(self.workspace, most, UsageKind.CHAT)

    def note(self, model: str, usage: ChatUsage) -> float | None:
        """Record a call. Returns its cost in US dollars; None without a price."""
        price = self.price_of(model)
        cost = None if price is None else price.of(usage.input_tokens, usage.output_tokens)
        self.meters.ledger.note(
            Charge(
                workspace=self.workspace,
                day=self.meters.clock.now().date(),
                kind=UsageKind.CHAT,
                provider=self.provider,
                model=model,
                own_key=self.own_key,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cost_usd=cost,
            )
        )
        return cost


@dataclass(frozen=True, slots=True)
class MeteredEmbedders:
    """Implements `models.embedding.ports.Embedders` over `inner`, metered for the workspace. `own_keys` are the
    providers whose key the organisation brought.
    """

    meters: UsageMeters
    workspace: WorkspaceRef
    inner: Embedders
    own_keys: frozenset[str]

    @property
    def default(self) -> Embedder:
        """The embedder of a workspace without vectors."""
        return self._wrap_embedder(self.inner.default)

    def for_space(self, space: EmbeddingSpace) -> Embedder:
        """The embedder of a space."""
        return self._wrap_embedder(self.inner.for_space(space))

    def resolve_space(self, choice: SpaceChoice) -> EmbeddingSpace:
        """The space that a user named."""
        return self.inner.resolve_space(choice)

    def _wrap_embedder(self, embedder: Embedder) -> Embedder:
        if embedder.space.is_local:
            return embedder
        own_key = embedder.space.provider in self.own_keys
        return MeteredEmbedder(self.meters, self.workspace, embedder, own_key=own_key)


@dataclass(frozen=True, slots=True)
class MeteredEmbedder:
    """Implements `models.embedding.ports.Embedder` over a remote one: each call is recorded and, unless it is free,
    must fit the budget. Errors besides those of `inner`: `BudgetExceeded`.
    """

    meters: UsageMeters
    workspace: WorkspaceRef
    inner: Embedder
    own_key: bool

    @property
    def space(self) -> EmbeddingSpace:
        """The space of all vectors of this embedder."""
        return self.inner.space

    @property
    def batch_size(self) -> int:
        """The largest batch worth sending in one call."""
        return self.inner.batch_size

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit-length vectors, shape (len(texts), dimensions), in the order of `texts`."""
        price = self.meters.prices.of_space(self.space)
        estimate = sum(map(estimate_tokens, texts))
        if price == FREE:
            return await self._call(texts, estimate, price)
        most = None if price is None else price.of(round(estimate * INPUT_MARGIN))
        async with self.meters.budgets.hold(self.workspace, most, UsageKind.EMBEDDING):
            return await self._call(texts, estimate, price)

    async def _call(self, texts: Sequence[str], estimate: int, price: TokenPrice | None) -> NDArray[np.float32]:
        called = request_attributes(GenAiOperation.EMBEDDINGS, self.space.provider, self.space.model)
        told = {"rag.provider": self.space.provider, "rag.texts": len(texts), **called}
        with self.meters.ledger.telemetry.span("rag.provider.embed", told) as span:
            vectors, tokens = await _embed_with_usage(self.inner, texts)
            for name, value in usage_attributes(tokens).items():
                span.set(name, value)
        tokens = estimate if tokens is None else tokens
        self.meters.ledger.note(
            Charge(
                workspace=self.workspace,
                day=self.meters.clock.now().date(),
                kind=UsageKind.EMBEDDING,
                provider=self.space.provider,
                model=self.space.model,
                own_key=self.own_key,
                input_tokens=tokens,
                output_tokens=0,
                cost_usd=None if price is None else price.of(tokens),
            )
        )
        return vectors

    async def aclose(self) -> None:
        """Release connections."""
        await self.inner.aclose()


async def _embed_with_usage(embedder: Embedder, texts: Sequence[str]) -> tuple[NDArray[np.float32], int | None]:
    if isinstance(embedder, CountingEmbedder):
        return await embedder.embed_with_usage(texts)
    return await embedder.embed(texts), None
