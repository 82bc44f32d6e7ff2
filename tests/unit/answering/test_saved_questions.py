"""Saved questions are asked again after a publish, and tell whether their answer changed: over stores in memory."""

import secrets
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from tests.memory_store.workspaces.organisations import MemoryOrganisations
from tests.unit.answering.test_explain import World, filled

from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.answering.question import Question
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs import read
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.saved import manage
from agentic_rag.answering.saved.manage import ManageSaved
from agentic_rag.answering.saved.replay_saved import ReplaySaved
from agentic_rag.answering.saved.saved_question import RIGHTS_DAYS, NotCompared, SavedQuestion, SavedState
from agentic_rag.jobs.job import JobKind, JobRef, NewJob
from agentic_rag.kernel.errors import InvalidInput, LeaseLost, NotFound
from agentic_rag.tenancy.api_keys import NewApiKey
from agentic_rag.tenancy.principals import Principal, Role, SubjectKind

FOUNDED = "Who founded the Baltic Chess Union?"


class Desk:
    """A world whose questions are saved and asked again."""

    def __init__(self, world: World) -> None:
        self.world, self.workspace, self.ada = world, world.workspace, world.asker
        self.reading = ReadRuns(world.database, world.runs, world.store.clock, world.recorder)
        self.saved = ManageSaved(world.database, self.reading, world.store.clock, RandomIds())
        self.job = ReplaySaved(world.database, self.reading, world.answer, world.store.clock, world.telemetry)
        self.steps = 0
        self.asked: list[Principal] = []
        """For whom questions were asked again."""

    async def add_key(self, holder: Principal) -> None:
        """A valid key with the rights of the holder."""
        key = NewApiKey(secrets.token_bytes(32), "key", holder.subject, holder.role, holder.groups, holder.scopes)
        await MemoryOrganisations(self.world.store).ensure_organisation(self.workspace.org_id, "ours")
        async with self.world.database.transaction(self.workspace.org_id) as transaction:
            await transaction.api_keys.add(uuid4(), key)

    def advance(self) -> None:
        self.steps += 1

    async def ask(self, text: str = FOUNDED, asker: Principal | None = None, **more: Any) -> Run:
        run = await self.world.answer.ask(asker or self.ada, Question(self.workspace, text, **more))
        await self.world.recorder.drain()
        return run

    async def save(self, run: Run, asker: Principal | None = None) -> SavedQuestion:
        return await self.saved.save(asker or self.ada, self.workspace, run.run_id)

    async def replay(self) -> None:
        async with self.world.database.transaction(self.workspace.org_id) as transaction:
            ref, _ = await transaction.jobs.enqueue(NewJob(self.workspace, JobKind.SAVED, "saved", {}))
            lease = await transaction.jobs.lease(JobRef(self.workspace, ref.job_id), "w", timedelta(minutes=5))
        assert lease is not None
        asking = self.world.answer.ask

        async def ask(principal: Principal, question: Question) -> Run:
            self.asked.append(principal)
            return await asking(principal, question)

        await replace(self.job, ask=SimpleNamespace(ask=ask)).run(lease, self)  # type: ignore[arg-type]
        async with self.world.database.transaction(self.workspace.org_id) as transaction:
            await transaction.jobs.finish(lease.ref, lease.fence)
        await self.world.recorder.drain()

    async def own(self, asker: Principal | None = None) -> list[SavedQuestion]:
        return list(await self.saved.own(asker or self.ada, self.workspace))


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with filled(World()) as world:
        yield Desk(world)


async def test_a_publish_that_changes_nothing_of_the_answer_is_told_as_the_same(desk: Desk) -> None:
    run = await desk.ask()
    await desk.save(run)
    await desk.replay()
    assert [one.replayed.state for one in await desk.own()] == [SavedState.WAITING]

    await desk.world.add("Harbour pilots", "Pilots meet every vessel at the northern pier.")
    await desk.replay()

    (found,) = await desk.own()
    assert found.replayed.state is SavedState.SAME
    assert found.run_id == found.replayed.run_id != run.run_id
    assert found.checked_at is not None


@pytest.mark.tells("rag_saved_question_changed")
async def test_a_publish_that_changes_the_answer_is_told_with_the_stage_and_an_event(desk: Desk) -> None:
    run = await desk.ask()
    await desk.save(run)

    await desk.world.add("Baltic Chess Union", "The Baltic Chess Union was founded by Rosa Lund in Riga.")
    await desk.replay()

    (found,) = await desk.own()
    assert (found.replayed.state, found.run_id) == (SavedState.CHANGED, run.run_id)
    assert (found.replayed.removed, found.replayed.added) == (1, 1)
    assert found.replayed.stage == "retrieve"
    assert "rag_saved_question_changed" in [one.name for one in desk.world.telemetry.events]
    assert found.replayed.run_id is not None
    newer = await desk.reading.get(desk.ada, desk.workspace, found.replayed.run_id)
    assert newer is not None
    assert "Rosa Lund" in newer.answer.text
    await desk.save(newer)
    assert [(one.run_id, one.replayed.state) for one in await desk.own()] == [(newer.run_id, SavedState.WAITING)]


async def test_a_follow_up_is_asked_as_the_question_it_stands_for(desk: Desk) -> None:
    founded = await desk.ask()
    follow_up = await desk.ask("And why?", after=founded.run_id)

    kept = await desk.save(follow_up)

    assert kept.question == "Why (about: who founded the Baltic Chess Union)?"


