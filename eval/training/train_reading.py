"""Fits how much a unit's likeness to the question and the odds that it answers count beside its score
(answering/extraction/unit_ranking.py): a softmax over the units of each question, with the passages given. Each set is
judged by the weights of the others; the documents of work places are those that the reader was not trained on.

    python -m eval.training.train_reading --pairs PAIRS.jsonl.gz \\
        --set xquad=xquad/corpus.en.jsonl,xquad/queries.en.dev.jsonl
"""

from __future__ import annotations

import asyncio
import gzip
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from eval.training.options import print_found, training_parser
from eval.training.reader.data import (
    HELD_BACK,
    SINGLE,
    UNREAD,
    WORKPLACE,
    folders_of,
    read_questions,
    sections_of,
)
from numpy.typing import NDArray

from agentic_rag.adapters.onnx.unit_reader import READER, OnnxUnitReader
from agentic_rag.answering.extraction.part_units import PartUnits
from agentic_rag.answering.extraction.reading import place_unit
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.extraction.unit_ranking import (
    JUDGED,
    JUDGEMENT_WEIGHT,
    MAX_READ,
    READING_WEIGHT,
    clip_odds,
    rank_units,
    units_to_read,
)
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.documents.document import Chunk
from agentic_rag.language.tokenizer import tokenize
from agentic_rag.retrieval.candidates import Candidate, Passage
from agentic_rag_eval.metrics import normalise

RIVALS = 45
"""Sentences beside which that of a pair stands."""
PER_PASSAGE = 6
NEIGHBOURS = 2
"""Documents before and behind the one with the answer."""
SAME = 0.5
"""Share of the shorter of two spans that both have when they are the same sentence."""
STEPS, RATE = 400, 0.1
_NOBODY = UUID(int=0)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GivenQuestion:
    """A question with the passages around its answer, and where that stands: (passage, start, end)."""

    text: str
    passages: tuple[Passage, ...]
    answers: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """The units of a question, best score first."""

    scores: Floats
    likeness: Floats
    odds: Floats
    """Of units that were not judged the lowest of the others."""
    is_answer: NDArray[np.bool_]


def main() -> None:
    """Read the sets, fit, and print."""
    parser = training_parser(__doc__, "NAME=CORPUS.jsonl,QUERIES.jsonl; may be repeated", 400)
    parser.add_argument("--pairs", type=Path, help="JSONL, gzipped: `question`, `sentence`; neighbours of an article")
    parser.add_argument("--reader", type=Path, default=READER, help="directory of a reader; default: the shipped one")
    options = parser.parse_args()
    sets = {name: _given(*map(Path, files.split(","))) for name, files in (one.split("=", 1) for one in options.set)}
    if options.pairs is not None:
        sets["pairs"] = _pairs(options.pairs)
    sets |= {"work places": _workplace(), "folders": _folders()}
    reader = OnnxUnitReader(options.reader)
    read = {name: asyncio.run(_read_all(reader, given[-options.questions :])) for name, given in sets.items()}
    in_force = (READING_WEIGHT, JUDGEMENT_WEIGHT)
    found: dict[str, Any] = {"weights": fit_weights(list(read.values())), "in_force": in_force, "sets": {}}
    for name, questions in read.items():
        left_out = fit_weights([other for other in read.values() if other is not questions])
        found["sets"][name] = {
            "questions": len(questions),
            "weights_without_it": left_out,
            "by_score": precision(questions, (0.0, 0.0)),
            "by_likeness": precision(questions, (READING_WEIGHT, 0.0)),
            "left_out": precision(questions, left_out),
            "in_force": precision(questions, in_force),
        }
    print_found(options, found, json.dumps(found, indent=2))


def precision(questions: Sequence[ReadQuestion], weights: tuple[float, float]) -> tuple[float, float]:
    """The percentage of questions whose first unit answers; and of whose first two one does."""
    hits = np.zeros(2)
    for one in questions:
        order = np.argsort(-(one.scores + weights[0] * one.likeness + weights[1] * one.odds), kind="stable")
        hits += [one.is_answer[order[:first]].any() for first in (1, 2)]
    first, first_two = (100 * hits / max(1, len(questions))).round(1).tolist()
    return first, first_two


