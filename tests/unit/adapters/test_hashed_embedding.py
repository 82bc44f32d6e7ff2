"""The deterministic embedding and half-precision storage."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.deterministic.hashed_embedding import DIMENSIONS, embed_texts
from agentic_rag.ingestion.analysis.analyse import encode_half

GOLDEN = {4: 0.31863, 155: -0.31863, 166: -0.31863, 340: 0.31863, 73: 0.19118, 203: -0.19118}


def similarity(left: str, right: str) -> float:
    vectors = embed_texts([left, right])
    return float(vectors[0] @ vectors[1])


@given(st.lists(st.text(max_size=60), max_size=6))
def test_every_text_gets_a_vector_of_unit_length(texts: list[str]) -> None:
    vectors = embed_texts(texts)

    assert vectors.shape == (len(texts), DIMENSIONS)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


@given(st.lists(st.text(max_size=40), min_size=2, max_size=5))
def test_a_vector_depends_on_its_own_text_only(texts: list[str]) -> None:
    together = embed_texts(texts)

    for row, text in enumerate(texts):
        np.testing.assert_array_equal(embed_texts([text])[0], together[row])


def test_the_values_are_those_of_every_machine() -> None:
    vector = embed_texts(["The pump failed at 12.5 bar."])[0]

    strongest = np.argsort(-np.abs(vector), kind="stable")[:6]
    assert {int(place): round(float(vector[place]), 5) for place in strongest} == GOLDEN


@pytest.mark.slow
def test_the_hash_seed_of_the_process_does_not_matter() -> None:
    module = "agentic_rag.adapters.deterministic.hashed_embedding"
    code = f"from {module} import embed_texts as e; print(e(['oil pump'])[0].tobytes().hex())"
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "4711")
    }

    assert runs == {embed_texts(["oil pump"])[0].tobytes().hex()}


def test_shared_words_and_spellings_bring_texts_together() -> None:
    assert similarity("the pump failed", "pumps failing") > 0.9
    assert similarity("hydraulic pumps", "hydraulics of a pump") > 0.3
    assert abs(similarity("hydraulic pump", "quarterly earnings")) < 0.2


def test_word_order_counts() -> None:
    assert similarity("dog bites man", "dog bites man") > similarity("dog bites man", "man bites dog")


def test_a_text_without_words_gets_the_first_axis() -> None:
    assert embed_texts(["", "---"])[:, 0].tolist() == [1.0, 1.0]


async def test_the_embedder_names_its_space() -> None:
    embedder = DeterministicEmbedder()

    vectors = await embedder.embed(["pump"])
    await embedder.aclose()

    assert embedder.space.name == "deterministic/hashed-ngrams-v1/384/half"
    assert vectors.shape == (1, embedder.space.dimensions)
    assert embedder.batch_size > 0


@given(st.lists(st.lists(st.floats(-1, 1, width=16), min_size=4, max_size=4), max_size=5))
def test_half_precision_survives_storing(rows: list[list[float]]) -> None:
    vectors = np.array(rows, np.float32).reshape(len(rows), 4)

    stored = encode_half(vectors)

    assert all(len(row) == 8 for row in stored)
    np.testing.assert_array_equal(
        [np.frombuffer(row, "<f2") for row in stored], vectors.reshape(len(stored), -1) if rows else []
    )


def test_half_precision_is_little_endian() -> None:
    assert encode_half(np.array([[1.0, -2.0]], np.float32)) == [b"\x00\x3c\x00\xc0"]


@pytest.mark.parametrize("component", [float("nan"), float("inf"), 70_000.0])
def test_what_half_precision_cannot_hold_is_refused(component: float) -> None:
    with pytest.raises(ValueError, match="half precision"):
        encode_half(np.array([[component]], np.float32))