async def test_a_person_who_does_not_come_any_more_is_not_asked_for(desk: Desk) -> None:
    kept = await desk.save(await desk.ask())
    old = replace(kept, seen_at=kept.seen_at - timedelta(days=RIGHTS_DAYS, seconds=1))
    async with desk.world.database.transaction(desk.workspace.org_id) as transaction:
        await transaction.saved.put(old)
    await desk.world.add("Harbour pilots", "Pilots meet every vessel at the northern pier.")

    await desk.replay()

    (found,) = await desk.own()
    assert (found.replayed.state, found.replayed.reason) == (SavedState.NOT_COMPARED, NotCompared.RIGHTS_UNKNOWN)


async def test_a_key_that_is_not_valid_any_more_is_not_asked_for(desk: Desk) -> None:
    key = replace(desk.ada, kind=SubjectKind.KEY)
    await desk.save(await desk.ask(asker=key), key)
    await desk.world.add("Harbour pilots", "Pilots meet every vessel at the northern pier.")

    await desk.replay()

    (found,) = await desk.own(key)
    assert found.replayed.reason is NotCompared.RIGHTS_UNKNOWN


async def test_a_key_is_asked_for_with_its_own_rights_not_with_those_of_a_wider_key_of_its_subject(desk: Desk) -> None:
    narrow = replace(desk.ada, kind=SubjectKind.KEY, role=Role.VIEWER, groups=("crew",))
    await desk.add_key(narrow)
    await desk.save(await desk.ask(asker=narrow), narrow)
    wide = replace(narrow, role=Role.ADMIN, groups=("board", "crew"))
    await desk.add_key(wide)
    await desk.own(wide)
    await desk.world.add("Harbour pilots", "Pilots meet every vessel at the northern pier.")

    await desk.replay()

    assert [(one.role, one.groups) for one in desk.asked] == [(Role.VIEWER, ("crew",))]


async def test_a_key_whose_rights_no_valid_key_has_any_more_is_not_asked_for(desk: Desk) -> None:
    key = replace(desk.ada, kind=SubjectKind.KEY, role=Role.VIEWER)
    await desk.save(await desk.ask(asker=key), key)
    await desk.add_key(replace(key, role=Role.ADMIN))
    await desk.world.add("Harbour pilots", "Pilots meet every vessel at the northern pier.")

    await desk.replay()

    (found,) = await desk.own(key)
    assert (found.replayed.reason, desk.asked) == (NotCompared.RIGHTS_UNKNOWN, [])


async def test_a_run_that_is_gone_is_not_compared_with(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "_FRESH_SECONDS", 0.1)
    run = await desk.ask(begins_thread=True)
    await desk.save(run)
    async with desk.world.database.transaction(desk.workspace.org_id) as transaction:
        await transaction.threads.delete(desk.workspace, run.run_id, desk.ada.subject_id)
    await desk.world.add("Harbour pilots", "Pilots meet every vessel at the northern pier.")

    await desk.replay()

    (found,) = await desk.own()
    assert found.replayed.reason is NotCompared.RUN_GONE


@pytest.mark.parametrize("limit", ["MOST_SAVED", "MOST_OF_ONE"])
async def test_questions_are_of_their_subject_alone_and_limited(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    run = await desk.ask()
    kept = await desk.save(run)
    admin = replace(desk.ada, subject="root", role=Role.ADMIN)

    with pytest.raises(NotFound):
        await desk.save(run, admin)
    with pytest.raises(NotFound) as caught:
        await desk.saved.remove(admin, desk.workspace, kept.saved_id)
    assert caught.value.code == "SAVED_QUESTION_NOT_FOUND"
    assert await desk.own(admin) == []
    monkeypatch.setattr(manage, limit, 1)
    assert (await desk.save(await desk.ask())).saved_id == kept.saved_id
    with pytest.raises(InvalidInput) as full:
        await desk.save(await desk.ask("Who founded the Norrland Hockey League?"))
    assert full.value.code == "SAVED_QUESTIONS_FULL"
    await desk.saved.remove(desk.ada, desk.workspace, kept.saved_id)
    assert await desk.own() == []


async def test_a_caller_whose_places_are_taken_leaves_those_of_others(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manage, "MOST_OF_ONE", 1)
    bob = replace(desk.ada, subject="bob")

    await desk.save(await desk.ask())
    kept = await desk.save(await desk.ask(asker=bob), bob)

    assert [one.saved_id for one in await desk.own(bob)] == [kept.saved_id]


async def test_a_worker_that_lost_its_lease_notes_nothing(desk: Desk) -> None:
    await desk.save(await desk.ask())
    await desk.world.add("Harbour pilots", "Pilots meet every vessel at the northern pier.")
    async with desk.world.database.transaction(desk.workspace.org_id) as transaction:
        ref, _ = await transaction.jobs.enqueue(NewJob(desk.workspace, JobKind.SAVED, "saved", {}))
        lease = await transaction.jobs.lease(ref, "w", timedelta(minutes=5))
    assert lease is not None

    with pytest.raises(LeaseLost):
        await desk.job.run(replace(lease, fence=lease.fence - 1), desk)

    assert [one.replayed.state for one in await desk.own()] == [SavedState.WAITING]
