"""Evaluations that workers run."""

from datetime import datetime
from typing import Annotated

import strawberry

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode, encode, encode_workspace
from agentic_rag.operations import evaluation as eval_runs
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, inner, mutation, to_schema
from agentic_rag_server.graphql.jobs.jobs import Job, show_job


@strawberry.type(description="A mean over the questions it applies to, 0 to 1, with its 95 % interval.")
class EvalFigure:
    name: str
    mean: float
    low: float
    high: float
    questions: int


@strawberry.type(description="An evaluation that a worker runs.")
class EvalRun:
    job_id: strawberry.ID = strawberry.field(description="The job that runs it; this is how it is named.")
    workspace_id: strawberry.ID
    dataset: str
    k: int = strawberry.field(description="How many passages an answer is made from.")
    questions: int
    answered: int
    figures: list[EvalFigure] = strawberry.field(description="Empty until all questions are answered.")
    report: str | None = strawberry.field(
        description="What `rag eval --json` prints, as JSON text; its answers are empty, their runs hold them. "
        "Null until all questions are answered."
    )
    created_at: datetime
    source: strawberry.Private[eval_runs.EvalRun]

    @inner(right=Sight.ORGANISATION, description="How the work stands.")
    async def job(self, info: Info) -> Job | None:
        async with info.context.parts.database.transaction(self.source.workspace.org_id) as transaction:
            found = await transaction.jobs.get(self.source.workspace, self.source.job_id)
        return show_job(found) if found else None


@strawberry.input(description="A question with what is known to be right about it: docs/evaluation.md.")
class EvalQuestionInput:
    id: str
    question: str
    answers: list[str] = strawberry.field(default_factory=list[str])
    gold_ids: list[str] = strawberry.field(
        default_factory=list[str], description="Source paths of the documents that answer it."
    )
    type: str = "single"
    without: list[str] = strawberry.field(
        default_factory=list[str], description="Source paths of documents that it is asked without."
    )
    gold_spans: list[list[int]] = strawberry.field(
        default_factory=list[list[int]], description="[start, end) in the one document of `goldIds`."
    )


@strawberry.input(description="The questions of an evaluation.")
class StartEvalRunInput:
    workspace_id: strawberry.ID
    dataset: str = strawberry.field(description="The name it is reported under.")
    questions: list[EvalQuestionInput]


@strawberry.type(description="The evaluation that was asked for, or why there is none.")
class StartEvalRunPayload(Payload):
    eval_run: EvalRun | None = None


@strawberry.type(description="A passage to make questions from.")
class SampledPassage:
    source_path: str
    title: str = strawberry.field(description="Of its document.")
    text: str


@strawberry.type
class EvaluationQuery:
    @field(
        Action.EVALUATE,
        right=Sight.ORGANISATION,
        description="The evaluation that a job runs, by the job's id. Takes the role admin.",
    )
    async def eval_run(self, info: Info, job_id: strawberry.ID) -> EvalRun | None:
        context = info.context
        node = decode(job_id, NodeKind.JOB, path=("jobId",))
        found = await context.parts.evaluations.get(context.ref(node), node.key)
        return _show_eval_run(found) if found else None

    @field(
        Action.EVALUATE,
        right=Sight.ORGANISATION,
        description="Passages that the whole workspace may read, drawn at random, to make questions from: the same "
        "corpus and seed give the same. Takes the role admin.",
    )
    async def sample_passages(
        self, info: Info, workspace_id: strawberry.ID, most: int = 100, seed: int = 1
    ) -> list[SampledPassage]:
        context = info.context
        workspace = await context.workspace(workspace_id)
        actor = context.principal.subject_id
        found = await context.parts.calibrate_support.hand_out(workspace, most, seed, actor)
        return [to_schema(SampledPassage, one, title=one.document_title) for one in found.sampled]


@strawberry.type
class EvaluationMutation:
    @mutation(
        Action.EVALUATE,
        StartEvalRunPayload,
        right=Sight.ORGANISATION,
        description="Have a worker ask questions and report how the answers did; while an evaluation of the same "
        "questions is unfinished, that one is returned. Takes the role admin.",
    )
    async def start_eval_run(
        self, info: Info, given: Annotated[StartEvalRunInput, strawberry.argument(name="input")]
    ) -> StartEvalRunPayload:
        """The questions are kept as long as the runs of the evaluation."""
        context = info.context
        workspace = await context.workspace(given.workspace_id)
        dataset = eval_runs.EvalDataset(given.dataset, tuple(map(_question, given.questions)))
        run = await context.parts.evaluations.start(workspace, dataset, context.principal.subject_id)
        return StartEvalRunPayload(eval_run=_show_eval_run(run))


def _question(given: EvalQuestionInput) -> eval_runs.EvalQuestion:
    spans = [tuple(span) for span in given.gold_spans]
    if any(len(span) != 2 for span in spans):
        raise InvalidInput(f"A gold span of {given.id!r} is not [start, end).", code="DATASET_INVALID")
    return eval_runs.EvalQuestion(
        question_id=given.id,
        question=given.question,
        answers=tuple(given.answers),
        gold_ids=tuple(given.gold_ids),
        kind=given.type,
        without=tuple(given.without),
        gold_spans=tuple((span[0], span[1]) for span in spans),
    )


def _show_eval_run(run: eval_runs.EvalRun) -> EvalRun:
    workspace_id = run.workspace.workspace_id
    figures = {} if run.report is None else eval_runs.read_figures(run.report)
    return to_schema(
        EvalRun,
        run,
        job_id=encode(NodeKind.JOB, workspace_id, run.job_id),
        workspace_id=encode_workspace(workspace_id),
        dataset=run.dataset.name,
        questions=len(run.dataset.questions),
        figures=[to_schema(EvalFigure, figure, name=name) for name, figure in figures.items()],
        source=run,
    )
