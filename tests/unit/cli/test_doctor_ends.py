"""`rag doctor` ends whatever hangs, and says which check it was."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import struct
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.unit.cli.product import Terminal

from agentic_rag.settings import Settings
from agentic_rag_cli.commands.operations import check, doctor
from agentic_rag_cli.commands.operations.check import Check, attempt, ok
from agentic_rag_cli.commands.operations.doctor import check_port, check_postgres
from agentic_rag_cli.commands.operations.store_writes import check_home


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "CHECK_SECONDS", 0.3)
    monkeypatch.setattr(check, "_ENDING_SECONDS", 0.1)
    monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))


@pytest.fixture
def held() -> Iterator[threading.Event]:
    """What a look hangs on, let go when the test is over."""
    event = threading.Event()
    yield event
    event.set()


async def test_a_check_that_does_not_even_end_when_it_is_cancelled_is_left() -> None:
    may_end = asyncio.Event()

    async def stubborn() -> Check:
        while not may_end.is_set():
            try:
                await may_end.wait()
            except asyncio.CancelledError:
                continue
        return ok("stubborn", "after all")

    found = await asyncio.wait_for(attempt("stubborn", stubborn, "Let it go."), 10)
    may_end.set()

    assert (found.name, found.status, found.code, found.remedy) == ("stubborn", "failed", "TIMEOUT", "Let it go.")


def test_a_disk_that_does_not_answer_is_named_and_nothing_else_is_looked_for_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: threading.Event
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: held.wait())

    shown = Terminal(environ={"AGENTIC_RAG_HOME": str(tmp_path)}).rag("doctor", "--json")

    checks = {one["name"]: one for one in json.loads(shown.stdout)}
    assert shown.exit_code == 4
    assert (checks["home"]["status"], checks["home"]["code"]) == ("failed", "TIMEOUT")
    assert "disks" in checks["home"]["remedy"]
    assert checks["system"]["status"] == "skipped"
    assert checks.keys() == {"settings", "python", "home", "system"}


def test_a_look_that_fails_is_told_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Path) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(shutil, "disk_usage", broken)

    shown = Terminal(environ={"AGENTIC_RAG_HOME": str(tmp_path)}).rag("doctor")

    assert isinstance(shown.exception, ZeroDivisionError)


async def test_a_stranger_on_the_port_that_never_ends_its_answer_is_left(held: threading.Event) -> None:
    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while not held.is_set():
            writer.write(b"x: y\r\n")
            await asyncio.sleep(0.02)

    async with listening(drip) as port:
        settings = Settings().change(server={"port": port})
        found = await check.attempt_aside("port", lambda: check_port(settings), "Look.")
        held.set()

    assert (found.name, found.code) == ("port", "TIMEOUT")


async def test_a_database_that_takes_connections_and_answers_nothing_is_told_apart_from_one_that_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "ANSWER_SECONDS", 0.1)
    monkeypatch.setattr(doctor, "_CLOSING_SECONDS", 0.1)

    async def fall_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        (length,) = struct.unpack("!i", await reader.readexactly(4))
        await reader.readexactly(length - 4)
        version = b"server_version\x0017.0\x00"
        writer.write(b"R" + struct.pack("!ii", 8, 0))
        writer.write(b"S" + struct.pack("!i", 4 + len(version)) + version)
        writer.write(b"Z" + struct.pack("!i", 5) + b"I")
        await reader.read()

    async with listening(fall_silent) as port:
        (found,) = await check_postgres(f"postgresql://nobody@127.0.0.1:{port}/none?sslmode=disable")

    assert (found.name, found.status, found.code) == ("postgres", "failed", "TIMEOUT")
    assert "takes connections" in found.detail
    assert "standby" in (found.remedy or "")


@pytest.mark.parametrize("lost", ["home", "blobs"])
def test_a_disk_whose_server_is_gone_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str) -> None:
    there = Path.exists

    def exists(path: Path) -> bool:
        if path == tmp_path / lost:
            raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))
        return there(path)

    monkeypatch.setattr(Path, "exists", exists)
    stores = {"home": tmp_path / "home", "blob_store": str(tmp_path / "blobs")}

    found = check_home(Settings().change(stores=stores), least_free=0)

    assert (found.status, found.code) == ("failed", "EMBEDDED_HOME_UNUSABLE")
    assert str(tmp_path / lost) in found.detail


Serve: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(serve: Serve) -> AsyncIterator[int]:
    """The port of a server that treats each connection so."""
    served = set[asyncio.Task[None]]()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(
        lambda reader, writer: served.add(asyncio.create_task(one(reader, writer))), "127.0.0.1", 0
    )
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.gather(*served)
