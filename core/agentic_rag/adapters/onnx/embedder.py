"""`models.embedding.ports.Embedder` over a directory with `model.onnx` and `tokenizer.json`."""

# onnxruntime and tokenizers ship no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agentic_rag.adapters.onnx.session import open_session
from agentic_rag.kernel.errors import Misconfigured, Permanent
from agentic_rag.models.embedding.local_models import (
    DEFAULT_MODEL,
    MODEL_FILE,
    TOKENIZER_FILE,
    Pooling,
    find_local_model,
)
from agentic_rag.models.embedding.space import EmbeddingSpace

if TYPE_CHECKING:
    from tokenizers import Encoding


BATCH = 64
"""Texts per call: enough to sort by length, few enough to repeat after a crash."""


@dataclass(frozen=True, slots=True)
class OnnxOptions:
    """How a model runs. `threads` 0 means one per core; texts are truncated at `max_tokens`; a run takes up to
    `texts_per_run` texts of similar length, since every text is padded to the longest.
    """

    threads: int = 0
    max_tokens: int = 256
    """The value that sentence-transformers sets for all-MiniLM-L6-v2; it was trained on 128."""
    texts_per_run: int = 8
    pooling: Pooling = Pooling.MEAN

    @classmethod
    def of(cls, directory: Path) -> OnnxOptions:
        """Those of the model that the directory is named after; the defaults for a user's own."""
        known = find_local_model(directory.name)
        return cls() if known is None else cls(texts_per_run=known.texts_per_run, pooling=known.pooling)


@dataclass(frozen=True, slots=True)
class _Model:
    session: Any
    tokenizer: Any
    inputs: tuple[str, ...]
    dimensions: int


class OnnxEmbedder:
    """Loads the model on first use. Embeds in a thread, one call at a time, because a run uses all cores."""

    def __init__(self, directory: Path, options: OnnxOptions | None = None) -> None:
        self._directory = directory
        self._options = options or OnnxOptions.of(directory)
        self._turn = threading.Lock()

    @property
    def space(self) -> EmbeddingSpace:
        """The space, named after the model's directory. Errors: `Misconfigured` codes MODEL_MISSING, MODEL_INVALID."""
        return EmbeddingSpace("onnx", self._directory.name, self._model.dimensions)

    @property
    def batch_size(self) -> int:
        return BATCH

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return await asyncio.to_thread(self._embed, texts)

    async def aclose(self) -> None:
        """Nothing to release."""

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._turn:
            model = self._model
            vectors = np.zeros((len(texts), model.dimensions), np.float32)
            encoded: list[Encoding] = model.tokenizer.encode_batch([*texts])
            order = sorted(range(len(texts)), key=lambda place: len(encoded[place].ids))
            most, pooling = self._options.texts_per_run, self._options.pooling
            for start in range(0, len(order), most):
                places = order[start : start + most]
                vectors[places] = _run(model, [encoded[place] for place in places], pooling)
        return vectors

    @cached_property
    def _model(self) -> _Model:
        for name in (MODEL_FILE, TOKENIZER_FILE):
            if not (self._directory / name).is_file():
                known = find_local_model(self._directory.name)
                alias = DEFAULT_MODEL if known is None else known.alias
                raise Misconfigured(
                    f"{self._directory} holds no {name}. `rag model get {alias}` obtains a model; "
                    "AGENTIC_RAG_MODEL_DIR names another directory.",
                    code="MODEL_MISSING",
                )
        try:
            from tokenizers import Tokenizer

            session = open_session(self._directory / MODEL_FILE, self._options.threads)
            tokenizer = Tokenizer.from_file(str(self._directory / TOKENIZER_FILE))
        except ImportError as error:
            raise Misconfigured(
                "The embedder onnx needs two packages: pip install 'agentic-rag[onnx]'.", code="MODEL_TOOLS_MISSING"
            ) from error
        except Exception as error:  # both libraries raise their own classes, some of them plain Exception
            raise Misconfigured(
                f"The model in {self._directory} cannot be read: {error}", code="MODEL_INVALID"
            ) from error
        tokenizer.enable_truncation(self._options.max_tokens)
        tokenizer.no_padding()
        inputs = tuple(one.name for one in session.get_inputs())
        width = session.get_outputs()[0].shape[-1]
        if not isinstance(width, int) or not {"input_ids", "attention_mask"} <= set(inputs):
            raise Misconfigured(
                f"The model in {self._directory} is not a sentence encoder: its inputs are {', '.join(inputs)}.",
                code="MODEL_INVALID",
            )
        return _Model(session, tokenizer, inputs, width)


def _run(model: _Model, encoded: Sequence[Encoding], pooling: Pooling) -> NDArray[np.float32]:
    """Runs the model once, with texts padded to the longest. Errors: `Permanent` code MODEL_OUTPUT_INVALID."""
    longest = max(len(one.ids) for one in encoded)
    ids = np.zeros((len(encoded), longest), np.int64)
    mask = np.zeros_like(ids)
    for row, one in enumerate(encoded):
        ids[row, : len(one.ids)] = one.ids
        mask[row, : len(one.ids)] = 1
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    (output, *_) = model.session.run(None, {name: feed[name] for name in model.inputs})
    vectors = output if output.ndim == 2 else _POOL[pooling](output, mask)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(vectors).all():
        raise Permanent("The model returned NaN or infinity instead of a vector.", code="MODEL_OUTPUT_INVALID")
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def _mean(tokens: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
    """The mean of the token vectors without padding."""
    weights = mask[:, :, None].astype(np.float32)
    return (tokens * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)


def _first(tokens: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
    """The vector of the first token, which stands for the whole text."""
    return tokens[:, 0]


_POOL = {Pooling.MEAN: _mean, Pooling.FIRST: _first}
