"""What was erased answers nothing from its commit on; other processes drop what they hold of it later, and its
certificate says no more than they said.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import asyncpg
import pytest
from tests.integration.jobs.holders import QUESTION, Holder, World
from tests.memory_store.telemetry import RecordingTelemetry
from tests.waiting import eventually

from agentic_rag.adapters.postgres.erasure import process_register
from agentic_rag.adapters.postgres.erasure.process_register import ProcessRegister
from agentic_rag.adapters.postgres.workspaces.organisation_register import PostgresOrganisationRegister
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.bootstrap import Container
from agentic_rag.erasure.certificate import Certificate, ErasedStore
from agentic_rag.erasure.process_memory import ProcessMemory
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import Principal, Role

pytestmark = [pytest.mark.integration, pytest.mark.network]


@pytest.fixture
async def world(migrated_database: str, fresh_redis: str, tmp_path: Path) -> AsyncIterator[World]:
    world = World(migrated_database, fresh_redis, tmp_path)
    await PostgresOrganisationRegister(migrated_database).create(world.org_id, "ours", "issuer-ours")
    yield world
    for holder in world.holders:
        holder.end()
    await world.container.aclose()


def lines_of(certificate: Certificate | None) -> tuple[int, bool, int]:
    """What it says of processes: how many followed, whether all that live did, how many lapsed."""
    assert certificate is not None
    [line] = [one for one in certificate.stores if one.store is ErasedStore.PROCESSES]
    return line.count or 0, line.done, certificate.count(ErasedStore.LAPSED_PROCESSES)


def gap(certificate: Certificate) -> str:
    """What it says of memory."""
    [found] = [one.reason for one in certificate.not_covered if one.place == "process_memory"]
    return found


async def test_an_erasure_waits_for_nobody_and_answers_nothing_from_its_commit_on(world: World) -> None:
    workspace, [document_id] = await world.workspace("ours", 1)
    holder, stopped = await world.holder(searched=False), await world.holder(searched=False)
    first = [await one.ask(workspace, CacheMode.DEFAULT) for one in (holder, stopped)]
    stopped.program.send_signal(signal.SIGSTOP)

    deletion = await world.erase(workspace, document_id)
    after = await holder.ask(workspace, CacheMode.DEFAULT)
    stopped.program.send_signal(signal.SIGCONT)

    assert all("seven" in one for one in first)
    assert "seven" not in after
    assert "seven" not in await stopped.ask(workspace, CacheMode.DEFAULT)
    assert deletion.unfinished == ()
    assert lines_of(deletion.certificate) == (0, False, 0)
    assert deletion.certificate is not None
    assert not deletion.certificate.is_complete
    assert "Not every running server" in gap(deletion.certificate)


async def test_one_confirmation_completes_many_certificates_and_the_memory_of_no_process_holds_the_texts(
    world: World,
) -> None:
    workspace, documents = await world.workspace("ours", 3)
    other, _ = await world.workspace("theirs", 1, word="zarquomble")
    holders = [await world.holder(), await world.holder()]
    for holder in holders:
        await holder.fill(workspace)
        assert "seven" in await holder.ask(other)

    for document_id in documents:
        await world.erase(workspace, document_id)
    await world.confirm(workspace)

    for document_id in documents:
        certificate = await world.certificate(workspace, document_id)
        assert certificate.is_complete
        assert lines_of(certificate) == (2, True, 0)
    assert await world.value("SELECT max(cardinality(followed)) FROM rag_processes") == 1
    for holder in holders:
        assert await holder.places() == []
        assert "seven" not in await holder.ask(workspace)
        assert "seven" in await holder.ask(other)
        assert await holder.places() == []


@pytest.mark.tells("rag_memory_held")
async def test_a_process_killed_before_it_confirms_is_waited_for_until_it_lapses(world: World) -> None:
    workspace, [document_id] = await world.workspace("ours", 1)
    victim, survivor = await world.holder(searched=False), await world.holder()
    await survivor.fill(workspace)
    victim.program.kill()

    await world.erase(workspace, document_id)
    await world.confirm(workspace, seconds=0.5)
    pending = await world.certificate(workspace, document_id)
    await world.lapse(victim)
    await world.confirm(workspace)
    ended = await world.certificate(workspace, document_id)

    assert lines_of(pending) == (0, False, 0)
    assert not pending.is_complete
    assert ended.is_complete
    assert lines_of(ended) == (1, True, 1)
    assert "without signing off" in gap(ended)
    assert await survivor.places() == []


@pytest.mark.tells("rag_memory_dropped")
async def test_a_stopped_process_drops_what_it_held_before_it_goes_on(world: World) -> None:
    workspace, [document_id] = await world.workspace("ours", 1)
    holder = await world.holder()
    await holder.fill(workspace)
    holder.program.send_signal(signal.SIGSTOP)

    await world.erase(workspace, document_id)
    await world.lapse(holder)
    await world.confirm(workspace)
    holder.program.send_signal(signal.SIGCONT)

    assert lines_of(await world.certificate(workspace, document_id)) == (0, True, 1)
    await eventually(lambda: nothing_of(holder), "it drops what it held", seconds=60)
    assert "seven" not in await holder.ask(workspace)


async def test_a_process_that_lost_its_connection_holds_nothing_until_it_is_registered_again(world: World) -> None:
    workspace, [document_id] = await world.workspace("ours", 1)
    holder = await world.holder()
    await holder.fill(workspace)
    before = await world.value("SELECT process FROM rag_processes")

    await world.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'agentic-rag register'"
    )
    await eventually(lambda: nothing_of(holder), "it drops what it held", seconds=60)
    await eventually(lambda: world.has_ended(before), "its earlier row ends")
    await holder.fill(workspace)
    await world.erase(workspace, document_id)
    await world.confirm(workspace)

    assert lines_of(await world.certificate(workspace, document_id)) == (1, True, 0)
    assert await holder.places() == []


async def test_where_no_process_is_registered_a_certificate_is_complete_at_once(world: World) -> None:
    workspace, [document_id] = await world.workspace("ours", 1)
    holder = await world.holder(searched=False)
    stdin = holder.program.stdin
    assert stdin is not None
    stdin.close()
    await asyncio.to_thread(holder.program.wait)

    deletion = await world.erase(workspace, document_id)

    assert lines_of(deletion.certificate) == (0, True, 0)
    assert deletion.certificate is not None
    assert deletion.certificate.is_complete


async def nothing_of(holder: Holder) -> bool:
    """Whether the process holds nothing of the document."""
    return await holder.places() == []


async def test_nothing_is_read_before_the_process_has_been_in_the_register(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An erasure waits for processes that are in it, or were: who read before that would not be waited for."""
    workspace, _ = await world.workspace("w", 1)
    monkeypatch.setattr(process_register, "_ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(process_register, "RETRY_SECONDS", 0.05)
    early = Container(load_settings(world.variables))
    asked = Question(workspace, QUESTION, options=AnswerOptions(cache=CacheMode.BYPASS))
    asker = Principal(workspace.org_id, "early", Role.ADMIN)

    async def answers() -> bool:
        try:
            return "seven" in (await early.answer.ask(asker, asked)).answer.text
        except DependencyUnavailable:
            return False

    closed = await asyncpg.connect(world.database_url)
    try:
        async with closed.transaction():
            await closed.execute("LOCK TABLE rag_processes IN EXCLUSIVE MODE")
            early.register.start()
            with pytest.raises(DependencyUnavailable, match="register"):
                await early.answer.ask(asker, asked)
        await eventually(answers, "it answers once it is registered", seconds=60)

        assert await world.registered() == 1
    finally:
        await closed.close()
        await early.aclose()


async def test_the_row_of_before_ends_when_the_work_of_before_has_ended(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_register, "RETRY_SECONDS", 0.05)
    monkeypatch.setattr(process_register, "BEAT_SECONDS", 0.05)
    workspace, _ = await world.workspace("w", 1)
    world.container.register.start()
    await eventually(lambda: world.is_beyond(0), "it registers")
    before = await world.value("SELECT process FROM rag_processes")

    async def is_renewed() -> bool:
        later = f"SELECT bool_or(seen_at > started_at) FROM rag_processes WHERE process <> '{before}'"
        return bool(await world.value(later))

    with world.container.memory.reading(workspace):
        await world.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'agentic-rag register'"
        )
        await eventually(is_renewed, "it is registered again, and lives")
        waits = not await world.has_ended(before)
    await eventually(lambda: world.has_ended(before), "its earlier row ends")

    assert waits


@pytest.mark.tells("rag_process_unregistered")
@pytest.mark.tells("rag_process_registered")
async def test_a_process_that_came_back_into_the_register_says_so(
    migrated_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_register, "RETRY_SECONDS", 0.01)
    telemetry = RecordingTelemetry()
    register = ProcessRegister("postgresql://nobody@127.0.0.1:1/none", ProcessMemory(), SystemClock(), telemetry, "t")

    async def told(name: str) -> bool:
        return any(one.name == name for one in telemetry.events)

    register.start()
    await eventually(partial(told, "rag_process_unregistered"), "it is not in the register")
    register._dsn = migrated_database
    await eventually(partial(told, "rag_process_registered"), "it is in the register again")
    await register.aclose()


async def test_a_process_that_is_woken_as_it_ends_ends(migrated_database: str) -> None:
    register = ProcessRegister(migrated_database, ProcessMemory(), SystemClock(), RecordingTelemetry(), "t")

    async def sleeps() -> bool:
        return bool(getattr(register._wake, "_waiters", ()))

    register.start()
    await eventually(sleeps, "it waits for orders")
    register._wake.set()
    async with asyncio.timeout(20):
        await register.aclose()

    assert register._run_task is not None
    assert register._run_task.cancelled()
