"""The reader computes what the model it was trained as computes, and each unit alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.adapters.test_onnx_embedder import (
    SHAPE,
    Weights,
    random_weights,
    reference_tokens,
    write_tokenizer,
)
from tokenizers import Tokenizer

from agentic_rag.adapters.onnx.bert_graph import build_reader
from agentic_rag.adapters.onnx.unit_reader import QUESTIONS_KEPT, OnnxUnitReader, find_reader
from agentic_rag.answering.extraction.reading import PlacedUnit

HEADING, BEFORE = 0.9, 0.7
HEAD = {"heading": HEADING, "before": BEFORE}


def placed(units: Sequence[str]) -> list[PlacedUnit]:
    return [PlacedUnit(unit) for unit in units]


@pytest.fixture
def weights() -> Weights:
    random = np.random.default_rng(3)
    return {
        **random_weights("units.layer"),
        **{name: value * 0.9 for name, value in random_weights("asked.layer").items() if name.startswith("asked")},
        "weigh.weight": random.normal(0, 1, (1, SHAPE.hidden)).astype(np.float32),
        "weigh.bias": np.array([0.3], np.float32),
        "judged.weight": random.normal(0, 1, (1, SHAPE.hidden)).astype(np.float32),
        "judged.bias": np.array([-0.5], np.float32),
    }


@pytest.fixture
def model(tmp_path: Path, weights: Weights) -> Path:
    units, question = build_reader(SHAPE, SHAPE.layers, weights, {"head": json.dumps(HEAD)})
    (tmp_path / "units.onnx").write_bytes(units)
    (tmp_path / "question.onnx").write_bytes(question)
    write_tokenizer(tmp_path)
    return tmp_path


def score(
    weights: Weights, tokenizer: Tokenizer, question: str, text: str, beside: str = "", counts: float = 0.0
) -> float:
    """Weighted MaxSim: the likest token of the unit, or of a text beside it at less, for each of the question's."""

    def tokens(read: str, stack: str) -> NDArray[np.float64]:
        return reference_tokens(weights, tokenizer.encode(read).ids, stack)[1:-1]

    def unit_length(found: NDArray[np.float64]) -> NDArray[np.float64]:
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    asked = tokens(question, "asked.layer")
    counted = np.log1p(np.exp(asked @ weights["weigh.weight"][0] + weights["weigh.bias"][0]))
    found = (unit_length(asked) @ unit_length(tokens(text, "units.layer")).T).max(axis=1)
    if beside:
        others = unit_length(asked) @ unit_length(tokens(beside, "units.layer")).T
        found = np.maximum(found, counts * others.max(axis=1))
    return float(found @ counted / counted.sum())


async def test_units_are_read_token_by_token_up_to_the_rounding_of_int8(model: Path, weights: Weights) -> None:
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    units = ["the pump starts slowly at night", "at night", "slowly slowly", "pump"]

    found = await OnnxUnitReader(model).read("the pump starts", placed(units))

    assert found.scores == pytest.approx(
        [score(weights, tokenizer, "the pump starts", unit) for unit in units], abs=0.06
    )


@pytest.mark.parametrize(
    ("unit", "beside", "counts"),
    [
        (PlacedUnit("slowly at", ("the", "night")), "the . night", HEADING),
        (PlacedUnit("slowly at", (), "the night"), "the night", BEFORE),
    ],
)
async def test_headings_and_the_sentence_before_count_nearly_as_the_unit(
    model: Path, weights: Weights, unit: PlacedUnit, beside: str, counts: float
) -> None:
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))

    found = await OnnxUnitReader(model).read("pump starts", [unit])

    expected = score(weights, tokenizer, "pump starts", unit.text, beside, counts)
    assert found.scores[0] == pytest.approx(expected, abs=0.06)


async def test_a_unit_is_judged_with_its_question_the_sentence_before_and_the_headings_as_one_text(
    model: Path, weights: Weights
) -> None:
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    opens, closes = tokenizer.encode("").ids
    question, unit, before, above = (
        tokenizer.encode(text, add_special_tokens=False).ids for text in ("pump starts", "slowly", "at night", "the")
    )
    joint = [opens, *question, closes, *unit, closes, *before, closes, *above, closes]
    first = reference_tokens(weights, joint, "asked.layer")[0]

    found, alone = await OnnxUnitReader(model).judge(
        "pump starts", [PlacedUnit("slowly", ("the",), "at night"), PlacedUnit("slowly")]
    )

    expected = float(first @ weights["judged.weight"][0] + weights["judged.bias"][0])
    assert found == pytest.approx(expected, abs=0.4)
    assert alone != found


