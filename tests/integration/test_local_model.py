"""all-MiniLM-L6-v2 by onnxruntime, as `rag model get minilm` obtains it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.local_model import minilm

from agentic_rag.adapters.onnx.embedder import OnnxEmbedder
from agentic_rag.bootstrap import build_container
from agentic_rag.models.embedding.space import EmbeddingSpace, SpaceChoice
from agentic_rag.settings import load_settings

pytestmark = [pytest.mark.integration, pytest.mark.network]

PUBLISHED = {
    "That is a happy dog": 0.695,
    "That is a very happy person": 0.943,
    "Today is a sunny day": 0.257,
}
"""Cosines to "That is a happy person" that the model's page shows (huggingface.co/sentence-transformers)."""


@pytest.fixture(scope="module")
def model() -> Path:
    return minilm()


async def test_the_model_gives_the_published_similarities(model: Path) -> None:
    source, *others = await OnnxEmbedder(model).embed(["That is a happy person", *PUBLISHED])

    assert [round(float(source @ other), 3) for other in others] == pytest.approx(list(PUBLISHED.values()), abs=0.001)


async def test_meaning_counts_where_no_word_is_shared(model: Path) -> None:
    question, passage, decoy = await OnnxEmbedder(model).embed(
        [
            "How do I get my money back?",
            "Refunds are paid within fourteen days.",
            "How do I get to the back of the hall?",
        ]
    )

    assert question @ passage > question @ decoy


async def test_a_process_answers_and_switches_in_the_space_of_its_model(model: Path, tmp_path: Path) -> None:
    variables = {
        "RAG_EMBEDDER": "onnx",
        "AGENTIC_RAG_HOME": str(tmp_path),
        "AGENTIC_RAG_MODEL_DIR": str(model),
        "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }
    async with build_container(load_settings(variables, dotenv=tmp_path / "none")) as container:
        space = container.platform_embedders.default.space

        assert space == EmbeddingSpace("onnx", "all-MiniLM-L6-v2", 384)
        assert container.platform_embedders.resolve_space(SpaceChoice("onnx")) == space
        assert container.platform_embedders.for_space(space) is container.platform_embedders.default


async def test_a_copy_of_the_model_elsewhere_gives_the_same_vectors(model: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(model, copy)

    np.testing.assert_array_equal(await OnnxEmbedder(copy).embed(["a"]), await OnnxEmbedder(model).embed(["a"]))
