"""List prices of embedding models, for estimates; what a provider charges is on its bill.

USD per million input tokens, without batch discounts, read on 2026-11-21:

- OpenAI's models: https://developers.openai.com/api/docs/pricing
- gemini-embedding-001: https://ai.google.dev/gemini-api/docs/pricing
"""

from __future__ import annotations

from collections.abc import Mapping
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
FREE_PROVIDERS = frozenset({"deterministic", "onnx"})
"""Computed on this machine."""


def price_per_million(space: EmbeddingSpace) -> float | None:
    """USD for a million tokens of a space's model; None when its price is not known."""
    if space.provider in FREE_PROVIDERS:
        return 0.0
    return USD_PER_MILLION_TOKENS.get(space.model.removeprefix("models/"))
