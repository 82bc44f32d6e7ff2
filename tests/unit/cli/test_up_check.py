"""What `rag doctor` says of the `rag up` of its home: killed, standing still, running, or stopped by its user."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from agentic_rag.embedded.errors import EmbeddedServerError
from agentic_rag.jobs.workers import WorkerIdentity, WorkerRecord
from agentic_rag.settings import Settings
from agentic_rag_cli.client.access import SERVER_FILE
from agentic_rag_cli.commands.operations.system_check import judge_workers
from agentic_rag_cli.commands.operations.up_check import check_port, check_up
from agentic_rag_cli.processes.local_programs import only_one_on

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Healthy(BaseHTTPRequestHandler):
    """A server of ours, as far as a doctor looks."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"status":"ok"}')

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def server() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), Healthy) as listening:
        thread = Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield listening.server_port
        listening.shutdown()
        thread.join()


def of(home: Path, port: int) -> Settings:
    """Settings of a home on which a `rag up` wrote down its address."""
    (home / SERVER_FILE).write_text(f"http://127.0.0.1:{port}\n")
    return Settings().change(stores={"home": home}, server={"port": port})


def test_one_that_was_killed_is_a_failure(tmp_path: Path) -> None:
    check = check_up(of(tmp_path, 1))

    assert (check.status, check.code) == ("failed", "UP_KILLED")
    assert "http://127.0.0.1:1" in check.detail
    assert "`rag up`" in (check.remedy or "")


def test_one_that_was_stopped_is_none(tmp_path: Path) -> None:
    settings = Settings().change(stores={"home": tmp_path})
    with only_one_on(settings):
        of(tmp_path, 1)

    assert check_up(settings).status == "ok"
    assert check_up(Settings().change(stores={"home": tmp_path / "new"})).status == "ok"


def test_one_that_starts_has_no_server_yet(tmp_path: Path) -> None:
    settings = Settings().change(stores={"home": tmp_path})

    with only_one_on(settings):
        assert check_up(settings).status == "ok"


def test_one_whose_server_stands_still_is_a_failure_and_no_stranger_on_the_port(tmp_path: Path) -> None:
    with server() as port, only_one_on(of(tmp_path, port)):
        settings = of(tmp_path, port)
        running = check_up(settings)
    with socket.create_server(("127.0.0.1", port)), only_one_on(settings):
        settings = of(tmp_path, port)
        gone, its_port = check_up(settings, 0.2), check_port(settings, 0.2)

    assert running.status == "ok"
    assert (gone.status, gone.code) == ("failed", "SERVER_UNREACHABLE")
    assert its_port.status == "ok"


SILENT = "`rag up` runs, and its server does not answer at "


@pytest.mark.parametrize(
    ("broken", "status", "code", "detail"),
    [
        (b"http://\x1b[31m:1", "failed", "SERVER_UNREACHABLE", f"{SILENT}http://\x1b[31m:1"),
        (b"nothing", "failed", "SERVER_UNREACHABLE", f"{SILENT}nothing"),
        # As one that is not there yet.
        (b"\xff\xfe", "ok", None, "`rag up` is starting"),
    ],
)
def test_a_file_of_the_address_that_is_damaged_is_no_traceback(
    tmp_path: Path, broken: bytes, status: str, code: str | None, detail: str
) -> None:
    settings = Settings().change(stores={"home": tmp_path})

    with only_one_on(settings):
        (tmp_path / SERVER_FILE).write_bytes(broken)
        check = check_up(settings)

    assert (check.name, check.status, check.code, check.detail) == ("up", status, code, detail)


def test_a_home_that_cannot_be_looked_into_is_an_error_of_the_product(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(EmbeddedServerError, match="EMBEDDED_HOME_UNUSABLE"):
        check_up(Settings().change(stores={"home": tmp_path / "file"}))


def worker(pid: int, minute: int, *, has_ended: bool = False) -> WorkerRecord:
    at = NOON + timedelta(minutes=minute)
    return WorkerRecord(WorkerIdentity(f"a:{pid}:a", "a", pid, "0.1.0", 8), at, at, at if has_ended else None)


def test_that_the_last_worker_died_is_a_failure_until_another_ran_and_ended() -> None:
    died = worker(7, 0)
    silent_since = NOON + timedelta(hours=3)

    assert judge_workers(False, [died], silent_since).status == "failed"
    assert judge_workers(False, [worker(8, 60, has_ended=True), died], silent_since).status == "ok"


def test_a_worker_that_was_seen_lately_and_does_not_lead_is_not_called_well() -> None:
    check = judge_workers(False, [worker(7, 0)], NOON)

    assert (check.status, check.code) == ("degraded", "NO_WORKER_LEADS")
