"""What was erased answers nothing from its commit on; other processes drop what they hold of it later, and its
certificate says no more than they said.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
from tests.contract.backends import Watched
from tests.memory_store.telemetry import RecordingTelemetry
from tests.programs import PYTHONPATH, Program
from tests.stack import execute
from tests.waiting import eventually

from agentic_rag.adapters.postgres.erasure import process_register
from agentic_rag.adapters.postgres.erasure.process_register import ProcessRegister
from agentic_rag.adapters.postgres.workspaces.organisation_register import PostgresOrganisationRegister
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.bootstrap import Container
from agentic_rag.erasure.certificate import Certificate, ErasedStore
from agentic_rag.erasure.confirm_drops import ConfirmDrops
from agentic_rag.erasure.delete import Deletion
from agentic_rag.erasure.process_memory import ProcessMemory
from agentic_rag.ingestion.ingest_chunks import PlainTextDocument
from agentic_rag.jobs.job import JobKind, NewJob
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef
from agentic_rag.workspaces.administer import NewWorkspace
from agentic_rag.workspaces.workspace import WorkspaceKind

pytestmark = [pytest.mark.integration, pytest.mark.network]

WORD = "quixbramble"
QUESTION = "How much water does the pump lift?"
TEXT = f"The pump lifts seven cubic metres of water. Its maker is {WORD.title()} of Harrow."


def places_in(pid: int) -> list[str]:
    """Where the memory of a process holds the word, whatever its first letter: the name of the mapping and what stands
    around it.
    """
    word, found = WORD[1:].encode(), list[str]()
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, rights, *_ = line.split()
            start, end = (int(one, 16) for one in span.split("-"))
            if "w" not in rights:
                continue
            memory.seek(start)
            held, place = memory.read(end - start), -1
            while (place := held.find(word, place + 1)) >= 0:
                found.append(f"{line[73:]} {held[max(place - 60, 0) : place + 30]!r}")
    return found


class Holder:
    """Another process that serves. Where it is `searched`, Python overwrites what it frees: its memory shows what is
    held.
    """

    def __init__(self, variables: dict[str, str], *, searched: bool) -> None:
        allocator = {"PYTHONMALLOC": "debug"} if searched else {}
        self.program = Program(
            [sys.executable, "-m", "tests.programs.holder"],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": PYTHONPATH, **allocator, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    async def told(self, *command: str) -> Any:
        """The answer to a command."""
        return await asyncio.to_thread(self._told, command)

    def _told(self, command: tuple[str, ...]) -> Any:
        stdin, stdout = self.program.stdin, self.program.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(command).encode() + b"\n")
        stdin.flush()
        return json.loads(stdout.readline())

    async def ask(self, workspace: WorkspaceRef, cache: CacheMode = CacheMode.BYPASS) -> str:
        return await self.told("ask", str(workspace.org_id), str(workspace.workspace_id), cache.value, QUESTION)

    async def fill(self, workspace: WorkspaceRef) -> None:
        """Ask until it holds texts of the workspace: what it reads while it registers, it drops again."""

        async def holds() -> bool:
            return "seven" in await self.ask(workspace) and bool(await self.places())

        await eventually(holds, "it holds the text", seconds=60)

    async def places(self) -> list[str]:
        await self.told("collect")
        return await asyncio.to_thread(places_in, self.program.pid)

    def end(self) -> None:
        self.program.send_signal(signal.SIGCONT)
        self.program.kill()
        self.program.wait()
        for stream in (self.program.stdin, self.program.stdout):
            assert stream is not None
            stream.close()


class World:
    """A product over a database of its own, and its processes."""

    def __init__(self, database: str, redis: str, folder: Path) -> None:
        self.database_url = database
        self.variables = {
            "DATABASE_URL": database,
            "REDIS_URL": redis,
            "RAG_EMBEDDER": "deterministic",
            "AGENTIC_RAG_LOG_LEVEL": "error",
            "AGENTIC_RAG_QUEUE_NAME": f"memory-{uuid4().hex}",
            "AGENTIC_RAG_BLOB_STORE": str(folder / "blobs"),
            "AGENTIC_RAG_HOME": str(folder),
        }
        self.org_id = uuid4()
        self.container = Container(load_settings(self.variables))
        self.holders: list[Holder] = []

    async def workspace(self, name: str, documents: int, word: str = WORD) -> tuple[WorkspaceRef, list[UUID]]:
        """A workspace with so many documents, each with the word."""
        made = await self.container.administer.create_workspace(
            self.org_id, NewWorkspace(name, WorkspaceKind.PROJECT, name), "test"
        )
        text = TEXT.replace(WORD.title(), word.title())
        plain = [PlainTextDocument(f"pump{one}.txt", f"Pump {one}", f"{text} {one}") for one in range(documents)]
        cut = [await self.container.ingest_chunks.cut(one, "default") for one in plain]
        await self.container.ingest_chunks.run(made.ref, cut, "test", lambda _: None)
        async with self.container.database.transaction(self.org_id) as transaction:
            page = await transaction.documents.page(made.ref, PageRequest(10))
        return made.ref, [one.document_id for one in page.items]

    async def holder(self, *, searched: bool = True) -> Holder:
        """A process that has registered."""
        before = await self.registered()
        holder = Holder(self.variables, searched=searched)
        self.holders.append(holder)
        await eventually(lambda: self._is_beyond(before), "it registers", seconds=60)
        return holder

    async def _is_beyond(self, before: int) -> bool:
        return await self.registered() > before

    async def registered(self) -> int:
        return await self.value("SELECT count(*) FROM rag_processes WHERE ended_at IS NULL")

    async def value(self, statement: str) -> Any:
        connection = await asyncpg.connect(self.database_url)
        try:
            return await connection.fetchval(statement)
        finally:
            await connection.close()

    async def execute(self, statement: str) -> None:
        await execute(self.database_url, statement)

    async def has_ended(self, process: UUID) -> bool:
        return bool(await self.value(f"SELECT ended_at IS NOT NULL FROM rag_processes WHERE process = '{process}'"))

    async def erase(self, workspace: WorkspaceRef, document_id: UUID) -> Deletion:
        return await self.container.delete.run(workspace, document_id)

    async def confirm(self, workspace: WorkspaceRef, seconds: float = 60.0) -> None:
        """Run the job that asks processes."""
        async with self.container.database.transaction(self.org_id) as transaction:
            ref, _ = await transaction.jobs.enqueue(NewJob(workspace, JobKind.FORGET, "processes", {}))
            lease = await transaction.jobs.lease(ref, "test", timedelta(minutes=5))
            assert lease is not None
        await ConfirmDrops(self.container.database, self.container.telemetry, seconds).run(lease, Watched())
        async with self.container.database.transaction(self.org_id) as transaction:
            assert await transaction.jobs.finish(ref, lease.fence)

    async def certificate(self, workspace: WorkspaceRef, document_id: UUID) -> Certificate:
        async with self.container.database.transaction(self.org_id) as transaction:
            found = await transaction.erasures.certificate(workspace, document_id)
        assert found is not None
        return found

    async def lapse(self, holder: Holder) -> None:
        """Let the register think that the process was not seen for an hour."""
        await self.execute(
            f"UPDATE rag_processes SET seen_at = now() - interval '1 hour' WHERE pid = {holder.program.pid}"
        )


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
    await eventually(lambda: world._is_beyond(0), "it registers")
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
