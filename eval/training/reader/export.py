"""Writes a trained reader as the product runs it.

    python -m eval.training.reader.export --trained TRAINED/reader --model DIRECTORY --out adapters/onnx/reader

`--trained` names what eval.training.reader.train wrote: DIRECTORY/NAME; of several the mean is taken.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import numpy as np
from eval.training.reader.weights import WORDS, quantise_words, read_weights
from numpy.typing import NDArray

from agentic_rag.adapters.onnx.bert_graph import BertShape, build_reader
from agentic_rag.adapters.onnx.unit_reader import HEAD, LONGEST_JOINT, QUESTION_FILE, UNITS_FILE
from agentic_rag.models.embedding.local_models import MODEL_FILE, TOKENIZER_FILE

HEADS, HIDDEN, EPSILON = 12, 384, 1e-12
NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "joined": "attention.output.dense",
    "joined_norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "norm": "output.LayerNorm",
}
"""Those of `model.ReaderModel` and those of BERT."""

Weights = dict[str, NDArray[np.float32]]


def main() -> None:
    """Read, take the mean, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trained", type=Path, nargs="+", required=True)
    parser.add_argument("--model", type=Path, required=True, help="directory of all-MiniLM-L6-v2 by `rag model get`")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    states = [read_state(one) for one in options.trained]
    mean: Weights = {name: np.stack([state[name] for state in states]).mean(axis=0) for name in states[0]}
    options.out.mkdir(parents=True, exist_ok=True)
    write_reader(mean, read_weights(options.model / MODEL_FILE), options.out)
    shutil.copy(options.model / TOKENIZER_FILE, options.out / TOKENIZER_FILE)


def read_state(stem: Path) -> Weights:
    """The trained weights, which are in several files."""
    files = sorted(stem.parent.glob(f"{stem.name}-?.npz"))
    return {name: value.astype(np.float32) for file in files for name, value in np.load(file).items()}


def write_reader(state: Weights, base: Weights, directory: Path) -> None:
    """The model in int8, with what its surroundings count."""
    words, scales = quantise_words(base[WORDS])
    weights: Weights = {
        WORDS: words * scales,
        "embeddings.position_embeddings.weight": (base["embeddings.position_embeddings.weight"] + base["kind"])[
            :LONGEST_JOINT
        ],
        "embeddings.token_type_embeddings.weight": np.zeros((1, HIDDEN), np.float32),
        "embeddings.LayerNorm.weight": base["embeddings.LayerNorm.weight"],
        "embeddings.LayerNorm.bias": base["embeddings.LayerNorm.bias"],
    }
    layers = {"units": 0, "asked": 0}
    for name, value in state.items():
        stack, *rest = name.split(".")
        if stack in layers:
            place, part, what = rest
            weights[f"{stack}.layer.{place}.{NAMES[part]}.{what}"] = value
            layers[stack] = max(layers[stack], int(place) + 1)
    for name in ("weigh", "judged"):
        weights |= {f"{name}.{what}": state[f"{name}.{what}"] for what in ("weight", "bias")}
    head = {name: float(state[name].clip(0, 1)) for name in ("heading", "before")}
    shape = BertShape(layers["asked"], HEADS, HIDDEN, EPSILON)
    models = build_reader(shape, layers["units"], weights, {HEAD: json.dumps(head)})
    for name, serialised in zip((UNITS_FILE, QUESTION_FILE), models, strict=True):
        (directory / name).write_bytes(serialised)


if __name__ == "__main__":
    main()
