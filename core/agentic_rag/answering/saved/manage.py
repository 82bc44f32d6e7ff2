"""Saves questions, lists and removes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.runs.redaction import has_lost_words
from agentic_rag.answering.saved.saved_question import MOST_OF_ONE, MOST_SAVED, Replayed, SavedQuestion, SavedState
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import InvalidInput, NotFound, no_such_workspace
from agentic_rag.kernel.ids import Ids
from agentic_rag.tenancy.principals import Principal, SubjectKind, WorkspaceRef


@dataclass(frozen=True, slots=True)
class ManageSaved:
    """The use case behind `saveQuestion`, `savedQuestions`, `removeSavedQuestion` and `rag saved`. A saved question
    belongs to its subject: to everybody else it is not there.
    """

    database: Database
    runs: ReadRuns
    clock: Clock
    ids: Ids

    async def save(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> SavedQuestion:
        """Have the question of a run of the caller's asked again after each publish, and compared with that run. A
        question that is saved is compared with this run from now on.

        Errors: `NotFound` codes RUN_NOT_FOUND and WORKSPACE_NOT_FOUND, `InvalidInput` codes RUN_NOT_COMPARABLE and
        SAVED_QUESTIONS_FULL.
        """
        run = await self.runs.get(principal, workspace, run_id)
        if run is None or run.subject != principal.subject_id:
            raise NotFound("You asked no such run, or it is past its retention.", code="RUN_NOT_FOUND")
        if run.answer.outside is not None or has_lost_words(run.answer):
            raise InvalidInput(
                "This run looked outside the documents, or its words are not there to be compared.",
                code="RUN_NOT_COMPARABLE",
                path=("runId",),
            )
        question = run.answer.debug.standalone_question or run.question
        now = self.clock.now()
        made = SavedQuestion(
            workspace,
            self.ids.new(),
            principal,
            question,
            run.run_id,
            now,
            now,
            Replayed(SavedState.WAITING, run.versions.corpus_version),
        )
        async with self.database.transaction(workspace.org_id) as transaction:
            if await transaction.workspaces.get(workspace.workspace_id) is None:
                raise no_such_workspace()
            every = await transaction.saved.every(workspace)
            held = next((one for one in every if _is_same(one, made)), None)
            own = sum(one.principal.subject_id == principal.subject_id for one in every)
            if held is None and (len(every) >= MOST_SAVED or own >= MOST_OF_ONE):
                raise InvalidInput(
                    f"A workspace has at most {MOST_SAVED} saved questions, {MOST_OF_ONE} of one caller: remove one "
                    "first.",
                    code="SAVED_QUESTIONS_FULL",
                )
            kept = made if held is None else replace(made, saved_id=held.saved_id, saved_at=held.saved_at)
            await transaction.saved.put(kept)
        return kept

    async def own(self, principal: Principal, workspace: WorkspaceRef) -> Sequence[SavedQuestion]:
        """The caller's, the one that was asked again last first. A person's groups are taken note of. The rights of
        a key never change, and another key of its subject may have others.
        """
        async with self.database.transaction(workspace.org_id) as transaction:
            if principal.kind is not SubjectKind.KEY:
                await transaction.saved.note_rights(workspace, principal, self.clock.now())
            every = await transaction.saved.every(workspace)
        own = [one for one in every if one.principal.subject_id == principal.subject_id]
        return sorted(own, key=lambda one: one.checked_at or one.saved_at, reverse=True)

    async def remove(self, principal: Principal, workspace: WorkspaceRef, saved_id: UUID) -> None:
        """Ask it no more; its runs stay. Errors: `NotFound` code SAVED_QUESTION_NOT_FOUND."""
        async with self.database.transaction(workspace.org_id) as transaction:
            is_removed = await transaction.saved.remove(workspace, saved_id, principal.subject_id)
        if not is_removed:
            raise NotFound("You have no such saved question.", code="SAVED_QUESTION_NOT_FOUND")


def _is_same(one: SavedQuestion, other: SavedQuestion) -> bool:
    return (one.principal.subject_id, one.question) == (other.principal.subject_id, other.question)
