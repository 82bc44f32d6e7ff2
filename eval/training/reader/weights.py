"""The weights of a base model, as the reader starts from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

WORDS = "embeddings.word_embeddings.weight"


def quantise_words(words: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Each row in int8, and its scale."""
    scales = (np.maximum(np.abs(words).max(axis=1, keepdims=True), 1e-9) / 127).astype(np.float32)
    return np.rint(words / scales).astype(np.int8), scales


def read_weights(model: Path) -> dict[str, NDArray[np.float32]]:
    """The weights of a `model.onnx` by `rag model get`, under BERT's names; words as int8 keeps them."""
    held: dict[str, NDArray[np.float32]] = {
        one.name: numpy_helper.to_array(one) for one in onnx.load(model).graph.initializer
    }
    found: dict[str, NDArray[np.float32]] = {}
    for name, value in held.items():
        if name.startswith(("embeddings.", "encoder.")):
            plain = name.replace(".transposed", ".weight")
            found[plain] = np.ascontiguousarray(value.T if plain != name else value)
    found["kind"] = held["kind_zero"]
    return found
