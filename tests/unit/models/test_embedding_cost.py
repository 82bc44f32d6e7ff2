"""What embedding costs, before and after."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.models.billing.embedding_cost import PROVENANCE_KEYS, EmbeddingCost, compute_embedding_cost, read_cost
from agentic_rag.models.billing.prices import FREE, PriceTable, TokenPrice
from agentic_rag.models.embedding.space import EmbeddingSpace

SMALL = EmbeddingSpace("openai", "text-embedding-3-small", 1536)
COUNTS = st.integers(0, 10_000_000)


def test_the_price_is_per_million_tokens_of_what_is_not_reused() -> None:
    cost = compute_embedding_cost([2, 1], [3], SMALL, TokenPrice(0.02))

    assert (cost.chunks, cost.tokens, cost.reused_chunks, cost.reused_tokens) == (2, 3, 1, 3)
    assert cost.cost_usd == pytest.approx(3 * 0.02 / 1_000_000)
    assert cost.estimated_cost_usd == pytest.approx(6 * 0.02 / 1_000_000)


@pytest.mark.parametrize(
    ("space", "price"),
    [
        (SMALL, TokenPrice(0.02)),
        (EmbeddingSpace("openai", "text-embedding-3-large", 3072), TokenPrice(0.13)),
        (EmbeddingSpace("openai", "models/gemini-embedding-001", 768), TokenPrice(0.15)),
        (EmbeddingSpace("deterministic", "hashed-ngrams-v1", 384), FREE),
        (EmbeddingSpace("openai", "a-model-of-our-own", 768), None),
    ],
)
def test_a_price_is_known_nothing_or_unknown(space: EmbeddingSpace, price: TokenPrice | None) -> None:
    cost = compute_embedding_cost([1], [], space, PriceTable().of_space(space))

    assert PriceTable().of_space(space) == price
    assert (cost.cost_usd is None) == (price is None)


@given(COUNTS, COUNTS, COUNTS, COUNTS, st.sampled_from([None, 0.0, 0.02, 0.13]))
def test_what_is_recorded_is_what_is_read_back(
    chunks: int, tokens: int, reused: int, reused_tokens: int, price: float | None
) -> None:
    usd, full_usd = (None, None) if price is None else (tokens * price / 1e6, (tokens + reused_tokens) * price / 1e6)
    cost = EmbeddingCost(SMALL.name, chunks, tokens, reused, reused_tokens, usd, full_usd)

    kept = read_cost({"source": "elsewhere", **cost.provenance()})

    assert kept is not None
    assert (kept.space, kept.chunks, kept.tokens) == (SMALL.name, chunks, tokens)
    assert (kept.reused_chunks, kept.reused_tokens) == (reused, reused_tokens)
    assert kept.cost_usd == (None if usd is None else pytest.approx(usd, abs=1e-8))
    assert kept.estimated_cost_usd == (None if full_usd is None else pytest.approx(full_usd, abs=1e-8))
    assert cost.provenance().keys() <= PROVENANCE_KEYS


def test_a_document_that_was_never_published_has_no_cost() -> None:
    assert read_cost({"source": "directory"}) is None
    assert read_cost({**EmbeddingCost("s", 1, 1, 0, 0).provenance(), "embedding_chunks": "many"}) is None
