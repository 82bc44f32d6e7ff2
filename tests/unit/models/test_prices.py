"""What a model costs: published, or as the operator says."""

from __future__ import annotations

import pytest

from agentic_rag.models.billing.prices import FREE, PUBLISHED, PriceTable, TokenPrice, parse_prices


def test_the_operators_price_goes_before_the_published_one() -> None:
    table = PriceTable(parse_prices("gpt-4o=1/2, compatible:llama3.1:8b = 0.05/0.1, my-embedder=0.01"))

    assert table.of("openai", "gpt-4o") == TokenPrice(1, 2)
    assert table.of("compatible", "llama3.1:8b") == TokenPrice(0.05, 0.1)
    assert table.of("compatible", "my-embedder") == TokenPrice(0.01, 0.0)
    assert table.of("openai", "gpt-4o-mini") == PUBLISHED["gpt-4o-mini"]


def test_a_price_for_one_provider_is_none_for_another() -> None:
    table = PriceTable(parse_prices("compatible:gpt-4o=0/0"))

    assert table.of("compatible", "gpt-4o") == FREE
    assert table.of("openai", "gpt-4o") == PUBLISHED["gpt-4o"]


def test_what_nobody_priced_is_unknown_rather_than_free() -> None:
    assert PriceTable().of("compatible", "llama3") is None
    assert PriceTable().of("deterministic", "anything") == FREE


@pytest.mark.parametrize("text", ["gpt-4o", "gpt-4o=", "=1", "gpt-4o=1/2/3", "gpt-4o=-1", "gpt-4o=nan", "gpt-4o=a/b"])
def test_what_cannot_be_read_names_its_entry(text: str) -> None:
    with pytest.raises(ValueError, match=r"MODEL=INPUT/OUTPUT"):
        parse_prices(f"ok=1,{text}")
