"""Asks the question of a stored run again and tells in which stage the new run parts from it."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
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
from agentic_rag.answering.runs.redaction import has_lost_words
from agentic_rag.answering.state_machine import Stage
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.tenancy.access import read_identity
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.shown_versions import show_versions


class ReplayedConversation(enum.Enum):
    """What a run was asked again after."""

    NONE = "NONE"
    """It had no conversation."""
    WHOLE = "WHOLE"
    """The turns that it was asked after."""
    NOT_KEPT = "NOT_KEPT"
    """The turns before it, if there were any, are not kept: it was asked as its stand-alone question."""
    GONE = "GONE"
    """Of the turns before it one was deleted, erased, hidden, or is past its retention: as NOT_KEPT."""


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
    conversation: ReplayedConversation | None = None
    """None where nothing was asked again."""


@dataclass(frozen=True, slots=True)
class ReplayRun:
    """The use case behind `replayRun`, `diffAnswers`, `rag run replay` and `rag run diff`."""

    database: Database
    runs: ReadRuns
    ask: AnswerQuestion

    async def replay(
        self, principal: Principal, workspace: WorkspaceRef, run_id: UUID, *, newest: bool = False
    ) -> RunComparison:
        """Ask the run's question again, after the runs that were its conversation and with the options that it ran
        with, at its corpus version or the newest one. Where those runs are not there as it read them, it is asked as
        the stand-alone question that it was understood as. The new answer is a run of its own.

        Errors: `NotFound` code RUN_NOT_FOUND, `InvalidInput` codes RUN_NOT_COMPARABLE and AS_OF_UNAVAILABLE
        (retention), and those of asking.
        """
        before = await self._find(principal, workspace, run_id)
        version: int | None = None
        if not newest:
            readers = read_identity(principal)
            (version,) = await show_versions(self.database, workspace, readers, [before.versions.corpus_version])
        question = Question(workspace, before.question, as_of=version, options=options_of(before), turns=before.turns)
        history = await self.runs.conversation(principal, workspace, before.turns or ())
        if before.turns is None or history is None:
            conversation = ReplayedConversation.NOT_KEPT if before.turns is None else ReplayedConversation.GONE
            text = before.answer.debug.standalone_question or before.question
            question = replace(question, text=text, turns=None)
        else:
            conversation = ReplayedConversation.WHOLE if history else ReplayedConversation.NONE
            question = replace(question, history=history)
        return _compare(before, await self.ask.ask(principal, question), conversation)

    async def diff(self, principal: Principal, before: RunRef, after: RunRef) -> RunComparison:
        """Compare two stored runs of one workspace. That they are of two is told only to those who may see both.
        Errors: `NotFound` code RUN_NOT_FOUND, `InvalidInput` code RUN_NOT_COMPARABLE.
        """
        first = await self._find(principal, before.workspace, before.run_id)
        last = await self._find(principal, after.workspace, after.run_id)
        if before.workspace != after.workspace:
            raise InvalidInput("The runs are of different workspaces.", code="RUN_NOT_COMPARABLE", path=("laterRunId",))
        return _compare(first, last)

    async def _find(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> Run:
        run = await self.runs.get(principal, workspace, run_id)
        if run is None:
            raise NotFound("There is no such run, or it is past its retention.", code="RUN_NOT_FOUND")
        if has_lost_words(run.answer):
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


def _compare(before: Run, after: Run, conversation: ReplayedConversation | None = None) -> RunComparison:
    answer = compare_answers(before.answer, after.answer)
    return RunComparison(before, after, find_differences(before, after), answer, conversation)
