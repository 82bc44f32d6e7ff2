"""The local model: the graph we build computes what BERT computes, and texts come back in their order."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from agentic_rag.adapters.onnx.bert_graph import (
    BertShape,
    bert_shape,
    build_sentence_encoder,
    read_safetensors,
)
from agentic_rag.adapters.onnx.embedder import OnnxEmbedder, OnnxOptions
from agentic_rag.kernel.errors import Misconfigured

SHAPE = BertShape(layers=2, heads=2, hidden=8, epsilon=1e-12)
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "pump", "starts", "slowly", "at", "night"]
LONGEST = 32
Weights = dict[str, NDArray[np.float32]]


def random_weights(stack: str = "encoder.layer") -> Weights:
    random = np.random.default_rng(7)
    inner = 4 * SHAPE.hidden
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), SHAPE.hidden),
        "embeddings.position_embeddings.weight": (LONGEST, SHAPE.hidden),
        "embeddings.token_type_embeddings.weight": (2, SHAPE.hidden),
        "embeddings.LayerNorm.weight": (SHAPE.hidden,),
        "embeddings.LayerNorm.bias": (SHAPE.hidden,),
    }
    for layer in range(SHAPE.layers):
        prefix = f"{stack}.{layer}"
        for part, (wide, narrow) in {
            "attention.self.query": (SHAPE.hidden, SHAPE.hidden),
            "attention.self.key": (SHAPE.hidden, SHAPE.hidden),
            "attention.self.value": (SHAPE.hidden, SHAPE.hidden),
            "attention.output.dense": (SHAPE.hidden, SHAPE.hidden),
            "intermediate.dense": (inner, SHAPE.hidden),
            "output.dense": (SHAPE.hidden, inner),
        }.items():
            shapes[f"{prefix}.{part}.weight"] = (wide, narrow)
            shapes[f"{prefix}.{part}.bias"] = (wide,)
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{prefix}.{part}.weight"] = (SHAPE.hidden,)
            shapes[f"{prefix}.{part}.bias"] = (SHAPE.hidden,)
    return {name: random.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}


def reference(weights: Weights, ids: list[int]) -> NDArray[np.float64]:
    """The token vectors of `reference_tokens`, mean pooled and scaled."""
    mean = reference_tokens(weights, ids).mean(axis=0)
    return mean / np.linalg.norm(mean)


def reference_tokens(weights: Weights, ids: list[int], stack: str = "encoder.layer") -> NDArray[np.float64]:
    """One text through BERT as Devlin et al. define it, in float64 and without any padding."""
    w = {name: value.astype(np.float64) for name, value in weights.items()}

    def dense(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + SHAPE.epsilon)
        return centred / spread * w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    size = SHAPE.hidden // SHAPE.heads
    for layer in range(SHAPE.layers):
        prefix = f"{stack}.{layer}"
        query, key, value = (dense(x, f"{prefix}.attention.self.{part}") for part in ("query", "key", "value"))
        heads: list[NDArray[np.float64]] = []
        for head in range(SHAPE.heads):
            part = slice(head * size, (head + 1) * size)
            scores = query[:, part] @ key[:, part].T / math.sqrt(size)
            shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
            heads.append(shares / shares.sum(axis=-1, keepdims=True) @ value[:, part])
        context = np.concatenate(heads, axis=-1)
        x = norm(dense(context, f"{prefix}.attention.output.dense") + x, f"{prefix}.attention.output.LayerNorm")
        wide = dense(x, f"{prefix}.intermediate.dense")
        wide = 0.5 * wide * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        x = norm(dense(wide, f"{prefix}.output.dense") + x, f"{prefix}.output.LayerNorm")
    return x


def write_tokenizer(directory: Path) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(directory / "tokenizer.json"))
    return tokenizer


@pytest.fixture
def weights() -> Weights:
    return random_weights()


@pytest.fixture
def model(tmp_path: Path, weights: Weights) -> Path:
    directory = tmp_path / "tiny"
    directory.mkdir()
    (directory / "model.onnx").write_bytes(build_sentence_encoder(SHAPE, weights))
    write_tokenizer(directory)
    return directory


async def test_the_graph_computes_what_bert_computes(model: Path, weights: Weights) -> None:
    texts = ["the pump starts slowly at night", "pump", "at night the pump", "unheard"]
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))

    vectors = await OnnxEmbedder(model).embed(texts)

    expected = np.array([reference(weights, tokenizer.encode(text).ids) for text in texts])
    np.testing.assert_allclose(vectors, expected, atol=2e-5)


async def test_texts_of_any_length_come_back_in_their_order(model: Path) -> None:
    embedder = OnnxEmbedder(model)
    texts = [" ".join(WORDS[4 : 4 + 1 + number % 6]) for number in range(45)]

    together = await embedder.embed(texts)

    alone = np.concatenate([await embedder.embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=2e-5)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)


async def test_what_lies_behind_the_longest_text_does_not_count(model: Path) -> None:
    embedder = OnnxEmbedder(model, OnnxOptions(max_tokens=6))

    short, long = await embedder.embed(["the pump starts slowly", "the pump starts slowly at night"])

    np.testing.assert_allclose(short, long, atol=1e-6)


async def test_no_texts_give_no_vectors(model: Path) -> None:
    assert (await OnnxEmbedder(model).embed([])).shape == (0, SHAPE.hidden)


def test_the_space_is_named_after_the_directory(model: Path) -> None:
    space = OnnxEmbedder(model).space

    assert (space.provider, space.model, space.dimensions) == ("onnx", "tiny", SHAPE.hidden)


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_directory_without_one_of_the_files_says_how_to_get_a_model(model: Path, missing: str) -> None:
    (model / missing).unlink()

    with pytest.raises(Misconfigured, match="rag model get minilm") as raised:
        _ = OnnxEmbedder(model).space

    assert raised.value.code == "MODEL_MISSING"


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_named(model: Path, broken: str) -> None:
    (model / broken).write_bytes(b"\x08\x09 not a model")

    with pytest.raises(Misconfigured) as raised:
        _ = OnnxEmbedder(model).space

    assert raised.value.code == "MODEL_INVALID"


def test_tensors_are_read_from_a_safetensors_file() -> None:
    values = np.array([[1.5, -2.0], [0.0, 4.0]], "<f4")
    header = json.dumps(
        {
            "__metadata__": {"format": "pt"},
            "positions": {"dtype": "I64", "shape": [1], "data_offsets": [16, 24]},
            "w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        }
    ).encode()

    tensors = read_safetensors(struct.pack("<Q", len(header)) + header + values.tobytes() + bytes(8))

    assert list(tensors) == ["w"]
    np.testing.assert_array_equal(tensors["w"], values)


def test_an_encoder_of_another_kind_is_refused() -> None:
    with pytest.raises(Misconfigured) as raised:
        bert_shape({"model_type": "roberta", "hidden_act": "gelu"})

    assert raised.value.code == "MODEL_UNSUPPORTED"
