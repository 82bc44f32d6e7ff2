"""What the reader is trained on: sentences of an article with the questions on them, and documents of work places with
theirs (eval/training/workplace/, written for this).
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from agentic_rag.adapters.onnx.unit_reader import HEADING_JOINT
from agentic_rag.answering.extraction.candidate_units import CandidateUnit
from agentic_rag.answering.extraction.part_units import PartUnits
from agentic_rag.answering.extraction.reading import place_unit
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.plan import AnswerType
from agentic_rag.documents.document import Chunk
from agentic_rag.retrieval.candidates import Candidate, Passage

HELD_BACK = 5
"""Of documents of work places that stand in no folder, every so many one is held back."""
WORKPLACE = Path(__file__).parents[1] / "workplace"
SINGLE, READ, UNREAD, JUDGES, FOREIGN = ("a", "b"), "c", "d", "e", "f"
"""Parts of the work places: documents of no folder, most of which the reader was trained on; folders that it was
trained on; those that it never saw, for what is fitted on its readings; those that judge all of it; and those in other
languages than English, which it does not read.
"""
_HEADING = re.compile(r"^(#{1,6}) (.*)$", re.MULTILINE)
_NOBODY = UUID(int=0)


@dataclass(frozen=True, slots=True)
class AskedText:
    """Units of one place with the questions on them. `headings` and `before` are places among the units and, behind
    them, `beside`, -1 for none; `answers` are the units that answer each question.
    """

    units: tuple[str, ...]
    beside: tuple[str, ...]
    headings: tuple[int, ...]
    before: tuple[int, ...]
    questions: tuple[str, ...]
    answers: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Sentences in the order of their articles, and for each question its sentence."""

    sentences: tuple[str, ...]
    questions: tuple[str, ...]
    answers: tuple[int, ...]

    def window(self, first: int, last: int, asked: Sequence[int]) -> AskedText:
        """The sentences [first, last) with these questions."""
        before = (-1, *range(last - first - 1))
        return AskedText(
            self.sentences[first:last], (), (-1,) * (last - first), before,
            tuple(self.questions[one] for one in asked), tuple((self.answers[one] - first,) for one in asked),
        )  # fmt: skip


def read_pairs(path: Path) -> Pairs:
    """JSONL, gzipped: `question`, `sentence`; neighbouring lines are of one article."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    sentences = tuple(dict.fromkeys(str(row["sentence"]) for row in rows))
    places = {sentence: place for place, sentence in enumerate(sentences)}
    return Pairs(
        sentences, tuple(str(row["question"]) for row in rows), tuple(places[str(row["sentence"])] for row in rows)
    )


def read_workplace(folder: Path) -> list[AskedText]:
    """A text for each document of a folder; questions whose answer is no unit are left out."""
    return [_asked_text(text, rows) for text, rows in read_questions(folder)]


def folders_of(directory: Path) -> list[Path]:
    """The folders of documents below a directory, in the order of their names."""
    return sorted(one.parent for one in directory.glob("*/questions.jsonl"))


def read_questions(folder: Path) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Each document of `questions.jsonl`, in the order of their names, with the questions on it."""
    asked: dict[str, list[Mapping[str, Any]]] = {}
    for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        asked.setdefault(str(row["document"]), []).append(row)
    return [((folder / name).read_text(encoding="utf-8"), rows) for name, rows in sorted(asked.items())]


def _asked_text(text: str, rows: Sequence[Mapping[str, Any]]) -> AskedText:
    passages = list(sections_of(text))
    part = build_subquery("?", AnswerType.FACT, {})
    units = sorted(PartUnits(part, 0, passages).all_units(), key=lambda unit: (unit.passage, unit.start, -unit.end))
    placed = [place_unit(unit, passages[unit.passage]) for unit in units]
    above = [HEADING_JOINT.join(one.headings) for one in placed]
    places = {one.text: place for place, one in reversed([*enumerate(placed)])}
    wanted = dict.fromkeys(one for one in (*above, *(unit.before for unit in placed)) if one)
    beside = tuple(one for one in wanted if one not in places)
    places |= {one: len(units) + place for place, one in enumerate(beside)}
    answers = [_matching(units, passages, row.get("answers") or ()) for row in rows]
    kept = [place for place, row in enumerate(rows) if answers[place] or not row.get("answers")]
    return AskedText(
        tuple(one.text for one in placed),
        beside,
        tuple(places.get(one, -1) for one in above),
        tuple(places.get(one.before, -1) for one in placed),
        tuple(str(rows[place]["question"]) for place in kept),
        tuple(answers[place] for place in kept),
    )


def _matching(units: Sequence[CandidateUnit], passages: Sequence[Passage], texts: Sequence[str]) -> tuple[int, ...]:
    """The units that share half of themselves, or of one of the texts, with it."""
    found: list[int] = []
    for place, unit in enumerate(units):
        held = passages[unit.passage].chunk.text
        for one in filter(None, texts):
            at = held.find(one)
            common = min(at + len(one), unit.end) - max(at, unit.start)
            if at >= 0 and common >= 0.5 * min(len(one), unit.end - unit.start):
                found.append(place)
                break
    return tuple(found)


def sections_of(text: str) -> Iterator[Passage]:
    """The sections of a Markdown text, each with its headings, outermost first."""
    marks = list(_HEADING.finditer(text))
    title = marks[0][2] if marks else ""
    starts = sorted({0, *(mark.start() for mark in marks)})
    path: list[tuple[int, str]] = []
    levels = {mark.start(): (len(mark[1]), mark[2]) for mark in marks}
    for ordinal, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True)):
        if start in levels:
            path = [one for one in path if one[0] < levels[start][0]] + [levels[start]]
        own, headings = UUID(int=ordinal + 1), tuple(one for _, one in path)
        chunk = Chunk(
            ordinal, own, _NOBODY, _NOBODY, ordinal, text[start:end], start, end, None, 1, 1, headings, title, "", None,
            "text/markdown",
        )  # fmt: skip
        yield Passage(chunk, Candidate(ordinal, 1.0, ()))
