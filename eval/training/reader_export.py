"""Writes a trained reader as the product runs it."""

# pyright: reportMissingImports=false

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from eval.training.reader_model import EPSILON, HEADS, HIDDEN, ReaderModel

from agentic_rag.adapters.onnx.bert_graph import BertShape, build_reader
from agentic_rag.adapters.onnx.unit_reader import HEAD, LONGEST, QUESTION_FILE, UNITS_FILE

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
"""Those of `ReaderModel` and those of BERT."""


def write_reader(model: ReaderModel, directory: Path) -> None:
    """The model in int8, with what its surroundings count."""
    weights = {
        "embeddings.word_embeddings.weight": model.words.numpy(),
        "embeddings.position_embeddings.weight": model.places[:LONGEST].numpy(),
        "embeddings.token_type_embeddings.weight": np.zeros((1, HIDDEN), np.float32),
        "embeddings.LayerNorm.weight": model.scale.numpy(),
        "embeddings.LayerNorm.bias": model.shift.numpy(),
    }
    state = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    for name, value in state.items():
        stack, *rest = name.split(".")
        if stack in ("units", "asked"):
            place, part, what = rest
            weights[f"{stack}.layer.{place}.{NAMES[part]}.{what}"] = value
    weights |= {name: state[name] for name in ("weigh.weight", "weigh.bias")}
    head = {
        "heading": float(state["heading"].clip(0, 1)),
        "before": float(state["before"].clip(0, 1)),
    }
    shape = BertShape(len(model.asked), HEADS, HIDDEN, EPSILON)
    models = build_reader(shape, len(model.units), weights, {HEAD: json.dumps(head)})
    for name, serialised in zip((UNITS_FILE, QUESTION_FILE), models, strict=True):
        (directory / name).write_bytes(serialised)
