"""Asks the question of a stored run again and tells in which stage the new run parts from it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from agentic_rag.answering.ask import AnswerQuestion
from agentic_rag.answering.gate_decision import DowngradeCause
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.difference import (
    AnswerDifference,
    StageDifference,
    compare_answers,
    find_differences,
)
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.runs.redaction import SOURCE_ERASED, SOURCE_WITHHELD
from agentic_rag.answering.state_machine import Stage
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.tenancy.access import read_identity
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.shown_versions import show_versions


@dataclass(frozen=True, slots=True)
class RunRef:
    """A run and the workspace that its id names."""

    workspace: WorkspaceRef
    run_id: UUID


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs, and how the second differs from the first."""

    before: Run
    after: Run
    differences: tuple[StageDifference, ...]
    answer: AnswerDifference


@dataclass(frozen=True, slots=True)
class ReplayRun:
    """The use case behind `replayRun`, `diffAnswers`, `rag run replay` and `rag run diff`."""

    database: Database
    runs: ReadRuns
    ask: AnswerQuestion

    async def replay(
        self, principal: Principal, workspace: WorkspaceRef, run_id: UUID, *, newest: bool = False
    ) -> RunComparison:
        """Ask the run's question again with the options that it ran with, at its corpus version or the newest one. A
        follow-up is asked as the stand-alone question that it was understood as: the turns before it are not kept, as
        no erasure would find what they repeat. The new answer is a run of its own.

        Errors: `NotFound` code RUN_NOT_FOUND, `InvalidInput` codes RUN_NOT_COMPARABLE and AS_OF_UNAVAILABLE
        (retention), and those of asking.
        """
        before = await self._find(principal, workspace, run_id)
        version: int | None = None
        if not newest:
            readers = read_identity(principal)
            (version,) = await show_versions(self.database, workspace, readers, [before.versions.corpus_version])
        text = before.answer.debug.standalone_question or before.question
        question = Question(workspace, text, as_of=version, options=options_of(before))
        return _compare(before, await self.ask.ask(principal, question))

    async def diff(self, principal: Principal, before: RunRef, after: RunRef) -> RunComparison:
        """Compare two stored runs of one workspace. That they are of two is told only to those who may see both.
        Errors: `NotFound` code RUN_NOT_FOUND, `InvalidInput` code RUN_NOT_COMPARABLE.
        """
        found = [await self._find(principal, one.workspace, one.run_id) for one in (before, after)]
        if before.workspace != after.workspace:
            raise InvalidInput("The runs are of different workspaces.", code="RUN_NOT_COMPARABLE", path=("laterRunId",))
        return _compare(*found)

    async def _find(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> Run:
        run = await self.runs.get(principal, workspace, run_id)
        if run is None:
            raise NotFound("There is no such run, or it is past its retention.", code="RUN_NOT_FOUND")
        if run.answer.text in (SOURCE_ERASED, SOURCE_WITHHELD):
            raise InvalidInput(
                "The words of this run are not there to be compared: a document that it used was erased, or you may "
                "not read it. Ask the question again.",
                code="RUN_NOT_COMPARABLE",
                path=("id",),
            )
        return run


def options_of(run: Run) -> AnswerOptions:
    """The options that a run ran with, as far as it tells them; none is taken from what is set now."""
    held = run.answer.debug.search
    hyde = next((record.outcome for record in run.stages if record.stage == Stage.HYDE.value), None)
    options = AnswerOptions(
        use_hyde=None if hyde is None else hyde.startswith("ok"),
        allow_web=False if run.answer.gate.was_lowered_by(DowngradeCause.REQUEST) else None,
        cache=CacheMode.BYPASS,
    )
    if held is None:
        return options
    return AnswerOptions(
        top_k=held.top_k,
        min_score=held.min_score,
        fusion=held.fusion,
        weights=held.weights,
        per_document=held.per_document or 0,
        diversity=held.diversity,
        min_similarity=held.similarity_threshold,
        filter=held.filter,
        use_hyde=options.use_hyde,
        allow_web=options.allow_web,
        cache=options.cache,
    )


def _compare(before: Run, after: Run) -> RunComparison:
    return RunComparison(before, after, find_differences(before, after), compare_answers(before.answer, after.answer))
