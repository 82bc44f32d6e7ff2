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
from types import SimpleNamespace
from typing import Any, TypeAlias, cast

import asyncpg
import pytest
from tests.unit.cli.product import Terminal

from agentic_rag import bootstrap
from agentic_rag.settings import Settings
from agentic_rag_cli.commands.operations import check, doctor, system_check
from agentic_rag_cli.commands.operations.check import Check, attempt, ok
from agentic_rag_cli.commands.operations.doctor import check_postgres
from agentic_rag_cli.commands.operations.store_writes import check_home
from agentic_rag_cli.commands.operations.system_check import check_system
from agentic_rag_cli.commands.operations.up_check import check_port
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import Wiring

HELD_SECONDS = 5.0
"""That a look hangs: long against every limit here."""


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


async def test_a_check_ends_with_whoever_waits_for_it() -> None:
    ended = asyncio.Event()

    async def wait() -> Check:
        try:
            return await asyncio.Future[Check]()
        finally:
            ended.set()

    waiting = asyncio.create_task(attempt("one", wait))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()

    await asyncio.wait_for(ended.wait(), 0.2)


async def test_a_time_limit_within_a_check_is_a_finding_of_it() -> None:
    async def look() -> Check:
        raise TimeoutError

    found = await attempt("one", look, "Look.")

    assert (found.name, found.status, found.code, found.remedy) == ("one", "failed", "TIMEOUT", "Look.")


@pytest.mark.parametrize("load", [0.0, 1e6])
def test_a_disk_that_does_not_answer_is_named_and_nothing_else_is_looked_for_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: threading.Event, load: float
) -> None:
    """However high the load: what waits for the disk is counted in it."""
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: held.wait())

    shown = Terminal(environ={"AGENTIC_RAG_HOME": str(tmp_path)}).rag("doctor", "--json")

    checks = {one["name"]: one for one in json.loads(shown.stdout)}
    assert shown.exit_code == 4
    assert (checks["home"]["status"], checks["home"]["code"]) == ("failed", "TIMEOUT")
    assert "disks" in checks["home"]["remedy"]
    assert checks["system"]["status"] == "skipped"
    assert checks.keys() == {"settings", "python", "home", "system"}


@pytest.mark.parametrize(("store", "code"), [("folder", "TIMEOUT"), ("s3://key:secret@bucket", "MACHINE_BUSY")])
async def test_the_disk_of_originals_has_no_excuse_in_the_load_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str, code: str
) -> None:
    async def hang(_: object) -> None:
        await asyncio.Event().wait()

    @asynccontextmanager
    async def system(_: Settings) -> AsyncIterator[Any]:
        yield SimpleNamespace(container=None)

    async def started(name: str, *given: Any, **named: Any) -> Check:
        return ok(name, "well") if name != "blobs" else await attempt(name, *given, **named)

    monkeypatch.setattr("os.getloadavg", lambda: (1e6, 1e6, 1e6))
    monkeypatch.setattr(system_check, "try_blobs", hang)
    monkeypatch.setattr(system_check, "attempt", started)
    settings = Settings().change(stores={"blob_store": str(tmp_path) if store == "folder" else store})

    blobs = (await check_system(Wiring(system=cast("Any", system)), settings))[1]

    assert (blobs.name, blobs.code) == ("blobs", code)
    assert ("disks" in (blobs.remedy or "")) == (code == "TIMEOUT")


AWAY = {"DATABASE_URL": "postgresql://me@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1", "AGENTIC_RAG_PORT": "0"}


def look(home: Path, **variables: str) -> dict[str, dict[str, Any]]:
    """What `rag doctor` finds, by check."""
    shown = Terminal(environ={**AWAY, "AGENTIC_RAG_HOME": str(home), **variables}).rag("doctor", "--json")
    assert shown.exit_code == 4, shown.exception
    return {one["name"]: one for one in json.loads(shown.stdout)}


def test_doctor_does_not_wait_for_the_threads_of_a_check_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: threading.Event
) -> None:
    ended, threads = list[bool](), list[threading.Thread]()

    def hang() -> None:
        threads.append(threading.current_thread())
        ended.append(held.wait(HELD_SECONDS))

    async def write(_: Settings) -> Check:
        await asyncio.to_thread(hang)
        return ok("embedder", "after all")

    monkeypatch.setattr(doctor, "check_embedder", write)

    found = look(tmp_path)

    assert ended == []
    assert (found["embedder"]["status"], found["embedder"]["code"]) == ("failed", "TIMEOUT")
    assert [one.daemon for one in threads] == [True]


def test_a_model_on_a_disk_that_hangs_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: threading.Event
) -> None:
    ended = list[bool]()
    monkeypatch.setattr(bootstrap, "local_space", lambda _: ended.append(held.wait(HELD_SECONDS)))

    found = look(tmp_path, RAG_EMBEDDER="onnx")

    assert ended == []
    assert (found["embedder"]["status"], found["embedder"]["code"]) == ("failed", "TIMEOUT")
    assert "disks" in found["embedder"]["remedy"]


def test_what_was_found_is_told_before_anything_that_is_left_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = list[str]()
    left = set[asyncio.Task[None]]()

    async def linger() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(3):
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    events.append("cancelled")

    async def leave(_: Settings) -> Check:
        left.add(asyncio.create_task(linger()))
        await asyncio.sleep(0)
        return ok("embedder", "well")

    monkeypatch.setattr(doctor, "check_embedder", leave)
    monkeypatch.setattr(terminal, "result", events.append)

    shown = Terminal(environ={**AWAY, "AGENTIC_RAG_HOME": str(tmp_path)}).rag("doctor")

    assert shown.exit_code == 4
    assert "system" in events[-4]
    assert events[-3:] == ["cancelled"] * 3


class Silent:
    """A connection to a database that is well."""

    async def close(self, *, timeout: float) -> None:
        pass


def test_migrations_that_hang_take_nothing_from_what_was_found_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = list[str]()

    async def connect(*_: object, **__: object) -> Silent:
        return Silent()

    async def look_into(*_: object) -> list[Check]:
        return [ok("postgres", "17"), ok("pgvector", "0.8"), ok("clock", "well")]

    async def hang(_: str) -> Check:
        try:
            return await asyncio.Future[Check]()
        finally:
            ended.append("migrations")

    monkeypatch.setattr(asyncpg, "connect", connect)
    monkeypatch.setattr(doctor, "_look_into", look_into)
    monkeypatch.setattr(doctor, "_migrations", hang)

    found = look(tmp_path)

    assert {name: found[name]["status"] for name in ("postgres", "pgvector", "clock", "migrations")} == {
        "postgres": "ok",
        "pgvector": "ok",
        "clock": "ok",
        "migrations": "failed",
    }
    assert found["migrations"]["code"] == "TIMEOUT"
    assert ended == ["migrations"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (asyncpg.InvalidPasswordError("refused"), "DATABASE_LOGIN_REFUSED"),
        (ConnectionRefusedError("away"), "DATABASE_UNREACHABLE"),
    ],
    ids=["login", "away"],
)
@pytest.mark.parametrize("variable", ["DATABASE_URL", "AGENTIC_RAG_OWNER_DATABASE_URL"])
def test_the_variable_with_the_address_that_was_refused_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, error: Exception, code: str
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(asyncpg, "connect", refuse)

    found = look(tmp_path, **{variable: "postgresql://owner@127.0.0.1:1/none"})["postgres"]

    assert found["code"] == code
    assert f" {variable}" in found["remedy"].partition(", or unset")[0]


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
