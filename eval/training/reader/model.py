"""The reader as it is trained: layers of a BERT over frozen word vectors, one stack for units, one for questions. Their
token vectors are compared (late interaction); the stack of questions also reads question and unit together and judges
whether the unit answers. Needs torch and numpy alone.
"""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

HEADS, HIDDEN, EPSILON = 12, 384, 1e-12
RUN, RUN_ON_CPU = 512, 16
"""Texts of similar length that run together: without an accelerator padding costs more than small runs do."""
DROPOUT = 0.1

Ids = Sequence[int]


@dataclass(frozen=True, slots=True)
class Encoded:
    """Token vectors of unit length, (texts, tokens, hidden); which are tokens; and the states before scaling."""

    vectors: Tensor
    mask: Tensor
    states: Tensor


class Layer(nn.Module):
    """A layer of BERT."""

    def __init__(self, weights: Mapping[str, Tensor], prefix: str, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout

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

        query, key, value = heads(self.query), heads(self.key), heads(self.value)
        context = functional.scaled_dot_product_attention(
            query, key, value, bias.to(query.dtype), dropout_p=self.dropout if self.training else 0.0
        )
        context = self._drop(self.joined(context.transpose(1, 2).reshape(texts, tokens, HIDDEN)))
        context = self.joined_norm(context + hidden)
        return self.norm(self._drop(self.narrow(functional.gelu(self.wide(context)))) + context)

    def _drop(self, value: Tensor) -> Tensor:
        return functional.dropout(value, self.dropout, self.training)


class ReaderModel(nn.Module):
    """Encodes questions and units, compares them, and judges pairs of them."""

    def __init__(self, weights: Mapping[str, Tensor], layers: int, unit_layers: int, dropout: float = DROPOUT) -> None:
        super().__init__()
        self.dropout = dropout
        table = {
            "words": weights["words"].float() * weights["scales"],
            "places": weights["embeddings.position_embeddings.weight"] + weights["kind"],
            "scale": weights["embeddings.LayerNorm.weight"],
            "shift": weights["embeddings.LayerNorm.bias"],
        }
        for name, value in table.items():
            self.register_buffer(name, value, persistent=False)
        self.units = nn.ModuleList(Layer(weights, f"encoder.layer.{place}", dropout) for place in range(unit_layers))
        self.asked = nn.ModuleList(Layer(weights, f"encoder.layer.{place}", dropout) for place in range(layers))
        self.weigh = nn.Linear(HIDDEN, 1)
        nn.init.zeros_(self.weigh.weight)
        nn.init.constant_(self.weigh.bias, 0.54)
        self.judged = nn.Linear(HIDDEN, 1)
        nn.init.normal_(self.judged.weight, std=0.02)
        nn.init.constant_(self.judged.bias, -2.0)
        self.sharpness = nn.Parameter(torch.tensor(3.0))
        self.heading = nn.Parameter(torch.tensor(1.0))
        self.before = nn.Parameter(torch.tensor(0.8))

    def encode(self, ids: Sequence[Ids], stack: nn.ModuleList) -> Encoded:
        """The texts through `units` or `asked`."""
        states, lengths = self._run_all(ids, stack, only_first=False)
        mask = torch.arange(states.shape[1], device=states.device)[None] < lengths[:, None]
        return Encoded(functional.normalize(states.float(), dim=-1), mask, states.float())

    def judge(self, ids: Sequence[Ids]) -> Tensor:
        """The odds, as a logarithm, that the unit of each joint text answers its question."""
        states, _ = self._run_all(ids, self.asked, only_first=True)
        with torch.autocast(self.words.device.type, enabled=False):
            return self.judged(states.float()).squeeze(-1)

    def _run_all(self, ids: Sequence[Ids], stack: nn.ModuleList, *, only_first: bool) -> tuple[Tensor, Tensor]:
        """The states, in the order of the texts, and the lengths of these; of the first token alone if so wanted."""
        lengths = np.array([len(one) for one in ids])
        order = np.argsort(lengths, kind="stable")
        longest, parts = int(lengths.max()), []
        many = RUN_ON_CPU if self.words.device.type == "cpu" else RUN
        for start in range(0, len(order), many):
            some = order[start : start + many]
            found = self._run([ids[place] for place in some], stack)
            parts.append(found[:, 0] if only_first else functional.pad(found, (0, 0, 0, longest - found.shape[1])))
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        device = self.words.device
        return torch.cat(parts)[torch.from_numpy(back).to(device)], torch.from_numpy(lengths).to(device)

    def _run(self, ids: Sequence[Ids], stack: nn.ModuleList) -> Tensor:
        longest, device = max(map(len, ids)), self.words.device
        table = np.zeros((len(ids), longest), np.int64)
        bias = np.full((len(ids), 1, 1, longest), -1e4, np.float32)
        for row, one in enumerate(ids):
            table[row, : len(one)] = one
            bias[row, :, :, : len(one)] = 0
        held, hidden_bias = torch.from_numpy(table).to(device), torch.from_numpy(bias).to(device)
        with torch.no_grad():
            hidden = functional.layer_norm(
                self.words[held] + self.places[:longest], (HIDDEN,), self.scale, self.shift, EPSILON
            )
        hidden = functional.dropout(hidden, self.dropout, self.training)
        for layer in stack:
            hidden = layer(hidden, hidden_bias)
        return hidden

    def compare(
        self, asked: Encoded, units: Encoded, beside: Encoded | None, headings: Tensor, before: Tensor
    ) -> Tensor:
        """The scores: (questions, units). `beside` are further texts; `headings` and `before` say where, among units
        and then further texts, those of each unit stand (-1: none).
        """
        with torch.autocast(self.words.device.type, enabled=False):
            return self._compare(asked, units, beside, headings, before)

    def _compare(
        self, asked: Encoded, units: Encoded, beside: Encoded | None, headings: Tensor, before: Tensor
    ) -> Tensor:
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
    inner[torch.arange(len(inner), device=inner.device), texts.mask.sum(1) - 1] = False
    return inner


def _most_alike(asked: Encoded, units: Encoded) -> Tensor:
    """For each token of each question the cosine to the likest token of each unit: (questions, tokens, units)."""
    texts, tokens, _ = units.vectors.shape
    alike = asked.vectors @ units.vectors.reshape(texts * tokens, HIDDEN).T
    alike = alike.view(*asked.vectors.shape[:2], texts, tokens)
    return alike.masked_fill(~_inner(units), -1.0).amax(-1)
