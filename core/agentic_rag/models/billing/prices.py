"""List prices of models for estimates, budgets and the usage ledger. The provider's bill may differ.

USD per million tokens, without batch, cache or long-prompt rates, read on 2026-11-21:

- OpenAI's models: https://developers.openai.com/api/docs/pricing
- gemini-embedding-001: https://ai.google.dev/gemini-api/docs/pricing
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType

from agentic_rag.models.embedding.space import LOCAL_PROVIDERS, EmbeddingSpace

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """USD per million tokens."""

    input_usd: float
    output_usd: float = 0.0
    """0 for embeddings, which have no output tokens."""

    def of(self, input_tokens: int, output_tokens: int = 0) -> float:
        """The cost of a call in US dollars."""
        return (input_tokens * self.input_usd + output_tokens * self.output_usd) / _MILLION


PUBLISHED: Mapping[str, TokenPrice] = MappingProxyType(
    {
        "text-embedding-3-small": TokenPrice(0.02),
        "text-embedding-3-large": TokenPrice(0.13),
        "text-embedding-ada-002": TokenPrice(0.10),
        "gemini-embedding-001": TokenPrice(0.15),
        "gpt-4o": TokenPrice(2.50, 10.00),
        "gpt-4o-mini": TokenPrice(0.15, 0.60),
        "gpt-4.1": TokenPrice(2.00, 8.00),
        "gpt-5-mini": TokenPrice(0.25, 2.00),
    }
)
"""Models with a published price."""
PRICED_ON = date(2026, 11, 21)
"""The day on which the published prices were read."""
FREE = TokenPrice(0.0)
PLATFORM = "platform"
"""The provider name under which the chat model of the process's own settings is priced and recorded."""


@dataclass(frozen=True, slots=True)
class PriceTable:
    """The published prices; the operator's own prices come first."""

    overrides: Mapping[str, TokenPrice] = field(default_factory=dict[str, TokenPrice])
    """By `PROVIDER:MODEL` (that provider only) or `MODEL` (all providers)."""

    def of(self, provider: str, model: str) -> TokenPrice | None:
        """The price of a model; None when unknown: budgets cannot limit its calls."""
        if provider in LOCAL_PROVIDERS:
            return FREE
        bare = model.removeprefix("models/")
        return self.overrides.get(f"{provider}:{bare}") or self.overrides.get(bare) or PUBLISHED.get(bare)

    def of_space(self, space: EmbeddingSpace) -> TokenPrice | None:
        """The price of a space's model."""
        return self.of(space.provider, space.model)


def parse_prices(text: str) -> Mapping[str, TokenPrice]:
    """Parse `MODEL=INPUT[/OUTPUT],…`. Errors: `ValueError`, naming the invalid entry."""
    found: dict[str, TokenPrice] = {}
    for entry in filter(None, map(str.strip, text.split(","))):
        name, _, amounts = entry.rpartition("=")
        try:
            numbers = [float(amount) for amount in amounts.split("/")]
        except ValueError:
            numbers = []
        if (
            not name.strip()
            or len(numbers) not in (1, 2)
            or not all(math.isfinite(one) and one >= 0 for one in numbers)
        ):
            raise ValueError(f"{entry!r}: expected MODEL=INPUT/OUTPUT in US dollars per million tokens")
        found[name.strip()] = TokenPrice(*numbers)
    return MappingProxyType(found)
