"""Folders of work places (eval/training/workplace) and of the natural questions, each with what is asked over it and
what an answer is worth to whoever asked.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.training.reader.data import WORKPLACE, folders_of, read_questions
from tests.quality.natural import CORPORA, NaturalQuestion, Verdict, count_sentences, judge_natural, natural_questions

RIGHT = 4
WORTH = {Verdict.RIGHT: RIGHT, Verdict.PARTLY: 1, Verdict.BURIED: 1}
LIMITS = {"yes_no": 3, "definition": 3, "why": 3, "compare": 5, "two_parts": 5, "how_to": 6, "list": 6, "summary": 7}
"""Sentences that a reader bears with, by kind of question; two for a value."""
MIN_QUOTED = 15
"""Letters of a quote that may stand for the half of an answer."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question of a corpus; `worth` judges what an answer says and quotes. One that the corpus does not answer has
    no `answers`.
    """

    corpus: str
    question: str
    natural: NaturalQuestion | None = None
    answers: tuple[str, ...] = ()
    value: str = ""
    limit: int = 2

    @property
    def is_answerable(self) -> bool:
        """False for what no document of the corpus states."""
        return bool(self.answers) if self.natural is None else self.natural.outcome != "NOT_STATED"

    def worth(self, said: str, quotes: Sequence[str]) -> int:
        """From 0 to `RIGHT`."""
        if self.natural is not None:
            outcome = "CONFLICTING" if self.natural.outcome == "CONFLICTING" else "GROUNDED"
            return WORTH.get(judge_natural(self.natural, outcome, said).verdict, 0)
        if not self.answers:
            return 0
        letters = [_letters(one) for one in quotes]
        found = sum(any(_quotes(one, answer) for one in letters) for answer in map(_letters, self.answers))
        if len(self.answers) == 1 and _letters(self.value) not in "".join(letters):
            found = 0
        if found < len(self.answers):
            return int(0 < found * 3 >= len(self.answers))
        return RIGHT if count_sentences(said) <= self.limit else 1


def whole_folders(part: str, beside: Path) -> Iterator[tuple[Path, list[AskedQuestion]]]:
    """The folders of a part, copied into `beside` without their questions."""
    for folder in folders_of(WORKPLACE / part):
        copied = _copied(sorted(folder.glob("*.md")), beside / folder.name)
        yield copied, list(_asked_in(folder, folder.name))


def natural_folders() -> Iterator[tuple[Path, list[AskedQuestion]]]:
    """Those whose answers rules may be made from."""
    natural = [one for half in ("dev", "own") for one in natural_questions(half)]
    for corpus in sorted({one.corpus for one in natural}):
        yield CORPORA / corpus, [AskedQuestion(corpus, one.question, one) for one in natural if one.corpus == corpus]


def _copied(documents: Sequence[Path], folder: Path) -> Path:
    folder.mkdir(parents=True)
    for one in documents:
        shutil.copy(one, folder)
    return folder


def _asked_in(folder: Path, corpus: str = "") -> Iterator[AskedQuestion]:
    """The questions of a folder, by document, which is the corpus of each where none is named."""
    for _, rows in read_questions(folder):
        for row in rows:
            answers = tuple(row["answers"])
            limit = max(LIMITS.get(row["kind"], 2), len(answers) + 2)
            yield AskedQuestion(corpus or row["document"], row["question"], None, answers, row["value"], limit)


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _quotes(quote: str, answer: str) -> bool:
    """True where a quote holds an answer, or is the half of it at least."""
    return answer in quote or (len(quote) > MIN_QUOTED and 2 * len(quote) >= len(answer) and quote in answer)