async def test_what_is_read_beside_a_unit_or_before_it_does_not_change_its_score(model: Path) -> None:
    units = ["the pump starts slowly", "at night", "the pump starts slowly at night"]
    reader = OnnxUnitReader(model)

    together = await reader.read("the pump", placed(units))

    again = await reader.read("the pump", placed(units[::-1]))
    alone = [await OnnxUnitReader(model).read("the pump", placed([unit])) for unit in units]
    assert together.scores == again.scores[::-1] == tuple(one.scores[0] for one in alone)
    assert together.unmatched == again.unmatched == min(one.unmatched for one in alone)


async def test_an_empty_unit_or_question_is_read_as_unlike(model: Path) -> None:
    reader = OnnxUnitReader(model)

    assert (await reader.read("the pump", placed(["", "pump"]))).scores[0] < 0
    assert (await reader.read("", placed(["pump"]))).scores == (0.0,)
    assert (await reader.read("the pump", [])).unmatched == 0.0


async def test_vectors_are_kept_up_to_a_size_and_the_longest_unused_go_first(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = OnnxUnitReader(model, cache_bytes=2 * 2 * SHAPE.hidden * 2)
    runs: list[str] = []
    run = reader._run
    monkeypatch.setattr(reader, "_run", lambda text, longest: runs.append(text) or run(text, longest))

    for text in ("the", "pump", "the", "at", "the", "pump"):
        await reader.read("night", placed([text]))

    assert [text for text in runs if text != "night"] == ["the", "pump", "at", "pump"]


class CountingReader(OnnxUnitReader):
    """Notes the questions that it encodes."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.encoded: list[str] = []

    def _encode_question(self, question: str):  # type: ignore[no-untyped-def]
        self.encoded.append(question)
        return super()._encode_question(question)


async def test_a_question_is_read_once_for_the_steps_of_a_run_until_what_is_known_is_dropped(model: Path) -> None:
    reader = CountingReader(model)
    first = await reader.read("the pump", placed(["the pump starts"]))

    assert await reader.read("the pump", placed(["the pump starts"])) == first
    assert reader.encoded == ["the pump"]
    others = [f"pump {number}" for number in range(QUESTIONS_KEPT)]
    for asked in (*others, "the pump"):
        await reader.read(asked, placed(["the pump"]))
    assert reader.encoded == ["the pump", *others, "the pump"]
    reader.drop()
    await reader.read("the pump", placed(["the pump"]))
    assert reader.encoded[-2:] == ["the pump", "the pump"]


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("pump starts " * 400, "pump starts " * 31),
        # One word of so many characters is one token, as one of 120 is.
        (f"{'x' * 900} the pump starts", f"{'x' * 120} the pump starts"),
        ("x" * 900, "x" * 120),
    ],
    ids=["many words", "a long word before others", "a long word"],
)
async def test_of_a_long_text_the_first_tokens_count_however_long_they_are(long: str, short: str) -> None:
    reader = find_reader()

    assert reader is not None
    assert await reader.read("the pump", placed([long])) == await reader.read("the pump", placed([short]))


async def test_the_shipped_reader_prefers_the_unit_that_answers() -> None:
    reader = find_reader()
    assert reader is not None
    units = [
        PlacedUnit("The pump is inspected every year by the manufacturer.", ("Pump P4", "Care")),
        PlacedUnit("Fill the housing with water before the first start.", ("Pump P4", "First start")),
        PlacedUnit("The start of the financial year is 1 April.", ("Accounting",)),
    ]

    question = "What must be done before the pump is started for the first time?"
    found = await reader.read(question, units)
    odds = await reader.judge(question, units)
    other = await reader.read("Who won the regatta in 1921?", units)

    assert max(range(3), key=found.scores.__getitem__) == 1
    assert max(range(3), key=odds.__getitem__) == 1
    assert odds[1] > 0 > max(await reader.judge("Who won the regatta in 1921?", units))
    assert other.unmatched > found.unmatched