def fit_weights(sets: Sequence[Sequence[ReadQuestion]]) -> tuple[float, float]:
    """The weights of likeness and odds over that of the score; every set counts the same."""
    factors = np.ones(3)
    for _ in range(STEPS):
        slope = np.zeros(3)
        for questions in sets:
            telling = [one for one in questions if one.is_answer.any() and not one.is_answer.all()]
            slope += sum((_slope(one, factors) for one in telling), np.zeros(3)) / max(1, len(telling))
        factors -= RATE * slope * (1.0, 10.0, 1.0)
    return round(float(factors[1] / factors[0]), 1), round(float(factors[2] / factors[0]), 2)


def _slope(one: ReadQuestion, factors: Floats) -> Floats:
    signs = np.stack([one.scores, one.likeness, one.odds])
    odds = np.exp(factors @ signs - (factors @ signs).max())
    right = odds * one.is_answer
    slope: Floats = signs @ (odds / odds.sum() - right / right.sum())
    return slope


async def _read_all(reader: OnnxUnitReader, given: Sequence[GivenQuestion]) -> list[ReadQuestion]:
    paragraphs = {passage.chunk.text for one in given for passage in one.passages}
    counts = Counter(term for text in paragraphs for term in set(tokenize(text)))
    rarity = {term: math.log1p((len(paragraphs) - count + 0.5) / (count + 0.5)) for term, count in counts.items()}
    return [await _read(reader, one, rarity) for one in given]


async def _read(reader: OnnxUnitReader, given: GivenQuestion, rarity: Mapping[str, float]) -> ReadQuestion:
    passages = given.passages
    part = build_subquery(given.text, detect_answer_type(given.text), rarity)
    units = units_to_read(PartUnits(part, 0, passages).all_units(), MAX_READ)
    placed = [place_unit(unit, passages[unit.passage]) for unit in units]
    reading = await reader.read(given.text, placed)
    first = [unit.start + unit.passage * 1_000_000 for unit in rank_units(units, reading.scores)[:JUDGED]]
    judged = [place for place, unit in enumerate(units) if unit.start + unit.passage * 1_000_000 in first]
    odds = clip_odds(await reader.judge(given.text, [placed[place] for place in judged]))
    every = np.full(len(units), min(odds, default=0.0))
    every[judged] = odds
    return ReadQuestion(
        np.array([unit.score for unit in units]),
        np.array(reading.scores),
        every,
        np.array(
            [any(_is_same((unit.passage, unit.start, unit.end), one) for one in given.answers) for unit in units],
            np.bool_,
        ),
    )


