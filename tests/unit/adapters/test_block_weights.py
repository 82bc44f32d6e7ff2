"""A model packed in four-bit blocks: its weights and its tokenizer are read as they were meant."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer

from agentic_rag.adapters.onnx.bert_graph import BertShape, build_sentence_encoder
from agentic_rag.adapters.onnx.block_weights import MAGIC, build_tokenizer, read_packed
from agentic_rag.adapters.onnx.embedder import OnnxEmbedder, OnnxOptions
from agentic_rag.kernel.errors import Misconfigured

HIDDEN, LAYERS, HEADS, INNER, LONGEST = 32, 1, 2, 64, 16
PIECES = {"<s>": 0.0, "<pad>": 0.0, "</s>": 0.0, "<unk>": 0.0, "▁": -4.0, "▁pump": -2.0, "▁ポンプ": -2.0, "e": -3.0}
RANDOM = np.random.default_rng(3)


def tensors() -> dict[str, tuple[NDArray[np.float32], bool]]:
    """By their packed names: the values, and whether they are kept in blocks."""
    found = {
        "emb.word": (numbers(len(PIECES), HIDDEN), True),
        "emb.pos": (numbers(LONGEST, HIDDEN), False),
        "emb.type": (numbers(2, HIDDEN), False),
        "emb.ln.w": (1 + numbers(HIDDEN) / 20, False),
        "emb.ln.b": (numbers(HIDDEN) / 20, False),
    }
    wide = {"q": (HIDDEN, HIDDEN), "k": (HIDDEN, HIDDEN), "v": (HIDDEN, HIDDEN), "ao": (HIDDEN, HIDDEN)}
    for part, (rows, columns) in {**wide, "fi": (INNER, HIDDEN), "fo": (HIDDEN, INNER)}.items():
        found |= {f"l0.{part}.w": (numbers(rows, columns), True), f"l0.{part}.b": (numbers(rows), False)}
    for part in ("aln", "oln"):
        found |= {f"l0.{part}.w": (1 + numbers(HIDDEN) / 20, False), f"l0.{part}.b": (numbers(HIDDEN) / 20, False)}
    return found


def numbers(*shape: int) -> NDArray[np.float32]:
    """Multiples of one half from -4 to 3.5: four bits hold them exactly at that scale."""
    return (RANDOM.integers(0, 16, shape) - 8).astype(np.float32) / 2


def in_blocks(values: NDArray[np.float32]) -> bytes:
    whole = (values.reshape(-1, 32) * 2 + 8).astype(np.uint8)
    halves = whole[:, :16] | (whole[:, 16:] << 4)
    return b"".join(np.float16(0.5).tobytes() + row.tobytes() for row in halves)


def packed(given: dict[str, tuple[NDArray[np.float32], bool]]) -> bytes:
    head = MAGIC + struct.pack("<I7ifi", 1, HIDDEN, LAYERS, HEADS, INNER, len(PIECES), LONGEST, 2, 1e-12, 32)
    texts = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, texts)], dtype="<u4").tobytes()
    scores = np.array(list(PIECES.values()), "<f4").tobytes()
    blob = b"".join(texts)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(blob)) + ends + scores + blob
    folded = struct.pack("<IBI", 0xFF21, 1, ord("A"))
    head += struct.pack("<iI", 1, len(folded)) + folded + struct.pack("<i", len(given))
    data = {name: in_blocks(values) if blocks else values.tobytes() for name, (values, blocks) in given.items()}
    at = len(head) + sum(2 + len(name) + 21 for name in given)
    body = b""
    for name, (values, blocks) in given.items():
        head += struct.pack("<H", len(name)) + name.encode()
        head += struct.pack("<BIQQ", int(blocks), values.size, at + len(body), len(data[name]))
        body += data[name]
    return head + body


def test_matrices_and_vectors_have_their_values_and_shapes() -> None:
    given = tensors()

    model = read_packed(packed(given))

    assert (model.shape.layers, model.shape.heads, model.shape.hidden) == (LAYERS, HEADS, HIDDEN)
    assert len(model.weights) == len(given)
    for packed_name, name in {
        "emb.word": "embeddings.word_embeddings.weight",
        "emb.pos": "embeddings.position_embeddings.weight",
        "l0.v.w": "encoder.layer.0.attention.self.value.weight",
        "l0.fi.w": "encoder.layer.0.intermediate.dense.weight",
        "l0.fo.w": "encoder.layer.0.output.dense.weight",
        "l0.oln.b": "encoder.layer.0.output.LayerNorm.bias",
    }.items():
        np.testing.assert_array_equal(model.weights[name], given[packed_name][0])


def test_the_tokenizer_cuts_into_the_pieces_of_the_vocabulary() -> None:
    tokenizer = Tokenizer.from_str(build_tokenizer(read_packed(packed(tensors())).vocabulary))

    assert tokenizer.encode("  pump\u200b\n ﾎﾟﾝﾌﾟ ").tokens == ["<s>", "▁pump", "▁ポンプ", "</s>"]
    assert tokenizer.encode("é").ids == [0, 4, 3, 2]
    assert tokenizer.encode("").tokens == ["<s>", "</s>"]


async def test_eight_bits_give_nearly_the_vectors_of_the_weights(tmp_path: Path) -> None:
    model = read_packed(packed(tensors()))
    texts = ["pump ポンプ", "ポンプ", "e e pump"]
    vectors: list[NDArray[np.float32]] = []
    for kind in (True, False):
        directory = tmp_path / str(kind)
        directory.mkdir()
        (directory / "tokenizer.json").write_text(build_tokenizer(model.vocabulary), encoding="utf-8")
        encoder = build_sentence_encoder(BertShape(1, HEADS, HIDDEN, 1e-12), model.weights, is_int8=kind)
        (directory / "model.onnx").write_bytes(encoder)
        vectors.append(await OnnxEmbedder(directory, OnnxOptions(texts_per_run=1)).embed(texts))

    small, exact = vectors
    likeness = small @ exact.T
    assert (likeness.diagonal() > 0.97).all()
    assert likeness.argmax(axis=1).tolist() == [0, 1, 2]


def test_another_file_is_refused() -> None:
    with pytest.raises(Misconfigured) as refused:
        read_packed(b"GGUF" + bytes(100))

    assert refused.value.code == "MODEL_UNSUPPORTED"
