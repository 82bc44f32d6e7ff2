"""The packed texts that the reader is trained on, as numbers of their tokens. Needs numpy alone."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

TRAIN_PAIRS, CHOICE_PAIRS, JUDGE_PAIRS = 8900, 9500, 600
"""Lines of the pairs: those before the first are trained on, those up to the second choose among trainings, the last
ones judge; what lies between is trained on but for `MARGIN` at either end, for articles that go over a border."""
MARGIN = 100
OPENS, CLOSES = 101, 102


@dataclass(frozen=True, slots=True)
class JointShape:
    """The longest parts of what is read together, in tokens."""

    longest: int = 64
    longest_heading: int = 48
    question: int = 40
    unit: int = 88
    headings: int = 28
    before: int = 28


@dataclass(frozen=True, slots=True)
class AskedIds:
    """Units of one place with the questions on them, each a number of a text. `headings` and `before` are places among
    the units and, behind them, `beside`, -1 for none; `answers` are the places of the units that answer each question;
    `altered` are other questions, which these do not answer.
    """

    units: tuple[int, ...]
    beside: tuple[int, ...]
    headings: tuple[int, ...]
    before: tuple[int, ...]
    questions: tuple[int, ...]
    answers: tuple[tuple[int, ...], ...]
    altered: tuple[tuple[int, ...], ...]


def joint_ids(
    ids: Sequence[Sequence[int]], text: AskedIds, row: int, unit: int, shape: JointShape, *, bare: bool, other: int = -1
) -> list[int]:
    """A question, a unit, the sentence before it and what it stands under, as one text."""
    places = (*text.units, *text.beside)
    asked = ids[text.questions[row] if other < 0 else other][: shape.question]
    before, above = text.before[unit], text.headings[unit]
    earlier = ids[places[before]][-shape.before :] if before >= 0 and not bare else ()
    headed = ids[places[above]][-shape.headings :] if above >= 0 and not bare else ()
    own = ids[text.units[unit]][: shape.unit]
    return [OPENS, *asked, CLOSES, *own, CLOSES, *earlier, CLOSES, *headed, CLOSES]


@dataclass(frozen=True, slots=True)
class Pack:
    """All texts; the pairs; the documents that are trained on and those held back, alone or by folder."""

    ids: list[list[int]]
    sentences: list[int]
    questions: list[int]
    answers: list[int]
    altered: list[list[int]]
    documents: list[list[AskedIds]]
    """Those of a folder beside one another; the ones of no folder are one."""
    held: list[AskedIds]
    held_folders: list[AskedIds]
    """The documents of each as one text."""
    trained: list[tuple[int, int]]
    """Stretches of sentences that are trained on."""
    asked: dict[int, list[int]]
    """The questions of each sentence."""

    @staticmethod
    def read(folder: Path) -> Pack:
        """What eval.training.reader.pack wrote."""
        with gzip.open(folder / "texts.json.gz", "rt", encoding="utf-8") as file:
            found: dict[str, Any] = json.load(file)
        pairs = found["pairs"]
        answers: list[int] = pairs["answers"]
        last = len(answers) - JUDGE_PAIRS
        trained = [(0, answers[TRAIN_PAIRS]), (answers[CHOICE_PAIRS + MARGIN], answers[last - MARGIN])]
        asked: dict[int, list[int]] = {}
        for question, answer in enumerate(answers):
            asked.setdefault(answer, []).append(question)
        single = [(one["held"], _asked(one)) for one in found["documents"]]
        folders = [(one["held"], [_asked(text) for text in one["documents"]]) for one in found["folders"]]
        return Pack(
            found["texts"], pairs["sentences"], pairs["questions"], answers, pairs["altered"],
            [[one for held, one in single if not held], *(texts for held, texts in folders if not held)],
            [one for held, one in single if held], [join(texts) for held, texts in folders if held], trained, asked,
        )  # fmt: skip

    def window(self, first: int, many: int, known: Sequence[int] | None = None) -> AskedIds:
        """So many sentences from there on, with their questions or those of them that are `known`."""
        asked = [one for place in range(first, first + many) for one in self.asked.get(place, ())]
        asked = asked if known is None else [one for one in asked if one in known]
        return AskedIds(
            tuple(self.sentences[first : first + many]), (), (-1,) * many, (-1, *range(many - 1)),
            tuple(self.questions[one] for one in asked), tuple((self.answers[one] - first,) for one in asked),
            tuple(tuple(self.altered[one]) for one in asked),
        )  # fmt: skip

    def judges(self, rivals: int) -> dict[str, list[AskedIds]]:
        """What chooses among trainings and what judges, each question of the pairs among so many sentences."""
        last = len(self.questions) - JUDGE_PAIRS
        return {
            "chosen by": self._among(range(TRAIN_PAIRS, CHOICE_PAIRS), rivals),
            "pairs": self._among(range(last, len(self.questions)), rivals),
            "work places": self.held,
            "folders": self.held_folders,
        }

    def _among(self, lines: range, rivals: int) -> list[AskedIds]:
        start, end = self.answers[lines.start], max(self.answers[one] for one in lines) + 1
        texts: list[AskedIds] = []
        for place in range(start, end, rivals):
            first = min(place, len(self.sentences) - rivals)
            known = [one for one in lines if first <= self.answers[one] < first + rivals and self.answers[one] >= place]
            if known:
                texts.append(self.window(first, rivals, known))
        return texts


def join(texts: Sequence[AskedIds]) -> AskedIds:
    """Texts as one: the units of each are rivals for the questions of all."""
    units = [one for text in texts for one in text.units]
    beside = [one for text in texts for one in text.beside]
    headings: list[int] = []
    before: list[int] = []
    asked: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = []
    behind, further = 0, len(units)
    for text in texts:
        own = len(text.units)
        places = [*range(behind, behind + own), *range(further, further + len(text.beside)), -1]
        headings += [places[one] for one in text.headings]
        before += [places[one] for one in text.before]
        asked += [
            (question, tuple(places[one] for one in answers), altered)
            for question, answers, altered in zip(text.questions, text.answers, text.altered, strict=True)
        ]
        behind, further = behind + own, further + len(text.beside)
    questions, answers, altered = (tuple(one) for one in zip(*asked, strict=True))
    return AskedIds(tuple(units), tuple(beside), tuple(headings), tuple(before), questions, answers, altered)


def some_of(text: AskedIds, chance: random.Random, most: int) -> AskedIds:
    """The text with so many of its questions at most."""
    if len(text.questions) <= most:
        return text
    kept = chance.sample(range(len(text.questions)), most)
    return replace(
        text,
        questions=tuple(text.questions[one] for one in kept),
        answers=tuple(text.answers[one] for one in kept),
        altered=tuple(text.altered[one] for one in kept),
    )


def _asked(one: dict[str, Any]) -> AskedIds:
    return AskedIds(
        tuple(one["units"]),
        tuple(one["beside"]),
        tuple(one["headings"]),
        tuple(one["before"]),
        tuple(one["questions"]),
        tuple(tuple(answers) for answers in one["answers"]),
        tuple(tuple(altered) for altered in one["altered"]),
    )
