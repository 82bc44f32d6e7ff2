"""Builds ONNX graphs of a BERT encoder from its weights: a sentence encoder (mean pooling, unit length) with float32 or
int8 weights, and a reader of questions and units with int8 weights.

Architecture: Devlin et al., 'BERT' (2019); pooling: Reimers and Gurevych, 'Sentence-BERT' (2019). Operators: ONNX opset
20 (LayerNormalization, Gelu). Inputs `input_ids` and `attention_mask`, both int64 of shape (texts, tokens); output
`embedding`, float32 of shape (texts, hidden size), rows of unit length; of a reader `units` and `asked`, (texts,
tokens, hidden size), and `weights`, (texts, tokens).
"""

# onnx ships partial types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentic_rag.kernel.errors import Misconfigured

OPSET = 20
_IR_VERSION = 9
_PRODUCER = "agentic-rag"
_TOP = 63
"""The largest int8 weight: with 127, processors without VNNI overflow in products of two."""
_MOST_INT8 = 127


@dataclass(frozen=True, slots=True)
class BertShape:
    """The values of a BERT `config.json` that the graph depends on."""

    layers: int
    heads: int
    hidden: int
    epsilon: float


def bert_shape(config: Mapping[str, Any]) -> BertShape:
    """Reads a `config.json`. Errors: `Misconfigured` code MODEL_UNSUPPORTED if it is not a BERT with exact GELU."""
    kind, activation = config.get("model_type"), config.get("hidden_act")
    if (kind, activation) != ("bert", "gelu") or config.get("position_embedding_type", "absolute") != "absolute":
        raise Misconfigured(
            f"Only BERT encoders with GELU can be converted; this model is {kind} with {activation}.",
            code="MODEL_UNSUPPORTED",
        )
    return BertShape(
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        hidden=config["hidden_size"],
        epsilon=config["layer_norm_eps"],
    )


def read_safetensors(content: bytes) -> dict[str, NDArray[np.float32]]:
    """The float32 tensors of a safetensors file: eight bytes of header length, a JSON header, then the data."""
    length = int.from_bytes(content[:8], "little")
    header: dict[str, Any] = json.loads(content[8 : 8 + length])
    tensors: dict[str, NDArray[np.float32]] = {}
    for name, entry in header.items():
        if entry.get("dtype") != "F32":
            continue
        start, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(content[start:end], "<f4").reshape(entry["shape"])
    return tensors


@dataclass(slots=True)
class _Graph:
    """The nodes and weights so far. Each method adds an operation or a constant and returns the name of the result."""

    weights: Mapping[str, NDArray[np.float32]]
    nodes: list[Any] = field(default_factory=list[Any])
    constants: dict[str, NDArray[Any]] = field(default_factory=dict[str, NDArray[Any]])

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        from onnx import helper

        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.constants[name] = value
        return name

    def weight(self, name: str) -> str:
        return self.constant(name, self.weights[name])

    def dense(self, source: str, prefix: str) -> str:
        transposed = self.constant(f"{prefix}.transposed", np.ascontiguousarray(self.weights[f"{prefix}.weight"].T))
        return self.add("Add", self.add("MatMul", source, transposed), self.weight(f"{prefix}.bias"))

    def rows(self, prefix: str, places: str) -> str:
        return self.add("Gather", self.weight(f"{prefix}.weight"), places)

    def normalise(self, source: str, prefix: str, epsilon: float) -> str:
        scale, bias = self.weight(f"{prefix}.weight"), self.weight(f"{prefix}.bias")
        return self.add("LayerNormalization", source, scale, bias, axis=-1, epsilon=epsilon)


