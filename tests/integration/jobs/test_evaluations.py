"""Evaluations as jobs: an attempt goes on behind the last answer of the one before it, and the report is the same."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from tests.integration.jobs.data_plane import DataPlane

from agentic_rag.jobs.job import Job, JobKind, JobRef, JobState, Lease
from agentic_rag.kernel.errors import DependencyUnavailable, LeaseLost
from agentic_rag.operations.evaluation import EvalDataset, EvalQuestion, EvalRun, read_figures
from agentic_rag.operations.start_evaluation import Evaluations
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_eval.harness import as_json, evaluate
from agentic_rag_eval.job import Examiner, RunEvaluation
from agentic_rag_eval.records import AskRecord, CitedSpan, EmbeddingUsage
from agentic_rag_worker.job_handlers import Handler

pytestmark = [pytest.mark.integration, pytest.mark.network]

K = 8
ASKED = EvalDataset(
    "mine",
    tuple(
        EvalQuestion(str(number), f"Who signs page {number}?", ("Oona",), (f"{number % 3}.md",), "single")
        for number in range(6)
    ),
)


class Answers:
    """Answers every question by its number, right for two in three; `before` may fail or wait."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.before: Callable[[str], Awaitable[None]] | None = None

    async def __call__(self, question: EvalQuestion) -> AskRecord:
        self.asked.append(question.question_id)
        if self.before is not None:
            await self.before(question.question_id)
        number = int(question.question_id)
        path = f"{min(1, number % 3)}.md"
        return AskRecord(
            answer="Oona signs." if number % 2 else "Nobody does.",
            outcome="GROUNDED",
            citations=(CitedSpan(path, "Oona signs.", is_stored=True),),
            retrieved=(path, "9.md"),
            citation_coverage=1.0,
            seconds=0.001 * number,
            stage_seconds={"retrieve": 0.0005 * number},
            run_id=f"run-{number}",
            usage=EmbeddingUsage(5, 0.001),
        )

    async def examine(self, workspace: WorkspaceRef) -> Examiner:
        return Examiner(self)


@pytest.fixture
def answers(plane: DataPlane) -> Answers:
    answers = Answers()
    plane.more_handlers[JobKind.EVAL] = Handler(RunEvaluation(plane.database, answers.examine).run, 60.0, 60.0)
    return answers


@pytest.fixture
def evaluations(plane: DataPlane) -> Evaluations:
    return Evaluations(plane.database, plane.telemetry, K)


async def finished(plane: DataPlane, evaluations: Evaluations) -> tuple[Job, EvalRun]:
    async with plane.worker():
        await plane.until_idle()
    [job] = await plane.jobs(JobKind.EVAL)
    run = await evaluations.get(plane.workspace, job.job_id)
    assert run is not None
    return job, run


async def test_a_worker_gives_the_report_that_the_command_gives_but_for_the_answers(
    plane: DataPlane, answers: Answers, evaluations: Evaluations
) -> None:
    await evaluations.start(plane.workspace, ASKED, "tester")

    job, run = await finished(plane, evaluations)

    direct = as_json(await evaluate(ASKED.questions, Answers(), K))
    assert run.report is not None
    shown = json.loads(run.report)
    assert shown["dataset"] == "mine"
    assert shown["summary"] == json.loads(json.dumps(direct["summary"]))
    assert shown["questions"] == [{**one, "answer": ""} for one in direct["questions"]]
    assert (job.state, job.attempts, run.answered) == (JobState.DONE, 1, 6)


async def test_an_evaluation_of_a_worker_that_died_goes_on_at_the_question_it_had_reached(
    plane: DataPlane, answers: Answers, evaluations: Evaluations
) -> None:
    begun = await evaluations.start(plane.workspace, ASKED, "tester")
    lease = await leased(plane, begun, timedelta(seconds=0.3))
    reached = asyncio.Event()

    async def hang(question_id: str) -> None:
        if question_id == "3":
            reached.set()
            await asyncio.Event().wait()

    answers.before = hang
    dying = asyncio.create_task(plane.more_handlers[JobKind.EVAL].run(lease, Steps()))
    await asyncio.wait_for(reached.wait(), 10)
    dying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await dying
    answers.before = None

    job, run = await finished(plane, evaluations)

    assert answers.asked == ["0", "1", "2", "3", "3", "4", "5"]
    assert (job.state, job.attempts) == (JobState.DONE, 2)
    direct = as_json(await evaluate(ASKED.questions, Answers(), K))
    assert run.report is not None
    assert json.loads(run.report)["summary"] == json.loads(json.dumps(direct["summary"]))


async def test_an_outage_costs_an_attempt_and_no_answer(
    plane: DataPlane, answers: Answers, evaluations: Evaluations
) -> None:
    await evaluations.start(plane.workspace, ASKED, "tester")

    async def away_once(question_id: str) -> None:
        if question_id == "2" and answers.asked.count("2") == 1:
            raise DependencyUnavailable("The model is away.", dependency="chat")

    answers.before = away_once

    job, run = await finished(plane, evaluations)

    assert answers.asked == ["0", "1", "2", "2", "3", "4", "5"]
    assert (job.state, job.attempts, run.answered) == (JobState.DONE, 2, 6)


async def test_who_lost_the_lease_keeps_nothing(plane: DataPlane, answers: Answers, evaluations: Evaluations) -> None:
    begun = await evaluations.start(plane.workspace, ASKED, "tester")
    late = await leased(plane, begun, timedelta(seconds=-1))
    board = plane.job_board()
    await board.expire_leases()
    await board.aclose()

    with pytest.raises(LeaseLost):
        await plane.more_handlers[JobKind.EVAL].run(late, Steps())

    found = await evaluations.get(plane.workspace, begun.job_id)
    assert found is not None
    assert found.answered == 0


async def test_an_evaluation_goes_with_the_runs_of_its_day(
    plane: DataPlane, answers: Answers, evaluations: Evaluations
) -> None:
    await evaluations.start(plane.workspace, ASKED, "tester")
    _, run = await finished(plane, evaluations)
    assert run.report is not None
    assert read_figures(run.report)["hit_rate"].questions == 6
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute("UPDATE rag_jobs SET updated_at = now() - interval '31 days'")

    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        await transaction.workspaces.apply_retention(plane.workspace)

    assert await evaluations.get(plane.workspace, run.job_id) is None


class Steps:
    """Nobody watches."""

    def advance(self) -> None:
        """One more."""


async def leased(plane: DataPlane, run: EvalRun, ttl: timedelta) -> Lease:
    """The lease of a worker that will not come back."""
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        lease = await transaction.jobs.lease(JobRef(run.workspace, run.job_id), "doomed", ttl)
    assert lease is not None
    return lease