def _is_same(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    common = min(one[2], other[2]) - max(one[1], other[1])
    return one[0] == other[0] and common >= SAME * min(one[2] - one[1], other[2] - other[1])


def _given(corpus: Path, queries: Path) -> list[GivenQuestion]:
    """The questions whose set says where the answer stands, by `gold_spans` or `gold_sentences`."""
    documents = list(_rows(corpus))
    places = {str(row["id"]): place for place, row in enumerate(documents)}
    found: list[GivenQuestion] = []
    for row in _rows(queries):
        spans = row.get("gold_spans", ())
        sentences = [normalise(one) for one in row.get("gold_sentences", ()) if one.strip()]
        if not row["gold_ids"] or not (spans or sentences):
            continue
        own = places[str(row["gold_ids"][0])]
        passages: list[str] = []
        answers: list[tuple[int, int, int]] = []
        for place in range(max(0, own - NEIGHBOURS), min(len(documents), own + NEIGHBOURS + 1)):
            text = str(documents[place]["text"])
            for start, end in _paragraphs(text):
                if place == own:
                    said = [(max(a, start) - start, min(b, end) - start) for a, b in spans if a < end and b > start]
                    said += _find_sentences(text[start:end], sentences)
                    answers += [(len(passages), *span) for span in said]
                passages.append(text[start:end])
        found.append(GivenQuestion(str(row["question"]), _passages(passages), tuple(answers)))
    return found


def _find_sentences(text: str, sentences: Sequence[str]) -> list[tuple[int, int]]:
    """Where the words of each sentence begin and end, whatever stands between them."""
    places = [(place, letter.lower()) for place, letter in enumerate(text) if letter.isalnum()]
    letters = "".join(letter for _, letter in places)
    found: list[tuple[int, int]] = []
    for sentence in sentences:
        bare = "".join(letter for letter in sentence if letter.isalnum())
        at = letters.find(bare) if bare else -1
        if at >= 0:
            found.append((places[at][0], places[at + len(bare) - 1][0] + 1))
    return found


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    ends = [0, *(place for place in range(len(text)) if text.startswith("\n\n", place)), len(text)]
    return ((start, end) for start, end in pairwise(ends) if text[start:end].strip())


def _pairs(path: Path) -> list[GivenQuestion]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        pairs = [(str(row["question"]), str(row["sentence"])) for row in map(json.loads, lines)]
    sentences = list(dict.fromkeys(sentence for _, sentence in pairs))
    places = {sentence: place for place, sentence in enumerate(sentences)}
    return [_pair(number, *pair, sentences, places) for number, pair in enumerate(pairs)]


def _pair(
    number: int, question: str, sentence: str, sentences: Sequence[str], places: Mapping[str, int]
) -> GivenQuestion:
    """The sentence stands anywhere among its rivals."""
    own = places[sentence]
    first = max(0, min(own - number * 7919 % RIVALS, len(sentences) - RIVALS))
    passages: list[str] = []
    answer = (0, 0, 0)
    for start in range(first, min(len(sentences), first + RIVALS), PER_PASSAGE):
        text = ""
        for place in range(start, min(len(sentences), first + RIVALS, start + PER_PASSAGE)):
            at = len(text) + bool(text)
            text += (" " if text else "") + _as_sentence(sentences[place])
            if place == own:
                answer = (len(passages), at, len(text))
        passages.append(text)
    return GivenQuestion(question[:1].upper() + question[1:], _passages(passages), (answer,))


def _workplace() -> list[GivenQuestion]:
    """The questions on the documents held back that have an answer there, over all sections of theirs."""
    documents = [one for part in SINGLE for one in read_questions(WORKPLACE / part)]
    return [
        given for text, rows in documents[2::HELD_BACK] for given in _over(tuple(sections_of(text)), [(text, rows)])
    ]


def _folders() -> list[GivenQuestion]:
    """The same of folders that the reader never saw, over the sections of all their documents."""
    found: list[GivenQuestion] = []
    for folder in folders_of(WORKPLACE / UNREAD):
        documents = read_questions(folder)
        sections = [passage for text, _ in documents for passage in sections_of(text)]
        found += _over(tuple(sections), documents)
    return found


def _over(
    passages: tuple[Passage, ...], documents: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]
) -> Iterator[GivenQuestion]:
    """Each question of the documents whose answer stands in one of the passages."""
    for _, rows in documents:
        for row in rows:
            places = [
                (place, at, at + len(answer))
                for answer in row.get("answers") or ()
                for place, passage in enumerate(passages)
                if (at := passage.chunk.text.find(answer)) >= 0
            ]
            if places:
                yield GivenQuestion(str(row["question"]), passages, tuple(places))


def _passages(texts: Sequence[str]) -> tuple[Passage, ...]:
    return tuple(Passage(_chunk(place, text), Candidate(place, 1.0, ())) for place, text in enumerate(texts))


def _as_sentence(text: str) -> str:
    """With a capital and a full stop, so that it is split from its neighbours."""
    place = next((place for place, letter in enumerate(text) if letter.isalnum()), 0)
    return text[:place] + text[place:].capitalize() + ("" if text[-1] in '.!?"' else ".")


def _chunk(ordinal: int, text: str) -> Chunk:
    own = UUID(int=ordinal + 1)
    return Chunk(
        ordinal, own, _NOBODY, _NOBODY, ordinal, text, 0, len(text), None, 1, 1, (), "", "", None, "text/plain"
    )  # fmt: skip


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


if __name__ == "__main__":
    main()
