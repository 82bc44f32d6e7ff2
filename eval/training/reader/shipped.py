"""Reads the weights of the reader that the package ships, so that a training goes on from it.

    python -m eval.training.reader.shipped --out TRAINED/shipped
    python -m eval.training.reader.train --from TRAINED/shipped …

They are those of int8, so that the export of what was read writes the same file.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from eval.training.reader.export import NAMES, Weights
from onnx import numpy_helper

from agentic_rag.adapters.onnx.unit_reader import HEAD, QUESTION_FILE, READER, UNITS_FILE

STACKS = {UNITS_FILE: "units", QUESTION_FILE: "asked"}


def main() -> None:
    """Read and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", type=Path, default=READER, help="directory of a reader; else the shipped one")
    parser.add_argument("--out", type=Path, required=True, help="DIRECTORY/NAME; the file is DIRECTORY/NAME-a.npz")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    held: dict[str, Any] = {**read_shipped(options.reader)}
    np.savez(options.out.with_name(f"{options.out.name}-a.npz"), **held)


def read_shipped(directory: Path) -> Weights:
    """The weights under the names of `model.ReaderModel`, but for `sharpness`, which no export keeps."""
    state: Weights = {}
    for file, stack in STACKS.items():
        model = onnx.load(directory / file)
        held = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
        prefix = f"{stack}.layer."
        for name in held:
            if name.startswith(prefix):
                place, _, rest = name.removeprefix(prefix).partition(".")
                part, _, what = rest.rpartition(".")
                state |= _named(f"{stack}.{place}", part, what, held, name)
        for head in ("weigh", "judged"):
            if head in held:
                state[f"{head}.weight"], state[f"{head}.bias"] = held[head].T, held[f"{head}.bias"]
        for one in model.metadata_props:
            if one.key == HEAD:
                state |= {key: np.array(value, np.float32) for key, value in json.loads(one.value).items()}
    return state


def _named(stem: str, part: str, what: str, held: dict[str, np.ndarray], name: str) -> Weights:
    """A constant of a graph as a parameter; none for the scales, which are part of another one's value."""
    short = next(key for key, value in NAMES.items() if value == part)
    if what == "scales":
        return {}
    if what == "int8":
        scales = held[f"{name.removesuffix('.int8')}.scales"]
        return {f"{stem}.{short}.weight": np.ascontiguousarray((held[name] * scales).T.astype(np.float32))}
    return {f"{stem}.{short}.{what}": held[name]}


if __name__ == "__main__":
    main()
