"""A training goes on from the reader that is shipped: what is read of it is what was exported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from eval.training.reader.export import NAMES, Weights, write_reader
from eval.training.reader.shipped import read_shipped

from agentic_rag.adapters.onnx.unit_reader import QUESTION_FILE, UNITS_FILE

SIZE = 8
DENSE = ("query", "key", "value", "joined", "wide", "narrow")


def layer(stem: str, random: np.random.Generator) -> Weights:
    found: Weights = {}
    for part in NAMES:
        shape = (SIZE, SIZE) if part in DENSE else (SIZE,)
        found[f"{stem}.{part}.weight"] = random.normal(size=shape).astype(np.float32)
        found[f"{stem}.{part}.bias"] = random.normal(size=SIZE).astype(np.float32)
    return found


def state_and_base() -> tuple[Weights, Weights]:
    random = np.random.default_rng(5)
    state = layer("units.0", random) | layer("asked.0", random) | layer("asked.1", random)
    for head in ("weigh", "judged"):
        state[f"{head}.weight"] = random.normal(size=(1, SIZE)).astype(np.float32)
        state[f"{head}.bias"] = random.normal(size=1).astype(np.float32)
    state |= {"heading": np.array(0.875, np.float32), "before": np.array(0.625, np.float32)}
    base = {
        "embeddings.word_embeddings.weight": random.normal(size=(20, SIZE)).astype(np.float32),
        "embeddings.position_embeddings.weight": random.normal(size=(16, SIZE)).astype(np.float32),
        "embeddings.LayerNorm.weight": np.ones(SIZE, np.float32),
        "embeddings.LayerNorm.bias": np.zeros(SIZE, np.float32),
        "kind": np.zeros(SIZE, np.float32),
    }
    return state, base


def test_a_reader_that_is_read_and_exported_again_is_the_same_file(tmp_path: Path) -> None:
    state, base = state_and_base()
    first, second = tmp_path / "first", tmp_path / "second"
    for directory in (first, second):
        directory.mkdir()
    write_reader(state, base, first)

    write_reader(read_shipped(first), base, second)

    for file in (UNITS_FILE, QUESTION_FILE):
        assert (second / file).read_bytes() == (first / file).read_bytes()


def test_all_weights_are_read_within_what_int8_keeps(tmp_path: Path) -> None:
    state, base = state_and_base()
    write_reader(state, base, tmp_path)

    found = read_shipped(tmp_path)

    assert found.keys() == state.keys()
    for name, value in state.items():
        assert np.abs(found[name] - value).max() <= np.abs(value).max() / 63, name
