"""Asks the natural questions: each corpus a folder that a worker reads, each question as a user asks it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from agentic_rag.answering.answer import Answer
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.settings import Settings
from agentic_rag_cli.in_process import System, operator_of
from tests.bench.reports import ROOT
from tests.quality.citations import Judged, judged_answers
from tests.quality.natural import CORPORA, TOTALS_ONLY, Judgement, Verdict, judge_natural, natural_questions
from tests.quality.sets import ingested_folder

REPORTS = ROOT / "build" / "reports"


async def asked_naturally(system: System, settings: Settings, half: str) -> tuple[list[Judgement], list[Judged]]:
    """Every question of a half, with what its citations are worth; the answers are written to
    build/reports/natural-HALF.jsonl, to be read, unless only totals may be.
    """
    questions = natural_questions(half)
    judged: list[Judgement] = []
    cited: list[Judged] = []
    lines: list[str] = []
    for corpus in dict.fromkeys(one.corpus for one in questions):
        workspace = await ingested_folder(system, settings, f"natural-{corpus}", CORPORA / corpus)
        answers: list[Answer] = []
        for one in (one for one in questions if one.corpus == corpus):
            asked = Question(workspace, one.question, options=AnswerOptions(cache=CacheMode.BYPASS))
            answer = (await system.container.answer.ask(operator_of(workspace.org_id), asked)).answer
            answers.append(answer)
            judged.append(judge_natural(one, answer.outcome.value, answer.text))
            lines.append(
                json.dumps(
                    {
                        "id": one.question_id,
                        "kind": one.kind,
                        "question": one.question,
                        "expected": one.outcome,
                        "must": one.must,
                        "outcome": answer.outcome.value,
                        "verdict": judged[-1].verdict.value,
                        "answer": answer.text,
                        "cited": [citation.source_path for citation in answer.citations],
                    },
                    ensure_ascii=False,
                )
            )
        cited += await judged_answers(system.container, workspace, answers)
    write_answers(half, lines, REPORTS)
    _tell(half, judged)
    return judged, cited


def write_answers(half: str, lines: Sequence[str], folder: Path) -> None:
    """Write the answers of a half, to be read; none of a half of which only totals are told."""
    if half not in TOTALS_ONLY:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"natural-{half}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _tell(half: str, judged: Sequence[Judgement]) -> None:
    """What the table leaves out: verdicts by corpus, and wrong answers that do not call themselves grounded."""
    for corpus in dict.fromkeys(one.question.corpus for one in judged):
        ones = [one for one in judged if one.question.corpus == corpus]
        found = Counter(one.verdict for one in ones)
        shown = ", ".join(f"{verdict.value} {found[verdict]}" for verdict in Verdict)
        print(f"    {half}, {corpus} ({len(ones)}): {shown}", flush=True)
    outcomes = Counter(one.outcome for one in judged if one.verdict is Verdict.WRONG)
    print(
        f"    {half}: wrong by outcome: {', '.join(f'{name} {of}' for name, of in sorted(outcomes.items()))}",
        flush=True,
    )
