"""What every `SavedStore` promises."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from tests.contract.backends import Backend

from agentic_rag.answering.saved.saved_question import NotCompared, Replayed, SavedQuestion, SavedState
from agentic_rag.tenancy.principals import KeyScope, Principal, Role, SubjectKind, WorkspaceRef

NOW = datetime(2026, 11, 28, 4, tzinfo=UTC)


def saved(workspace: WorkspaceRef, subject: str = "ada", minutes: int = 0) -> SavedQuestion:
    scopes = frozenset({KeyScope.ASK, KeyScope.READ})
    owner = Principal(workspace.org_id, subject, Role.MEMBER, ("people",), scopes, SubjectKind.KEY)
    at = NOW + timedelta(minutes=minutes)
    return SavedQuestion(workspace, uuid4(), owner, "Who signs?", uuid4(), at, at, Replayed(SavedState.WAITING, 3))


async def stored(adapter: Backend, workspace: WorkspaceRef, *more: SavedQuestion) -> list[SavedQuestion]:
    async with adapter.database.transaction(workspace.org_id) as transaction:
        for one in more:
            await transaction.saved.put(one)
        return list(await transaction.saved.every(workspace))


async def test_saved_questions_come_back_as_they_were_stored(adapter: Backend) -> None:
    workspace, other = await adapter.workspace(), await adapter.workspace()
    first, second = saved(workspace), saved(workspace, "eve", 1)

    assert await stored(adapter, workspace, second, first) == [first, second]
    again = replace(first, run_id=uuid4(), seen_at=NOW + timedelta(days=1))
    assert await stored(adapter, workspace, again) == [again, second]
    assert await stored(adapter, other) == []


async def test_a_same_answer_becomes_what_the_next_one_is_compared_with(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    same, changed, late = saved(workspace), saved(workspace, minutes=1), saved(workspace, minutes=2)
    await stored(adapter, workspace, same, changed, late)
    found = Replayed(SavedState.SAME, 4, uuid4())
    other = Replayed(SavedState.CHANGED, 4, uuid4(), None, "retrieve", "passages", 1, 2)
    missed = Replayed(SavedState.NOT_COMPARED, 4, reason=NotCompared.DEGRADED)

    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.saved.note(same, found, NOW)
        await transaction.saved.note(changed, other, NOW)
        await transaction.saved.note(replace(late, run_id=uuid4()), missed, NOW)

    assert found.run_id is not None
    assert await stored(adapter, workspace) == [
        replace(same, run_id=found.run_id, replayed=found, checked_at=NOW),
        replace(changed, replayed=other, checked_at=NOW),
        late,
    ]


async def test_rights_are_noted_and_questions_removed_for_their_subject_alone(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    own, other = saved(workspace), saved(workspace, "eve", 1)
    await stored(adapter, workspace, own, other)
    now = replace(own.principal, role=Role.VIEWER, groups=(), scopes=None)

    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.saved.note_rights(workspace, now, NOW + timedelta(days=1))
        assert not await transaction.saved.remove(workspace, other.saved_id, own.principal.subject_id)
        assert not await transaction.saved.remove(workspace, uuid4(), own.principal.subject_id)

    seen = replace(own, principal=now, seen_at=NOW + timedelta(days=1))
    assert await stored(adapter, workspace) == [seen, other]
    async with adapter.database.transaction(workspace.org_id) as transaction:
        assert await transaction.saved.remove(workspace, own.saved_id, own.principal.subject_id)
    assert await stored(adapter, workspace) == [other]
