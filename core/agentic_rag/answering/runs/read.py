"""Reads stored runs: callers see their own, admins see all; citations they may no longer read are redacted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from agentic_rag.answering.ports import RunStore
from agentic_rag.answering.query.standalone import turn_of
from agentic_rag.answering.question import MAX_HISTORY_TURNS, Question, Turn
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.ask_request import EarlierRuns
from agentic_rag.answering.runs.record import RunRecorder
from agentic_rag.answering.runs.redaction import (
    collect_document_ids,
    drop_unnamed_results,
    has_lost_words,
    withhold_documents,
)
from agentic_rag.answering.runs.run_filter import ALL_RUNS, RunFilter
from agentic_rag.answering.threads.thread import TURNS_READ
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import IdempotencyConflict, NotFound, no_such_thread
from agentic_rag.kernel.ids import unix_seconds
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.tenancy.access import may_manage_access, only_subject, read_identity
from agentic_rag.tenancy.principals import Principal, WorkspaceRef

_FRESH_SECONDS = 3.0
"""A run is stored behind its answer (`runs.record`). One that is not there so long after its id was made never comes.
"""
_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class FollowedQuestion:
    """A question with the conversation before it, and the runs that this is."""

    question: Question
    earlier: EarlierRuns


class ReadRuns:
    """A run whose sources its reader may not read (any more) is shown without their words. A run that was answered a
    moment ago is found too: `recorder` has those of this process, and for those of another one the reader waits.
    """

    def __init__(self, database: Database, runs: RunStore, clock: Clock, recorder: RunRecorder | None = None) -> None:
        self._database = database
        self._runs = runs
        self._clock = clock
        self._recorder = recorder

    async def get(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> Run | None:
        """The run, or None: somebody else's looks like none, and takes as long. Errors: `DependencyUnavailable`."""
        run = await self._find(principal, workspace, run_id)
        return None if run is None else await self.redact_for(principal, run)

    async def get_with_hidden(
        self, principal: Principal, workspace: WorkspaceRef, run_id: UUID
    ) -> tuple[Run, tuple[int, ...]] | None:
        """As `get`, with the markers of the citations that are left out because the caller may not read their
        documents. Errors: `DependencyUnavailable`.
        """
        run = await self._find(principal, workspace, run_id)
        shown = None if run is None else await self.redact_for(principal, run)
        if run is None or shown is None:
            return None
        kept = {one.marker for one in shown.answer.citations}
        return shown, tuple(one.marker for one in run.answer.citations if one.marker not in kept)

    async def page(
        self, principal: Principal, workspace: WorkspaceRef, request: PageRequest, wanted: RunFilter = ALL_RUNS
    ) -> Page[Run]:
        """Runs that the filter admits, newest first. Errors: `InvalidInput` (cursor, page size),
        `DependencyUnavailable`.
        """
        page = await self._runs.page(workspace, request, _seen_by(principal, wanted))
        return replace(page, items=tuple(await self._redact_unreadable(principal, workspace, page.items)))

    async def count(self, principal: Principal, workspace: WorkspaceRef, wanted: RunFilter = ALL_RUNS) -> int:
        """How many runs all pages together show. Errors: `DependencyUnavailable`."""
        return await self._runs.count(workspace, _seen_by(principal, wanted))

    async def redact_for(self, principal: Principal, run: Run) -> Run | None:
        """What the caller may see of a run that is at hand."""
        if run.subject != principal.subject_id and not may_manage_access(principal):
            return None
        (shown,) = await self._redact_unreadable(principal, run.workspace, [run])
        return shown

    async def by_idempotency_key(
        self, principal: Principal, workspace: WorkspaceRef, key: str, sent: bytes | None
    ) -> Run | None:
        """The run that an idempotency key of the caller stands for. Errors: `IdempotencyConflict` when the key came
        with another request.
        """
        stored = await self._runs.by_idempotency_key(workspace, key)
        if stored is None:
            return None
        if stored.input_hash != sent:
            raise IdempotencyConflict(
                "The idempotency key was used before with another question or other options. Use a fresh key.",
                path=("idempotencyKey",),
            )
        return await self.redact_for(principal, stored)

    async def add_turns(self, principal: Principal, question: Question) -> FollowedQuestion:
        """The question with the turns of its thread and the run it follows, as far as the caller may see them. Errors:
        `NotFound` codes RUN_NOT_FOUND and THREAD_NOT_FOUND.
        """
        if question.turns is not None:
            return FollowedQuestion(question, EarlierRuns(None, question.turns))
        if question.after is not None:
            return await self._follow(principal, question, question.after)
        if question.thread is None:
            return FollowedQuestion(question, EarlierRuns(None, None if question.history else ()))
        workspace, subject = question.workspace, principal.subject_id
        async with self._database.transaction(workspace.org_id) as transaction:
            if await transaction.threads.get(workspace, question.thread, subject) is None:
                raise no_such_thread()
        wanted = RunFilter(subject=subject, thread=question.thread)
        newest = (await self.page(principal, workspace, PageRequest(TURNS_READ), wanted)).items
        history = tuple(turn_of(run) for run in reversed(newest))
        earlier = EarlierRuns(newest[0].run_id if newest else None, _refer_to(newest[::-1]))
        return FollowedQuestion(replace(question, history=history), earlier)

    async def conversation(
        self, principal: Principal, workspace: WorkspaceRef, turns: Sequence[UUID]
    ) -> tuple[Turn, ...] | None:
        """The turns that runs are, as a run that followed them read them. None where one of them was deleted, is past
        its retention, or has lost words for the caller. Errors: `DependencyUnavailable`.
        """
        found = [await self.get(principal, workspace, one) for one in turns]
        runs = [run for run in found if run is not None and not has_lost_words(run.answer)]
        return tuple(map(turn_of, runs)) if len(runs) == len(turns) else None

    async def _follow(self, principal: Principal, question: Question, after: UUID) -> FollowedQuestion:
        run = await self._find(principal, question.workspace, after)
        run = None if run is None else await self.redact_for(principal, run)
        if run is None:
            raise NotFound(
                "This workspace has no such run, or the run is past its retention. Send the turns as `history` "
                "instead.",
                code="RUN_NOT_FOUND",
            )
        turns = None if question.history else _refer_to([run])
        history = (*question.history, turn_of(run))[-MAX_HISTORY_TURNS:]
        return FollowedQuestion(replace(question, history=history, after=None), EarlierRuns(after, turns))

    async def _find(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> Run | None:
        subject = only_subject(principal)
        run = None if self._recorder is None else self._recorder.find(workspace, run_id)
        if run is None or subject not in (None, run.subject):
            run = await self._runs.get(workspace, run_id, subject)
        made = unix_seconds(run_id)
        left = 0.0 if made is None else made + _FRESH_SECONDS - self._clock.now().timestamp()
        for _ in range(round(min(left, _FRESH_SECONDS) / _PAUSE_SECONDS)):
            if run is not None:
                break
            await asyncio.sleep(_PAUSE_SECONDS)
            run = await self._runs.get(workspace, run_id, subject)
        return run

    async def _redact_unreadable(self, principal: Principal, workspace: WorkspaceRef, runs: Sequence[Run]) -> list[Run]:
        if not runs:
            return []
        runs = [_without_foreign_thread(principal, run) for run in runs]
        reading = read_identity(principal)
        async with self._database.transaction(workspace.org_id) as transaction:
            access = await transaction.access.readable(workspace, reading)
            if access.is_unrestricted:
                return runs
            used = sorted({one for run in runs for one in collect_document_ids(run.answer)})
            hidden = await transaction.access.unreadable(workspace, used, reading)
        return [withhold_documents(run, hidden) for run in runs]


def _refer_to(runs: Sequence[Run]) -> tuple[UUID, ...] | None:
    """The runs as `Run.turns`. One that has lost words is none: who reads it again may find more, or less."""
    return None if any(has_lost_words(run.answer) for run in runs) else tuple(run.run_id for run in runs)


def _without_foreign_thread(principal: Principal, run: Run) -> Run:
    """The run with results that name their document only; that it is of a thread is told to its subject alone."""
    thread = run.thread if run.subject == principal.subject_id else None
    return replace(run, answer=drop_unnamed_results(run.answer), thread=thread)


def _seen_by(principal: Principal, wanted: RunFilter) -> RunFilter:
    """The filter within the runs that the caller may see."""
    return replace(wanted, subject=only_subject(principal) or wanted.subject)
