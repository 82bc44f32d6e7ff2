"""How like a question's tokens are to those of a text, by the first layers of a local model (MaxSim).

Source: Khattab and Zaharia, 'ColBERT' (2020). The vectors are those of the model as it is: nothing is trained for this.
"""

# onnxruntime and tokenizers ship no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentic_rag.adapters.onnx.bert_graph import build_token_encoder
from agentic_rag.kernel.errors import Misconfigured

LAYERS = 4
"""Of six. All six choose no better on four sets out of five, and cost half as much again."""
LONGEST = 128
"""Tokens that are read of a text."""
CACHE_BYTES = 32 * 1024 * 1024
"""The vectors of about 1,500 sentences."""
DIGITS = 6
HALF, STEEPNESS = 0.547, 14.0
"""The likeness of the likest unit at which it answers in one case of two, and how fast that changes. Fitted on 2,086
questions of three sets, with the answering sentence and without it (area under the curve .70 to .84)."""


class TokenReader:
    """One call at a time. Each text is run alone, so its vectors do not depend on what is read beside it."""

    def __init__(self, session: Any, tokenizer: Any, cache_bytes: int = CACHE_BYTES) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._free = cache_bytes
        self._known: OrderedDict[str, NDArray[np.float16]] = OrderedDict()

    def compare(self, question: str, texts: Sequence[str]) -> list[float]:
        """For each text the mean, over the tokens of the question, of the cosine to the likest token of the text."""
        asked = self._vectors(question)
        return [self._likeness(asked, self._vectors(text)) for text in texts]

    def _likeness(self, asked: NDArray[np.float32], text: NDArray[np.float32]) -> float:
        if not len(asked) or not len(text):
            return 0.0
        return round(float((asked @ text.T).max(axis=1).mean()), DIGITS)

    def _vectors(self, text: str) -> NDArray[np.float32]:
        """A row of unit length for each token, as precise as they are kept."""
        known = self._known.pop(text, None)
        if known is None:
            known = self._encode(text).astype(np.float16)
            self._free -= known.nbytes
        self._known[text] = known
        while self._free < 0:
            self._free += self._known.popitem(last=False)[1].nbytes
        return known.astype(np.float32)

    def _encode(self, text: str) -> NDArray[np.float32]:
        ids = np.array([self._tokenizer.encode(text).ids[:LONGEST]], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        vectors: NDArray[np.float32] = self._session.run(None, feed)[0][0, 1:-1]
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def tell_answered(likeness: float) -> float:
    """The probability that the likest unit answers."""
    return round(1.0 / (1.0 + math.exp(STEEPNESS * (HALF - likeness))), DIGITS)


def open_reader(model: Path, tokenizer: Any) -> TokenReader | None:
    """The reader of a sentence encoder; None for one that was not built by `rag model get`, or without onnx."""
    import onnxruntime

    try:
        encoder = build_token_encoder(model.read_bytes(), LAYERS)
    except Misconfigured:
        return None
    if encoder is None:
        return None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return TokenReader(onnxruntime.InferenceSession(encoder, options, providers=["CPUExecutionProvider"]), tokenizer)
