"""The reader as it is trained: layers of a BERT over frozen word vectors, one stack for units, one for questions. Their
token vectors are compared (late interaction). Needs torch, which is no dependency of the product.
"""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn import functional

HEADS, HIDDEN, EPSILON = 12, 384, 1e-12
RUN = 16
"""Texts of similar length that run together."""
DROPOUT = 0.1


@dataclass(frozen=True, slots=True)
class Encoded:
    """Token vectors of unit length, (texts, tokens, hidden); which are tokens; and the states before scaling."""

    vectors: Tensor
    mask: Tensor
    states: Tensor


class Layer(nn.Module):
    """A layer of BERT."""

    def __init__(self, weights: Mapping[str, Tensor], prefix: str) -> None:
        super().__init__()

        def dense(name: str) -> nn.Linear:
            weight = weights[f"{prefix}.{name}.weight"]
            made = nn.Linear(weight.shape[1], weight.shape[0])
            made.weight.data.copy_(weight)
            made.bias.data.copy_(weights[f"{prefix}.{name}.bias"])
            return made

        def norm(name: str) -> nn.LayerNorm:
            made = nn.LayerNorm(HIDDEN, EPSILON)
            made.weight.data.copy_(weights[f"{prefix}.{name}.weight"])
            made.bias.data.copy_(weights[f"{prefix}.{name}.bias"])
            return made

        self.query, self.key, self.value = (dense(f"attention.self.{part}") for part in ("query", "key", "value"))
        self.joined, self.joined_norm = dense("attention.output.dense"), norm("attention.output.LayerNorm")
        self.wide, self.narrow, self.norm = dense("intermediate.dense"), dense("output.dense"), norm("output.LayerNorm")

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        texts, tokens, _ = hidden.shape

        def heads(part: nn.Linear) -> Tensor:
            return part(hidden).view(texts, tokens, HEADS, -1).transpose(1, 2)

        context = functional.scaled_dot_product_attention(
            heads(self.query), heads(self.key), heads(self.value), bias,
            dropout_p=DROPOUT if self.training else 0.0,
        )  # fmt: skip
        context = self._drop(self.joined(context.transpose(1, 2).reshape(texts, tokens, HIDDEN)))
        context = self.joined_norm(context + hidden)
        return self.norm(self._drop(self.narrow(functional.gelu(self.wide(context)))) + context)

    def _drop(self, value: Tensor) -> Tensor:
        return functional.dropout(value, DROPOUT, self.training)


class ReaderModel(nn.Module):
    """Encodes questions and units, and compares them."""

    def __init__(self, weights: Mapping[str, Tensor], layers: int, unit_layers: int) -> None:
        super().__init__()
        table = {
            "words": weights["embeddings.word_embeddings.weight"],
            "places": weights["embeddings.position_embeddings.weight"] + weights["kind"],
            "scale": weights["embeddings.LayerNorm.weight"],
            "shift": weights["embeddings.LayerNorm.bias"],
        }
        for name, value in table.items():
            self.register_buffer(name, value, persistent=False)
        self.units = nn.ModuleList(Layer(weights, f"encoder.layer.{place}") for place in range(unit_layers))
        self.asked = nn.ModuleList(Layer(weights, f"encoder.layer.{place}") for place in range(layers))
        self.weigh = nn.Linear(HIDDEN, 1)
        nn.init.zeros_(self.weigh.weight)
        nn.init.constant_(self.weigh.bias, 0.54)
        self.sharpness = nn.Parameter(torch.tensor(3.0))
        self.heading = nn.Parameter(torch.tensor(1.0))
        self.before = nn.Parameter(torch.tensor(0.8))

    def encode(self, ids: Sequence[Sequence[int]], stack: nn.ModuleList) -> Encoded:
        """The texts through `units` or `asked`."""
        longest = max(len(one) for one in ids)
        order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        parts: list[Tensor] = []
        for start in range(0, len(order), RUN):
            some = [ids[place] for place in order[start : start + RUN]]
            parts.append(functional.pad(self._run(some, stack), (0, 0, 0, longest - max(map(len, some)))))
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(order))
        states = torch.cat(parts)[back]
        mask = torch.zeros(len(ids), longest, dtype=torch.bool)
        for row, one in enumerate(ids):
            mask[row, : len(one)] = True
        return Encoded(functional.normalize(states, dim=-1), mask, states)

    def _run(self, ids: Sequence[Sequence[int]], stack: nn.ModuleList) -> Tensor:
        longest = max(len(one) for one in ids)
        table = torch.zeros(len(ids), longest, dtype=torch.long)
        bias = torch.full((len(ids), 1, 1, longest), -1e9)
        for row, one in enumerate(ids):
            table[row, : len(one)] = torch.tensor(one)
            bias[row, :, :, : len(one)] = 0
        with torch.no_grad():
            hidden = functional.layer_norm(
                self.words[table] + self.places[:longest], (HIDDEN,), self.scale, self.shift, EPSILON
            )
        hidden = functional.dropout(hidden, DROPOUT, self.training)
        for layer in stack:
            hidden = layer(hidden, bias)
        return hidden

    def compare(
        self, asked: Encoded, units: Encoded, beside: Encoded | None, headings: Tensor, before: Tensor
    ) -> Tensor:
        """The scores: (questions, units). `beside` are further texts; `headings` and `before` say where, among units
        and then further texts, those of each unit stand (-1: none).
        """
        others = own = _most_alike(asked, units)
        if beside is not None:
            others = torch.cat([own, _most_alike(asked, beside)], 2)
        found = own
        for places, counts in ((headings, self.heading), (before, self.before)):
            further = others[:, :, places.clamp_min(0)] * counts.clamp(0, 1)
            found = torch.maximum(found, further.masked_fill(places < 0, -1.0))
        held = _inner(asked)
        weights = functional.softplus(self.weigh(asked.states)).squeeze(-1) * held
        shares = (weights / weights.sum(1, keepdim=True))[:, :, None]
        return (found * shares).sum(1) * self.sharpness.exp()


def _inner(texts: Encoded) -> Tensor:
    """The tokens without the first and the last, which stand for the whole text."""
    inner = texts.mask.clone()
    inner[:, 0] = False
    inner[torch.arange(len(inner)), texts.mask.sum(1) - 1] = False
    return inner


def _most_alike(asked: Encoded, units: Encoded) -> Tensor:
    """For each token of each question the cosine to the likest token of each unit: (questions, tokens, units)."""
    texts, tokens, _ = units.vectors.shape
    alike = asked.vectors @ units.vectors.reshape(texts * tokens, HIDDEN).T
    alike = alike.view(*asked.vectors.shape[:2], texts, tokens)
    return alike.masked_fill(~_inner(units), -1.0).amax(-1)


def read_weights(model: Path) -> dict[str, Tensor]:
    """The weights of a `model.onnx` by `rag model get`, under BERT's names; words as int8 keeps them."""
    held: dict[str, NDArray[np.float32]] = {
        one.name: numpy_helper.to_array(one) for one in onnx.load(model).graph.initializer
    }
    found: dict[str, Tensor] = {}
    for name, value in held.items():
        plain = name.replace(".transposed", ".weight")
        found[plain] = torch.from_numpy((value.T if plain != name else value).copy())
    found["kind"] = torch.from_numpy(held["kind_zero"].copy())
    words = found["embeddings.word_embeddings.weight"]
    scales = words.abs().amax(1, keepdim=True).clamp_min(1e-9) / 127
    found["embeddings.word_embeddings.weight"] = (words / scales).round() * scales
    return found
