"""Processes that hold texts of a product, and what their memory shows."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
from tests.contract.backends import Watched
from tests.programs import PYTHONPATH, Program
from tests.stack import execute
from tests.waiting import eventually

from agentic_rag.answering.question import CacheMode
from agentic_rag.bootstrap import Container
from agentic_rag.erasure.certificate import Certificate
from agentic_rag.erasure.confirm_drops import ConfirmDrops
from agentic_rag.erasure.delete import Deletion
from agentic_rag.ingestion.ingest_chunks import PlainTextDocument
from agentic_rag.jobs.job import JobKind, NewJob
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.administer import NewWorkspace
from agentic_rag.workspaces.workspace import WorkspaceKind

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
        await eventually(lambda: self.is_beyond(before), "it registers", seconds=60)
        return holder

    async def is_beyond(self, before: int) -> bool:
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