@dataclass(slots=True)
class _Int8Graph(_Graph):
    """Weights are int8 with a scale for each column or row; what they are multiplied with is quantised as it comes."""

    def dense(self, source: str, prefix: str) -> str:
        weights = self.weights[f"{prefix}.weight"].T
        scales = (np.maximum(np.abs(weights).max(axis=0), 1e-9) / _TOP).astype(np.float32)
        table = self.constant(f"{prefix}.int8", np.rint(weights / scales).astype(np.int8))
        quantised, scale, zero = self.add_three("DynamicQuantizeLinear", source)
        product = self.add("Cast", self.add("MatMulInteger", quantised, table, zero), to=1)
        unscaled = self.add("Mul", scale, self.constant(f"{prefix}.scales", scales))
        return self.add("Add", self.add("Mul", product, unscaled), self.weight(f"{prefix}.bias"))

    def rows(self, prefix: str, places: str) -> str:
        weights = self.weights[f"{prefix}.weight"]
        scales = (np.maximum(np.abs(weights).max(axis=1, keepdims=True), 1e-9) / _MOST_INT8).astype(np.float32)
        table = self.constant(f"{prefix}.int8", np.rint(weights / scales).astype(np.int8))
        values = self.add("Cast", self.add("Gather", table, places), to=1)
        return self.add("Mul", values, self.add("Gather", self.constant(f"{prefix}.scales", scales), places))

    def add_three(self, operator: str, *inputs: str) -> tuple[str, str, str]:
        from onnx import helper

        number = len(self.nodes)
        names = (f"v{number}", f"v{number}b", f"v{number}c")
        self.nodes.append(helper.make_node(operator, list(inputs), list(names)))
        return names


def build_sentence_encoder(
    shape: BertShape, weights: Mapping[str, NDArray[np.float32]], *, is_int8: bool = False
) -> bytes:
    """The serialised model. Errors: `KeyError` if a weight is missing; `Misconfigured` code MODEL_TOOLS_MISSING."""
    _require_onnx()
    graph = _Int8Graph(weights) if is_int8 else _Graph(weights)
    pooled = _pool(graph, _encode(graph, shape))
    return _serialise(graph, {"embedding": (pooled, ["texts", shape.hidden])}, {})


def build_reader(
    shape: BertShape, unit_layers: int, weights: Mapping[str, NDArray[np.float32]], about: Mapping[str, str]
) -> tuple[bytes, bytes]:
    """The two serialised models of a reader. The first turns tokens into `words`, the vectors before the first layer,
    and with `units.layer.N` into `units`; the second, with `asked.layer.N`, as many as the shape says, `words` into
    `asked` and, with `weigh`, `weights`: what each token of a question counts; and, with `judged`, the first of them
    into `odds`: whether the unit of a joint text answers its question. `about` is kept with it. Errors: `KeyError` if a
    weight is missing; `Misconfigured` code MODEL_TOOLS_MISSING.
    """
    _require_onnx()
    wide: list[str | int] = ["texts", "tokens", shape.hidden]
    graph = _Int8Graph(weights)
    words, bias = _embed(graph, shape), _attention_bias(graph)
    units = words
    for layer in range(unit_layers):
        units = _layer(graph, shape, units, bias, f"units.layer.{layer}")
    first = _serialise(graph, {"words": (words, wide), "units": (units, wide)}, {})
    graph = _Int8Graph(weights)
    asked, bias = "words", _attention_bias(graph)
    for layer in range(shape.layers):
        asked = _layer(graph, shape, asked, bias, f"asked.layer.{layer}")
    product = graph.add("MatMul", asked, graph.constant("weigh", np.ascontiguousarray(weights["weigh.weight"].T)))
    last = graph.constant("last_axis", np.array([2], np.int64))
    counted = graph.add("Softplus", graph.add("Squeeze", graph.add("Add", product, graph.weight("weigh.bias")), last))
    first_token = graph.add("Gather", asked, graph.constant("first", np.array(0, np.int64)), axis=1)
    judged = graph.add(
        "MatMul", first_token, graph.constant("judged", np.ascontiguousarray(weights["judged.weight"].T))
    )
    odds = graph.add("Add", judged, graph.weight("judged.bias"))
    results = {"asked": (asked, wide), "weights": (counted, wide[:2]), "odds": (odds, ["texts", 1])}
    return first, _serialise(graph, results, about, shape.hidden)


def _require_onnx() -> None:
    if find_spec("onnx") is None:
        raise Misconfigured(
            "Building a model needs the package onnx: pip install 'agentic-rag[onnx]'.", code="MODEL_TOOLS_MISSING"
        )


def _serialise(
    graph: _Graph, results: Mapping[str, tuple[str, list[str | int]]], about: Mapping[str, str], words: int = 0
) -> bytes:
    """`results` names the outputs: the value of each and its shape. The input is tokens, or `words` of this size."""
    from onnx import TensorProto, helper, numpy_helper

    graph.nodes += [helper.make_node("Identity", [value], [name]) for name, (value, _) in results.items()]
    ids, mask = (
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask")
    )
    if words:
        ids = helper.make_tensor_value_info("words", TensorProto.FLOAT, ["texts", "tokens", words])
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, (_, shape) in results.items()]
    initializers = [numpy_helper.from_array(value, name) for name, value in graph.constants.items()]
    model = helper.make_model(
        helper.make_graph(graph.nodes, next(iter(results)), [ids, mask], outputs, initializers),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=_IR_VERSION,
        producer_name=_PRODUCER,
    )
    helper.set_model_props(model, dict(about))
    serialised: bytes = model.SerializeToString()
    return serialised


