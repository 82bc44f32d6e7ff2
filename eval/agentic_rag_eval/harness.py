"""Runs a dataset through an `ask` function and writes what came out, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agentic_rag_eval.metrics import Score, Summary, score, summarise
from agentic_rag_eval.records import Ask, EvalQuestion


@dataclass(frozen=True, slots=True)
class EvalReport:
    """Every score and their summary."""

    scores: tuple[Score, ...]
    summary: Summary


async def evaluate(
    questions: Sequence[EvalQuestion], ask: Ask, k: int, progress: Callable[[int, int], None] | None = None
) -> EvalReport:
    """Ask every question in turn. `progress` is told (done, total). Errors of `ask` propagate."""
    scores: list[Score] = []
    for question in questions:
        scores.append(score(question, await ask(question.question), k))
        if progress is not None:
            progress(len(scores), len(questions))
    return EvalReport(tuple(scores), summarise(scores, k))


def as_json(report: EvalReport) -> dict[str, Any]:
    """The report as plain JSON values."""
    summary = asdict(report.summary)
    summary["latency"] = {stage: {"p50": p50, "p95": p95} for stage, (p50, p95) in report.summary.latency.items()}
    return {
        "summary": summary,
        "questions": [
            {
                "id": one.question.question_id,
                "type": one.question.kind,
                "question": one.question.question,
                "outcome": one.record.outcome,
                "right": one.right,
                "hit": one.hit,
                "recall": one.recall,
                "containsAnswer": one.contains_answer,
                "answer": one.record.answer,
                "cited": [citation.source_path for citation in one.record.citations],
                "seconds": one.record.seconds,
            }
            for one in report.scores
        ],
    }


def as_table(report: EvalReport) -> str:
    """The report as lines for a terminal: figures, latency by stage, then what went wrong."""
    figures = report.summary
    lines = [f"{figures.questions} questions"]
    rows: list[tuple[str, float | None]] = [
        ("hit rate", figures.hit_rate),
        (f"recall@{figures.k}", figures.recall_at_k),
        ("answer contained", figures.answer_containment),
        ("citation coverage", figures.citation_coverage),
        ("citation validity", figures.citation_validity),
        ("abstention recall", figures.abstention_recall),
        ("abstention precision", figures.abstention_precision),
        ("false abstention", figures.false_abstention),
    ]
    lines += [f"  {name:<22}{'–' if value is None else f'{100 * value:6.1f} %'}" for name, value in rows]
    lines += ["", f"  {'stage':<22}{'p50 ms':>9}{'p95 ms':>9}"]
    lines += [f"  {stage:<22}{1000 * p50:>9.2f}{1000 * p95:>9.2f}" for stage, (p50, p95) in figures.latency.items()]
    wrong = [one for one in report.scores if not one.right]
    if wrong:
        lines += ["", f"  not as wanted ({len(wrong)}):"]
        lines += [
            f"    {one.question.question_id:<10}{one.question.kind:<13}{one.record.outcome:<20}{one.question.question}"
            for one in wrong
        ]
    return "\n".join(lines)
