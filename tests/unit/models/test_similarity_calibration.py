"""The scale of similarity thresholds, measured on cosines of questions with known answers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.models.embedding.local_models import LOCAL_MODELS
from agentic_rag.models.embedding.similarity import (
    ANCHORS,
    EXPONENTS,
    PUBLISHED,
    AskedSimilarity,
    calibrate_similarity,
    published_thresholds,
)
from agentic_rag.models.embedding.space import EmbeddingSpace, min_cosine, similarity

NOW = datetime(2026, 11, 23, tzinfo=UTC)
SPACE = EmbeddingSpace("openai", "text-embedding-3-small", 1536)


def asked(cosine: float, first: float | None = None) -> AskedSimilarity:
    return AskedSimilarity((cosine,), first or cosine, is_first_gold=first is None)


def test_the_anchors_keep_their_shares_on_average() -> None:
    spread = [asked(0.3 + place / 250) for place in range(100)]

    found = calibrate_similarity(spread, NOW)

    kept = [one.recall for one in found.thresholds]
    assert sum(kept) / 2 == pytest.approx(sum(share for _, share in ANCHORS) / 2, abs=0.02)
    assert kept[0] > kept[1]
    assert [one.threshold for one in found.thresholds] == [0.7, 0.75]
    assert found.questions == 100


def test_the_first_passages_that_are_of_another_document_cost_precision() -> None:
    mixed = [asked(0.5) for _ in range(30)] + [asked(0.5, first=0.6) for _ in range(10)]

    found = calibrate_similarity(mixed, NOW)

    assert found.thresholds[0].precision == 0.75


def test_where_no_question_gets_a_passage_no_precision_is_told() -> None:
    low = [AskedSimilarity((0.5,), 0.01, is_first_gold=False) for _ in range(20)]

    assert {one.precision for one in calibrate_similarity(low, NOW).thresholds} == {None}


@given(st.lists(st.floats(-1, 1), min_size=20, max_size=60))
def test_every_measure_gives_an_exponent_in_range(cosines: list[float]) -> None:
    found = calibrate_similarity([asked(one, first=max(one, 0.1)) for one in cosines], NOW)

    assert EXPONENTS[0] <= found.exponent <= EXPONENTS[1]


def test_too_few_questions_say_nothing_of_a_twentieth() -> None:
    with pytest.raises(InvalidInput, match="at least 20") as refused:
        calibrate_similarity([asked(0.5)] * 19, NOW)

    assert refused.value.code == "DATASET_INVALID"


def test_a_measured_exponent_goes_before_the_models() -> None:
    assert min_cosine(0.7, SPACE, 2.0) == pytest.approx(0.49)
    assert similarity(0.49, SPACE, 2.0) == pytest.approx(0.7)
    assert similarity(min_cosine(0.75, SPACE), SPACE) == pytest.approx(0.75)


def test_what_is_published_of_both_thresholds_stands_in_the_docs_and_in_the_schema() -> None:
    page = (Path(__file__).parents[3] / "docs" / "context.md").read_text("utf-8").splitlines()

    assert {one.embedder for one in PUBLISHED} == {model.name for model in LOCAL_MODELS.values()} | {"hashed spellings"}
    for one in PUBLISHED:
        at = next(place for place, line in enumerate(page) if line.startswith(f"| {one.embedder} "))
        for line, recall, precision in zip(page[at : at + 2], one.recall, one.precision, strict=True):
            assert f"| {recall:.2f} (" in line
            assert f"| {precision:.2f}" in line
            assert f"{recall:.2f} and {precision:.2f}" in published_thresholds()
