"""What a similarity threshold asks of cosines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.adapters.deterministic.hashed_embedding import DIMENSIONS
from agentic_rag.models.embedding.space import EmbeddingSpace, min_cosine

HASHED = EmbeddingSpace("deterministic", "hashed-ngrams-v1", DIMENSIONS)
MINILM = EmbeddingSpace("onnx", "all-MiniLM-L6-v2", 384)
BGE = EmbeddingSpace("onnx", "bge-small-en-v1.5-int8", 384)
MODEL = EmbeddingSpace("openai", "text-embedding-3-small", 1536)
SPACES = st.sampled_from([HASHED, MINILM, BGE, MODEL])
THRESHOLDS = st.floats(0, 1)


@given(SPACES)
def test_nothing_and_everything_are_asked_for_as_they_are(space: EmbeddingSpace) -> None:
    assert (min_cosine(0.0, space), min_cosine(1.0, space)) == (0.0, 1.0)


@given(SPACES, THRESHOLDS, THRESHOLDS)
def test_who_asks_for_more_gets_no_less_similar_passages(space: EmbeddingSpace, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0.0 <= min_cosine(low, space) <= min_cosine(high, space) <= 1.0


@pytest.mark.parametrize(
    ("space", "threshold", "cosine"),
    [
        (MODEL, 0.7, 0.24),
        (MODEL, 0.75, 0.32),
        (HASHED, 0.7, 0.06),
        (HASHED, 0.75, 0.1),
        (MINILM, 0.7, 0.287),
        (MINILM, 0.75, 0.365),
        (BGE, 0.7, 0.201),
        (BGE, 0.75, 0.274),
    ],
)
def test_the_sources_thresholds_in_cosines(space: EmbeddingSpace, threshold: float, cosine: float) -> None:
    assert min_cosine(threshold, space) == pytest.approx(cosine, abs=0.005)
