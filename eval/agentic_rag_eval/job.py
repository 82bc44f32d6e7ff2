"""The handler of EVAL jobs. It asks the questions one by one and stores each score before the next question."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agentic_rag.jobs.job import JobRef, Lease
from agentic_rag.jobs.leases import require_lease
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import Permanent
from agentic_rag.models.chat.request import LlmError
from agentic_rag.operations.evaluation import EvalQuestion, EvalRun, EvalScore
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_eval.harness import EvalReport, Judge, as_json, ask_one
from agentic_rag_eval.metrics import Score, summarise
from agentic_rag_eval.records import Ask, AskRecord, CitedSpan, EmbeddingUsage


@dataclass(frozen=True, slots=True)
class Examiner:
    """Asks questions of one workspace, and grades the answers if there is a judge."""

    ask: Ask
    judge: Judge | None = None


class RunEvaluation:
    """The use case of EVAL jobs."""

    def __init__(self, database: Database, examine: Callable[[WorkspaceRef], Awaitable[Examiner]]) -> None:
        self._database = database
        self._examine = examine

    async def run(self, lease: Lease, progress: JobProgress) -> bool:
        """Ask the remaining questions, then store the report. An attempt resumes where the last one ended.

        Errors: `LeaseLost`, `Permanent` code EVALUATION_NOT_FOUND, those of answering a question.
        """
        workspace, job_id = lease.job.workspace, lease.job.job_id
        async with self._database.transaction(workspace.org_id) as transaction:
            run = await transaction.eval_runs.get(workspace, job_id)
            scores = list(await transaction.eval_runs.scores(workspace, job_id))
        if run is None:
            raise Permanent("The questions of this evaluation are gone: start it again.", code="EVALUATION_NOT_FOUND")
        for _ in scores:
            progress.advance()
        examiner = await self._examine(workspace)
        for position, question in enumerate(run.dataset.questions[len(scores) :], len(scores)):
            scored = to_eval_score(*await ask_one(question, examiner.ask, run.k, examiner.judge))
            async with self._database.transaction(workspace.org_id) as transaction:
                await require_lease(transaction.jobs, lease)
                await transaction.eval_runs.keep(workspace, job_id, position, scored)
            scores.append(scored)
            progress.advance()
        async with self._database.transaction(workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            await transaction.eval_runs.finish(workspace, job_id, report_of(run, scores))
            return await transaction.jobs.finish(JobRef(workspace, job_id), lease.fence)


def to_eval_score(scored: Score, fault: LlmError | None) -> EvalScore:
    """The score without the answer's text."""
    record = scored.record
    return EvalScore(
        outcome=record.outcome,
        abstained=scored.abstained,
        figures=scored.figures,
        cited=tuple(citation.source_path for citation in record.citations),
        run_id=record.run_id,
        seconds=record.seconds,
        stage_seconds=record.stage_seconds,
        tokens=None if record.usage is None else record.usage.tokens,
        usd=None if record.usage is None else record.usage.usd,
        unjudged=None if fault is None else fault.code,
    )


def report_of(run: EvalRun, scores: Sequence[EvalScore]) -> str:
    """The report of `rag eval --json` without the answers' texts, which the runs contain."""
    restored = [_score(question, one) for question, one in zip(run.dataset.questions, scores, strict=True)]
    faults = Counter(one.unjudged for one in scores if one.unjudged is not None)
    report = EvalReport(tuple(restored), summarise(restored, run.k), faults)
    return json.dumps({"dataset": run.dataset.name, **as_json(report)}, ensure_ascii=False)


def _score(question: EvalQuestion, one: EvalScore) -> Score:
    record = AskRecord(
        answer="",
        outcome=one.outcome,
        citations=tuple(CitedSpan(path, "") for path in one.cited),
        retrieved=(),
        citation_coverage=0.0,
        seconds=one.seconds,
        stage_seconds=one.stage_seconds,
        run_id=one.run_id,
        usage=None if one.tokens is None else EmbeddingUsage(one.tokens, one.usd),
    )
    return Score(question, record, one.abstained, one.figures)
