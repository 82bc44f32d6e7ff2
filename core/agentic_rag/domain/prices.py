"""List prices of models, for estimates, budgets and the usage ledger; what a provider charges is on its bill.

USD per million tokens, without batch, cache or long-prompt rates, read on 2026-11-21:

- OpenAI's models: https://developers.openai.com/api/docs/pricing
- gemini-embedding-001: https://ai.google.dev/gemini-api/docs/pricing
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from agentic_rag.domain.spaces import EmbeddingSpace

USD_PER_MILLION_TOKENS: Mapping[str, float] = MappingProxyType(
    {
        "text-embedding-3-small": 0.02,
        "text-embedding-3-large": 0.13,
        "text-embedding-ada-002": 0.10,
        "gemini-embedding-001": 0.15,
    }
)
PRICED_ON = date(2026, 11, 21)
"""When the tables were read."""


@dataclass(frozen=True, slots=True)
class ChatPrice:
    """USD per million tokens."""

    input_usd: float
    output_usd: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """What a call cost, in US dollars."""
        return (input_tokens * self.input_usd + output_tokens * self.output_usd) / 1_000_000


CHAT_PRICES: Mapping[str, ChatPrice] = MappingProxyType(
    {
        "gpt-4o": ChatPrice(2.50, 10.00),
        "gpt-4o-mini": ChatPrice(0.15, 0.60),
        "gpt-4.1": ChatPrice(2.00, 8.00),
        "gpt-5-mini": ChatPrice(0.25, 2.00),
    }
)
"""Of models whose price was found stated; calls of others are counted as unpriced."""
FREE_PROVIDERS = frozenset({"deterministic", "onnx"})
"""Computed on this machine."""


def price_per_million(space: EmbeddingSpace) -> float | None:
    """USD for a million tokens of a space's model; None when its price is not known."""
    if space.provider in FREE_PROVIDERS:
        return 0.0
    return USD_PER_MILLION_TOKENS.get(space.model.removeprefix("models/"))
