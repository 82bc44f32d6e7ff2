"""Questions over a folder of filings: their PDFs ingested as users do, and what of the reference answers is cited."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.answering.run import Run
from agentic_rag.settings import Settings
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.commands.evaluation.eval_asking import record_of
from agentic_rag_cli.in_process import System, operator_of
from agentic_rag_eval.metrics import Score, score
from tests.bench.reports import ROOT
from tests.quality.sets import DATA, ingested_folder, questions_of

FILINGS = "sec-10q"
DEPTH = 5
ANSWERS = ROOT / "build" / "reports" / "filings.jsonl"
"""Every answer beside its reference, to be read."""
_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_FIGURE = re.compile(rf"[$£€]\s?({_NUMBER})|({_NUMBER})\s?(?:%|percent\b|(?:million|billion|thousand)\b)")


@dataclass(frozen=True, slots=True)
class Filed:
    """What the questions over the filings gave, one figure a question."""

    gold_in_five: tuple[float, ...]
    """Some gold filing is among the first five passages."""
    figure_cited: tuple[float, ...]
    """Of questions whose reference answer holds an amount or a percentage: one of them stands in the cited text."""
    scores: tuple[Score, ...]
    workspace: WorkspaceRef


def amounts(text: str) -> frozenset[str]:
    """The amounts of money and percentages of a reference answer, without separators: "$12,809 million" → 12809."""
    found = (match[1] or match[2] for match in _FIGURE.finditer(text))
    return frozenset(figure.replace(",", "") for figure in found)


def stands_in(figures: frozenset[str], text: str) -> bool:
    """One of the figures is a number of the text."""
    numbers = (found.replace(",", "") for found in re.findall(_NUMBER, text))
    return any(number.rstrip(".") in figures for number in numbers)


async def filings(system: System, settings: Settings) -> Filed:
    """Ingest the filings once and ask every question."""
    workspace = await ingested_folder(system, settings, FILINGS, DATA / FILINGS / "docs")
    documents = await system.documents(workspace)
    paths = {document.document_id: document.source_path for document in documents}
    gold: list[float] = []
    cited: list[float] = []
    scores: list[Score] = []
    lines: list[str] = []
    for one in questions_of(FILINGS):
        asked = Question(workspace, one.question, options=AnswerOptions(cache=CacheMode.BYPASS))
        run = await system.container.answer.ask(operator_of(workspace.org_id), asked)
        first = [paths[candidate.document_id] for candidate in run.answer.debug.candidates[:DEPTH]]
        gold.append(float(bool(set(first) & set(one.gold_ids))))
        wanted = amounts(" ".join(one.answers))
        if wanted:
            cited.append(float(stands_in(wanted, _cited_text(run))))
        scores.append(score(one, record_of(run, paths), DEPTH))
        lines.append(
            json.dumps(
                {
                    "question": one.question,
                    "outcome": run.answer.outcome.value,
                    "gold": bool(gold[-1]),
                    "figure": bool(cited[-1]) if wanted else None,
                    "answer": run.answer.text,
                    "reference": one.answers[0],
                    "first": first,
                }
            )
        )
    ANSWERS.parent.mkdir(parents=True, exist_ok=True)
    ANSWERS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Filed(tuple(gold), tuple(cited), tuple(scores), workspace)


def _cited_text(run: Run) -> str:
    return "\n".join(citation.snippet for citation in run.answer.citations)
