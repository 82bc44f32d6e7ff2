"""Asks the saved questions of a workspace again and notes whether their answers changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from agentic_rag.answering.ask import AnswerQuestion
from agentic_rag.answering.question import Question
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.difference import compare_answers, find_differences
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.runs.redaction import has_lost_words
from agentic_rag.answering.runs.replay import options_of
from agentic_rag.answering.saved.saved_question import (
    RIGHTS_DAYS,
    NotCompared,
    Replayed,
    SavedQuestion,
    SavedState,
)
from agentic_rag.jobs.job import Lease
from agentic_rag.jobs.leases import require_lease
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import BudgetExceeded, InvalidInput, MissingProviderKey, NotFound
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.access import read_identity
from agentic_rag.tenancy.entering import entering_as
from agentic_rag.tenancy.principals import Principal, SubjectKind, WorkspaceRef
from agentic_rag.tenancy.shown_versions import show_versions


@dataclass(frozen=True, slots=True)
class ReplaySaved:
    """The body of a SAVED job. It asks past the cache, by rules and models as the workspace has them: a question of a
    workspace without a chat model costs nothing, and calls of a model stay within the ceilings, as for any question.
    The web is never asked.
    """

    database: Database
    runs: ReadRuns
    ask: AnswerQuestion
    clock: Clock
    telemetry: Telemetry

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Ask each question again that was not asked at the newest corpus version. What is done is kept, so that a
        later attempt goes on from there. Errors: `LeaseLost`, `DependencyUnavailable`, `Overloaded`.
        """
        workspace = lease.job.workspace
        newest = await self.database.corpus_version(workspace)
        if newest is None:
            return
        async with self.database.transaction(workspace.org_id) as transaction:
            due = [one for one in await transaction.saved.every(workspace) if one.replayed.version < newest]
        for one in due:
            found, checked_at = await self._replay(one, newest), self.clock.now()
            if found is None:
                found, checked_at = replace(one.replayed, version=newest), one.checked_at
            async with self.database.transaction(workspace.org_id) as transaction:
                await require_lease(transaction.jobs, lease)
                await transaction.saved.note(one, found, checked_at)
            if found.state is SavedState.CHANGED and checked_at != one.checked_at:
                self.telemetry.event(
                    "rag_saved_question_changed",
                    workspace=str(workspace.workspace_id),
                    saved=str(one.saved_id),
                    stage=found.stage,
                )
            progress.advance()

    async def _replay(self, saved: SavedQuestion, newest: int) -> Replayed | None:
        """What asking again told; None where nothing that the owner may read was published since."""
        workspace = saved.workspace
        principal = await self._rights_now(workspace, saved)
        if principal is None:
            return _not_compared(newest, NotCompared.RIGHTS_UNKNOWN)
        with entering_as(principal):
            asked_at = saved.replayed.version
            shown = await show_versions(self.database, workspace, read_identity(principal), [asked_at, newest])
            if shown[0] == shown[1]:
                return None
            before = await self.runs.get(principal, workspace, saved.run_id)
            if before is None or has_lost_words(before.answer):
                return _not_compared(newest, NotCompared.RUN_GONE)
            options = replace(options_of(before), allow_web=False)
            try:
                after = await self.ask.ask(principal, Question(workspace, saved.question, options=options))
            except (BudgetExceeded, MissingProviderKey):
                return _not_compared(newest, NotCompared.DEGRADED)
            except NotFound:
                return _not_compared(newest, NotCompared.RIGHTS_UNKNOWN)
            except InvalidInput:
                return _not_compared(newest, NotCompared.FAILED)
        if set(after.answer.degraded) - set(before.answer.degraded):
            return _not_compared(newest, NotCompared.DEGRADED)
        return compare(before, after, newest)

    async def _rights_now(self, workspace: WorkspaceRef, saved: SavedQuestion) -> Principal | None:
        """The owner, where the rights with which it came last are still its own as far as is known here; else None. An
        issuer names groups in its tokens alone, so those of a person are as of the last time that it came. A subject
        may have several keys: one with other rights says nothing of what this one may know.
        """
        owner = saved.principal
        if owner.kind is not SubjectKind.KEY:
            is_known = self.clock.now() - saved.seen_at <= timedelta(days=RIGHTS_DAYS)
            return owner if is_known else None
        async with self.database.transaction(workspace.org_id) as transaction:
            keys = await transaction.api_keys.all()
        now = self.clock.now()
        rights = (owner.subject, owner.role, frozenset(owner.groups), owner.scopes)
        valid = (one for one in keys if one.is_valid(now))
        return (
            owner
            if any((one.subject, one.role, frozenset(one.groups), one.scopes) == rights for one in valid)
            else None
        )


def compare(before: Run, after: Run, version: int) -> Replayed:
    """Whether the answer, or what it cites, is another. A stage that made something else on the way to the same answer
    is no change: each publish shifts scores.
    """
    answer = compare_answers(before.answer, after.answer)
    is_same = before.answer.outcome is after.answer.outcome and not (
        answer.removed or answer.added or answer.citations_removed or answer.citations_added
    )
    if is_same:
        return Replayed(SavedState.SAME, version, after.run_id)
    # That the web was not asked is no finding of the gate's.
    found = find_differences(before, replace(after, answer=replace(after.answer, gate=before.answer.gate)))
    first = next(iter(found), None)
    return Replayed(
        SavedState.CHANGED,
        version,
        after.run_id,
        stage=None if first is None else first.stage.value,
        what=None if first is None else first.what,
        removed=len(answer.removed),
        added=len(answer.added),
    )


def _not_compared(version: int, reason: NotCompared) -> Replayed:
    return Replayed(SavedState.NOT_COMPARED, version, reason=reason)
