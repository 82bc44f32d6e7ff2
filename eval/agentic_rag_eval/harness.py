"""Asks the questions of a dataset, scores the answers, and reports them as a table and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from agentic_rag.answering.prompts.grade import Grade, GradeLevel
from agentic_rag.kernel.formatting import format_count
from agentic_rag.models.chat.request import LlmError
from agentic_rag_eval.metrics import Score, Summary, score, summarise
from agentic_rag_eval.records import Ask, AskRecord, EvalQuestion
from agentic_rag_eval.resampling import Interval

Judge = Callable[[EvalQuestion, AskRecord], Awaitable[Grade | LlmError]]
"""Grades one answer; a failed model call is returned, not raised."""

_SHARE = {GradeLevel.FULL: 1.0, GradeLevel.PART: 0.5, GradeLevel.NONE: 0.0}


def figures_of(question: EvalQuestion, grade: Grade) -> dict[str, float]:
    """`judge_grounded`, and `judge_correct` where the dataset has an answer: 1, 0.5 or 0."""
    figures = {"judge_grounded": _SHARE[grade.grounded]}
    return {"judge_correct": _SHARE[grade.correct], **figures} if question.answers else figures


@dataclass(frozen=True, slots=True)
class EvalReport:
    """All scores and their summary."""

    scores: tuple[Score, ...]
    summary: Summary
    unjudged: Mapping[str, int] = field(default_factory=dict[str, int])
    """The number of answers that the judge could not grade, by error code."""


async def evaluate(
    questions: Sequence[EvalQuestion],
    ask: Ask,
    k: int,
    progress: Callable[[int, int], None] | None = None,
    judge: Judge | None = None,
) -> EvalReport:
    """Ask all questions in turn; a `judge` grades each answer that is not an abstention. `progress` gets (done, total).
    Errors of `ask` propagate.
    """
    scores: list[Score] = []
    faults: Counter[str] = Counter()
    for question in questions:
        scored, fault = await ask_one(question, ask, k, judge)
        if fault is not None:
            faults[fault.code] += 1
        scores.append(scored)
        if progress is not None:
            progress(len(scores), len(questions))
    return EvalReport(tuple(scores), summarise(scores, k), faults)


async def ask_one(question: EvalQuestion, ask: Ask, k: int, judge: Judge | None) -> tuple[Score, LlmError | None]:
    """Ask one question and have a `judge` grade the answer; returns the judge's error if it failed."""
    scored = score(question, await ask(question), k)
    if judge is None or scored.abstained:
        return scored, None
    grade = await judge(question, scored.record)
    if isinstance(grade, LlmError):
        return scored, grade
    return replace(scored, figures={**scored.figures, **figures_of(question, grade)}), None


def as_json(report: EvalReport) -> dict[str, Any]:
    """The report as plain JSON values; `comparison.read_report` reads it back."""
    summary = report.summary
    return {
        "summary": {
            "questions": summary.questions,
            "k": summary.k,
            "figures": {name: asdict(value) for name, value in summary.figures.items()},
            "byType": {
                kind: {name: asdict(value) for name, value in figures.items()}
                for kind, figures in summary.by_type.items()
            },
            "latency": {stage: {"p50": p50, "p95": p95} for stage, (p50, p95) in summary.latency.items()},
            "usage": None if summary.usage is None else asdict(summary.usage),
            "unjudged": dict(report.unjudged),
        },
        "questions": [
            {
                "id": one.question.question_id,
                "type": one.question.kind,
                "question": one.question.question,
                "outcome": one.record.outcome,
                "right": one.right,
                "figures": dict(one.figures),
                "answer": one.record.answer,
                "cited": [citation.source_path for citation in one.record.citations],
                "gold": list(one.question.gold_ids),
                "wanted": list(one.question.answers),
                "runId": one.record.run_id,
                "seconds": one.record.seconds,
                "stageSeconds": dict(one.record.stage_seconds),
            }
            for one in report.scores
        ],
    }


def as_table(report: EvalReport) -> str:
    """The report as lines for a terminal: figures with their 95 % intervals, by type, latency, failures."""
    summary = report.summary
    lines = [
        format_count(summary.questions, "question"),
        "",
        f"  {'figure':<24}{'mean':>8}   95 % interval   questions",
    ]
    lines += [_figure_line(name, value) for name, value in summary.figures.items()]
    if len(summary.by_type) > 1:
        lines += ["", f"  {'by type':<24}{'right':>8}   questions"]
        for kind in summary.by_type:
            of_kind = [one.right for one in report.scores if one.question.kind == kind]
            lines.append(f"  {kind:<24}{100 * sum(of_kind) / len(of_kind):>7.1f} %{len(of_kind):>11}")
    lines += ["", f"  {'stage':<24}{'p50 ms':>9}{'p95 ms':>9}"]
    lines += [f"  {stage:<24}{1000 * p50:>9.2f}{1000 * p95:>9.2f}" for stage, (p50, p95) in summary.latency.items()]
    if summary.usage is not None:
        price = "price not known" if summary.usage.usd is None else f"{summary.usage.usd:.6f} USD"
        lines += ["", f"  embedded: about {format_count(summary.usage.tokens, 'token')} ({price})"]
    lines += [
        f"  not judged: {format_count(count, 'answer')} ({code})" for code, count in sorted(report.unjudged.items())
    ]
    wrong = [one for one in report.scores if not one.right]
    if wrong:
        lines += ["", f"  not as wanted ({len(wrong)}):"]
        lines += [
            f"    {one.question.question_id:<10}{one.question.kind:<13}{one.record.outcome:<20}{one.question.question}"
            for one in wrong
        ]
    return "\n".join(lines)


def _figure_line(name: str, value: Interval) -> str:
    interval = f"{100 * value.low:5.1f} – {100 * value.high:5.1f}"
    return f"  {name:<24}{100 * value.mean:>7.1f} % {interval:>15}{value.questions:>12}"
