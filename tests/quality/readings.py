"""Questions that say too little: asked of three folders in which several things have what is asked for, half of them
naming the thing that they mean. Written before the rules; `products` was held back while they were made.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.settings import Settings
from agentic_rag_cli.in_process import System, operator_of
from tests.bench.reports import Row
from tests.quality.natural import holds, tokens_of
from tests.quality.rows import at_least, at_most, share
from tests.quality.sets import ingested_folder

READINGS = "readings"
FOLDER = Path(__file__).parent / "readings"
UNDERSPECIFIED = "UNDERSPECIFIED"
SHOWN_SHARE, FALSE_SHARE = 80, 1
"""Percent."""


@dataclass(frozen=True, slots=True)
class ReadingsQuestion:
    """A question with its readings, each a value and the words of which one tells what it is about; or with the one
    value that answers it.
    """

    question_id: str
    question: str
    readings: tuple[tuple[str, tuple[str, ...]], ...] = ()
    must: str = ""

    @property
    def corpus(self) -> str:
        """The folder whose documents it is asked of."""
        return self.question_id.rsplit("-", 1)[0]


def readings_questions() -> list[ReadingsQuestion]:
    """All questions, by folder."""
    lines = [line for path in sorted(FOLDER.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    return [
        ReadingsQuestion(
            one["id"],
            one["question"],
            tuple((value, tuple(about.split("|"))) for value, about in one.get("readings", ())),
            one.get("must", ""),
        )
        for one in map(json.loads, lines)
    ]


def shows_all(asked: ReadingsQuestion, outcome: str, text: str) -> bool:
    """Every reading is a line of the answer that holds its value and what it is about."""
    lines = [tokens_of(line) for line in text.splitlines()]
    return outcome == UNDERSPECIFIED and all(
        any(holds(line, value) and any(holds(line, one) for one in about) for line in lines)
        for value, about in asked.readings
    )


async def readings_rows(system: System, settings: Settings) -> list[Row]:
    """Of the underspecified ones the share whose readings are all shown; of the others, the share that is taken for
    underspecified, and the share answered.
    """
    told: list[tuple[ReadingsQuestion, str, str]] = []
    questions = readings_questions()
    for corpus in dict.fromkeys(one.corpus for one in questions):
        workspace = await ingested_folder(system, settings, f"readings-{corpus}", FOLDER / corpus)
        for one in (one for one in questions if one.corpus == corpus):
            asked = Question(workspace, one.question, options=AnswerOptions(cache=CacheMode.BYPASS))
            answer = (await system.container.answer.ask(operator_of(workspace.org_id), asked)).answer
            told.append((one, answer.outcome.value, answer.text))
    return rows_of(told)


def rows_of(told: Sequence[tuple[ReadingsQuestion, str, str]]) -> list[Row]:
    """The rows of what was asked, with the outcome and the text of each answer."""
    several = [one for one in told if one[0].readings]
    single = [one for one in told if not one[0].readings]
    for asked, outcome, text in told:
        wrong = not shows_all(asked, outcome, text) if asked.readings else outcome == UNDERSPECIFIED
        if wrong:
            print(f"    {asked.question_id} {asked.question} → {outcome}: {text}", flush=True)
    return [
        at_least(
            "underspecified questions: each reading shown", [float(shows_all(*one)) for one in several], SHOWN_SHARE
        ),
        at_most(
            "questions that name what they mean: called UNDERSPECIFIED",
            [float(outcome == UNDERSPECIFIED) for _, outcome, _ in single],
            FALSE_SHARE,
        ),
        share(
            "questions that name what they mean: the value in the answer",
            [float(outcome != "ABSTAINED" and holds(tokens_of(text), one.must)) for one, outcome, text in single],
        ),
    ]