def _encode(graph: _Graph, shape: BertShape) -> str:
    """Token vectors after the last layer: (texts, tokens, hidden)."""
    hidden, bias = _embed(graph, shape), _attention_bias(graph)
    for layer in range(shape.layers):
        hidden = _layer(graph, shape, hidden, bias, f"encoder.layer.{layer}")
    return hidden


def _embed(graph: _Graph, shape: BertShape) -> str:
    """The vectors of the tokens before the first layer."""
    tokens = graph.add("Shape", "input_ids", start=1, end=2)
    zero = graph.constant("zero", np.array([0], np.int64))
    positions = graph.add("Slice", graph.weight("embeddings.position_embeddings.weight"), zero, tokens, zero)
    kinds = graph.constant("kind_zero", graph.weights["embeddings.token_type_embeddings.weight"][:1])
    words = graph.rows("embeddings.word_embeddings", "input_ids")
    summed = graph.add("Add", words, graph.add("Add", positions, kinds))
    return graph.normalise(summed, "embeddings.LayerNorm", shape.epsilon)


def _attention_bias(graph: _Graph) -> str:
    """0 for tokens and a large negative number for padding: (texts, 1, 1, tokens)."""
    axes = graph.constant("mask_axes", np.array([1, 2], np.int64))
    one = graph.constant("one", np.array(1, np.float32))
    floor = graph.constant("floor", np.array(-1e9, np.float32))
    mask = graph.add("Cast", graph.add("Unsqueeze", "attention_mask", axes), to=1)
    return graph.add("Mul", graph.add("Sub", one, mask), floor)


def _layer(graph: _Graph, shape: BertShape, hidden: str, bias: str, prefix: str) -> str:
    attention = f"{prefix}.attention"
    split = graph.constant("heads_shape", np.array([0, 0, shape.heads, shape.hidden // shape.heads], np.int64))
    joined = graph.constant("joined_shape", np.array([0, 0, shape.hidden], np.int64))
    scale = graph.constant("scale", np.array((shape.hidden / shape.heads) ** -0.5, np.float32))

    def heads(part: str, order: tuple[int, ...]) -> str:
        dense = graph.dense(hidden, f"{attention}.self.{part}")
        return graph.add("Transpose", graph.add("Reshape", dense, split), perm=order)

    query, key, value = heads("query", (0, 2, 1, 3)), heads("key", (0, 2, 3, 1)), heads("value", (0, 2, 1, 3))
    scores = graph.add("Add", graph.add("Mul", graph.add("MatMul", query, key), scale), bias)
    context = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), value)
    context = graph.add("Reshape", graph.add("Transpose", context, perm=(0, 2, 1, 3)), joined)
    context = graph.add("Add", graph.dense(context, f"{attention}.output.dense"), hidden)
    context = graph.normalise(context, f"{attention}.output.LayerNorm", shape.epsilon)
    wide = graph.add("Gelu", graph.dense(context, f"{prefix}.intermediate.dense"))
    narrow = graph.add("Add", graph.dense(wide, f"{prefix}.output.dense"), context)
    return graph.normalise(narrow, f"{prefix}.output.LayerNorm", shape.epsilon)


def _pool(graph: _Graph, hidden: str) -> str:
    """The mean of the token vectors without padding, scaled to unit length: (texts, hidden)."""
    last = graph.constant("last_axis", np.array([2], np.int64))
    middle = graph.constant("token_axis", np.array([1], np.int64))
    least = graph.constant("least", np.array(1e-9, np.float32))
    mask = graph.add("Cast", graph.add("Unsqueeze", "attention_mask", last), to=1)
    total = graph.add("ReduceSum", graph.add("Mul", hidden, mask), middle, keepdims=0)
    count = graph.add("Max", graph.add("ReduceSum", mask, middle, keepdims=0), least)
    mean = graph.add("Div", total, count)
    axis = graph.constant("row_axis", np.array([1], np.int64))
    length = graph.add("Max", graph.add("ReduceL2", mean, axis, keepdims=1), least)
    return graph.add("Div", mean, length)
