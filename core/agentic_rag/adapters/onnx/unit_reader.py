"""`answering.ports.UnitReader` over the trained model that this package holds (reader/): token by token (MaxSim).

Source: Khattab and Zaharia, 'ColBERT' (2020). eval/training/reader trains and writes the model.
"""

# onnxruntime and tokenizers ship no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentic_rag.adapters.onnx.session import open_session
from agentic_rag.answering.extraction.reading import PlacedUnit, Reading

READER = Path(__file__).with_name("reader")
"""The directory of the shipped reader."""
UNITS_FILE, QUESTION_FILE, TOKENIZER_FILE, HEAD = "units.onnx", "question.onnx", "tokenizer.json", "head"
LONGEST, LONGEST_HEADING = 64, 48
"""Tokens that are read of a text and of the headings above it, as in training."""
LONGEST_QUESTION, LONGEST_UNIT, LONGEST_ABOVE, LONGEST_BEFORE, LONGEST_JOINT = 40, 88, 28, 28, 192
"""The same of a question and a unit that are read together, of what stands above the unit and of the sentence before it
(their ends); and of all together."""
HEADING_JOINT = " . "
CACHE_BYTES = 32 * 1024 * 1024
"""The vectors of about 1,300 sentences."""
QUESTIONS_KEPT = 8
"""Questions that are under way beside each other: the passages of a run are read in several steps."""
CHARACTERS_A_TOKEN = 8
"""More than most texts have: of a long one so much is looked at first."""
MATCHED = 0.75
"""The likeness from which on a token of the question counts as met."""
DIGITS = 6

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a likeness to a heading counts, and what one to the sentence before."""

    heading: float
    before: float


@dataclass(frozen=True, slots=True)
class _Model:
    """`units` makes the vectors of a text's words and of it as a unit, `question` goes on from the words."""

    units: Any
    question: Any
    tokenizer: Any
    head: Surroundings
    ends: tuple[int, int]
    """The tokens before and behind a text."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """The tokens of a question, of unit length, and what each counts, in all 1."""

    tokens: Floats
    shares: Floats


class OnnxUnitReader:
    """Loads the model on first use; reads one question at a time. Each text is run alone, so that its vectors do not
    depend on what is read beside it.
    """

    def __init__(self, directory: Path = READER, cache_bytes: int = CACHE_BYTES) -> None:
        self._directory = directory
        self._turn = threading.Lock()
        self._cache_bytes = self._free = cache_bytes
        self._known: OrderedDict[tuple[str, int], NDArray[np.float16]] = OrderedDict()
        self._asked: OrderedDict[str, _Asked] = OrderedDict()

    def drop(self) -> None:
        """Forget the vectors of every text and question."""
        with self._turn:
            self._known.clear()
            self._asked.clear()
            self._free = self._cache_bytes

    async def read(self, question: str, units: Sequence[PlacedUnit]) -> Reading:
        return await asyncio.to_thread(self._read, question, units)

    async def judge(self, question: str, units: Sequence[PlacedUnit]) -> tuple[float, ...]:
        return await asyncio.to_thread(self._judge, question, units)

    def _judge(self, question: str, units: Sequence[PlacedUnit]) -> tuple[float, ...]:
        with self._turn:
            asked = self._first_tokens(question, LONGEST_QUESTION)
            return tuple(self._odds(asked, unit) for unit in units)

    def _odds(self, asked: list[int], unit: PlacedUnit) -> float:
        """The question, the unit, the sentence before it and what stands above it as one text."""
        own = self._first_tokens(unit.text, LONGEST_UNIT)
        before = self._tokens(unit.before)[-LONGEST_BEFORE:]
        above = self._tokens(HEADING_JOINT.join(unit.headings))[-LONGEST_ABOVE:]
        opens, closes = self._model.ends
        ids = [opens, *asked, closes, *own, closes, *before, closes, *above, closes]
        words, _ = self._embed(ids)
        feed = {"words": words, "attention_mask": np.ones(words.shape[:2], np.int64)}
        (odds,) = self._model.question.run(["odds"], feed)
        return round(float(odds[0, 0]), DIGITS)

    def _first_tokens(self, text: str, most: int) -> list[int]:
        """The first tokens of a text. No token goes over a space, so that the beginning of a long one tells them."""
        end = text.find(" ", most * CHARACTERS_A_TOKEN)
        found = self._tokens(text if end < 0 else text[:end])
        return (found if end < 0 or len(found) >= most else self._tokens(text))[:most]

    def _tokens(self, text: str) -> list[int]:
        found: list[int] = self._model.tokenizer.encode(text, add_special_tokens=False).ids
        return found

    def _read(self, question: str, units: Sequence[PlacedUnit]) -> Reading:
        with self._turn:
            asked = self._question(question)
            found = np.array([self._compare(asked, unit) for unit in units], np.float32)
        if not found.size:
            return Reading((0.0,) * len(units), 0.0)
        scores = (round(float(score), DIGITS) for score in found @ asked.shares)
        missed = (np.maximum(MATCHED - found, 0.0) * asked.shares).max(axis=1).min()
        return Reading(tuple(scores), round(float(missed), DIGITS))

    def _compare(self, asked: _Asked, unit: PlacedUnit) -> Floats:
        """For each token of the question how alike the likest token of the unit and its surroundings is."""
        found = _most_alike(asked.tokens, self._vectors(unit.text, LONGEST)[1:])
        head = self._model.head
        if unit.headings:
            headed = _most_alike(asked.tokens, self._vectors(HEADING_JOINT.join(unit.headings), LONGEST_HEADING)[1:])
            found = np.maximum(found, headed * head.heading)
        if unit.before:
            earlier = _most_alike(asked.tokens, self._vectors(unit.before, LONGEST)[1:])
            found = np.maximum(found, earlier * head.before)
        return found

    def _question(self, question: str) -> _Asked:
        known = self._asked.pop(question, None) or self._encode_question(question)
        self._asked[question] = known
        if len(self._asked) > QUESTIONS_KEPT:
            self._asked.popitem(last=False)
        return known

    def _encode_question(self, question: str) -> _Asked:
        words, _ = self._run(question, LONGEST)
        feed = {"words": words, "attention_mask": np.ones(words.shape[:2], np.int64)}
        states, weights = self._model.question.run(["asked", "weights"], feed)
        tokens = _unit_length(states[0])
        held = weights[0, 1:-1]
        return _Asked(tokens[1:-1], held / max(float(held.sum()), 1e-9))

    def _vectors(self, text: str, longest: int) -> Floats:
        """A row of unit length for each token but the last, the text as a whole first; as precise as they are kept."""
        key = (text, longest)
        known = self._known.pop(key, None)
        if known is None:
            _, states = self._run(text, longest)
            known = _unit_length(states[0, :-1]).astype(np.float16)
            self._free -= known.nbytes
        self._known[key] = known
        while self._free < 0:
            self._free += self._known.popitem(last=False)[1].nbytes
        return known.astype(np.float32)

    def _run(self, text: str, longest: int) -> list[Floats]:
        """The vectors of the words, and of the unit."""
        opens, closes = self._model.ends
        return self._embed([opens, *self._first_tokens(text, longest - 2), closes])

    def _embed(self, ids: list[int]) -> list[Floats]:
        held = np.array([ids], np.int64)
        feed = {"input_ids": held, "attention_mask": np.ones_like(held)}
        found: list[Floats] = self._model.units.run(["words", "units"], feed)
        return found

    @cached_property
    def _model(self) -> _Model:
        from tokenizers import Tokenizer

        units, question = (open_session(self._directory / name, threads=1) for name in (UNITS_FILE, QUESTION_FILE))
        tokenizer = Tokenizer.from_file(str(self._directory / TOKENIZER_FILE))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        head = json.loads(question.get_modelmeta().custom_metadata_map[HEAD])
        opens, closes = tokenizer.encode("").ids
        return _Model(units, question, tokenizer, Surroundings(head["heading"], head["before"]), (opens, closes))


def find_reader() -> OnnxUnitReader | None:
    """The shipped reader; None where onnxruntime or tokenizers is not installed."""
    installed = all(find_spec(name) is not None for name in ("onnxruntime", "tokenizers"))
    return OnnxUnitReader() if installed else None


def _unit_length(states: Floats) -> Floats:
    lengths = np.linalg.norm(states, axis=-1, keepdims=True)
    scaled: Floats = states / np.maximum(lengths, 1e-9)
    return scaled


def _most_alike(asked: Floats, tokens: Floats) -> Floats:
    """For each token of the question the cosine to the likest of `tokens`."""
    found: Floats = (asked @ tokens.T).max(axis=1, initial=-1.0)
    return found
