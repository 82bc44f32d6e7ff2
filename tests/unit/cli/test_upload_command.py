"""`rag upload`: an outcome for every file, the exit code, and the same through a server."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import UUID

import httpx2
from tests.unit.cli.fake_session import FakeSession, Terminal, document

from agentic_rag.documents.document import DocumentFault, DocumentStatus

FAULT = DocumentFault("PARSE_ENCRYPTED", "The file needs a password.", 1, False)
STATUS_URL = "/v1/workspaces/w/documents/d"


def a_file(folder: Path, name: str, content: bytes = b"Water flows.") -> str:
    (folder / name).write_bytes(content)
    return str(folder / name)


def test_files_are_handed_over_and_queued(tmp_path: Path) -> None:
    session = FakeSession(held=[document("a.md", 1, DocumentStatus.PENDING, chunks=0)])

    shown = Terminal(session).rag("upload", a_file(tmp_path, "a.md"), "--idempotency-key", "k")

    assert (shown.exit_code, shown.stdout) == (0, f"QUEUED     {tmp_path}/a.md\n")
    assert session.uploaded == [("a.md", b"Water flows.", "k")]


def test_a_refused_file_does_not_hinder_the_others_and_each_has_a_key(tmp_path: Path) -> None:
    session = FakeSession(held=[document("a.md", 1), document("b.md", 2, DocumentStatus.FAILED, FAULT, chunks=0)])
    files = [a_file(tmp_path, "a.md"), a_file(tmp_path, "b.md"), a_file(tmp_path, "c.md", b"")]

    shown = Terminal(session).rag("upload", *files, "--wait", "--idempotency-key", "k", "--json")

    outcomes = {Path(one["file"]).name: one for one in json.loads(shown.stdout)}
    assert shown.exit_code == 3
    assert [outcomes[name]["outcome"] for name in ("a.md", "b.md", "c.md")] == ["READY", "FAILED", "REFUSED"]
    assert outcomes["c.md"]["error"]["code"] == "UPLOAD_EMPTY"
    assert [key for _, _, key in session.uploaded] == ["k:a.md", "k:b.md"]


def test_nothing_taken_is_a_failure(tmp_path: Path) -> None:
    shown = Terminal().rag("upload", a_file(tmp_path, "c.md", b""))

    assert shown.exit_code == 1
    assert "[UPLOAD_EMPTY]" in shown.stdout


def test_a_worker_is_started_to_wait_for_when_none_runs(tmp_path: Path) -> None:
    terminal = Terminal(FakeSession(has_worker=False, held=[document("a.md", 1)]))

    terminal.rag("upload", a_file(tmp_path, "a.md"), "--wait")

    assert terminal.workers_started == 1


def a_server(request: httpx2.Request) -> httpx2.Response:
    if request.url.path == "/graphql":
        return httpx2.Response(200, json={"data": {"workspaces": [{"id": "w", "name": "handbook"}]}})
    if request.method == "GET":
        progress = {"chunksDone": 3, "chunkCount": 3}
        return httpx2.Response(200, json={"status": "READY", "error": None, "progress": progress})
    if b"Water" not in request.content:
        return httpx2.Response(413, json={"error": {"code": "UPLOAD_TOO_LARGE", "message": "Too large."}})
    assert request.headers["idempotency-key"].startswith("k")
    return httpx2.Response(202, json={"id": "d", "statusUrl": STATUS_URL, "unchanged": False, "jobId": "j"})


def test_a_server_takes_files_by_rest(tmp_path: Path) -> None:
    terminal = Terminal(environ={"AGENTIC_RAG_TOKEN": "t"}, transport=httpx2.MockTransport(a_server))
    files = [a_file(tmp_path, "a.md"), a_file(tmp_path, "b.md", b"large")]

    shown = terminal.rag("upload", *files, "--url", "http://127.0.0.1:1", "--idempotency-key", "k", "--wait")

    assert shown.exit_code == 3
    assert f"READY      {tmp_path}/a.md  3 chunks" in shown.stdout
    assert f"REFUSED    {tmp_path}/b.md  [UPLOAD_TOO_LARGE] Too large." in shown.stdout
    assert terminal.session.uploaded == []


def test_the_token_of_the_command_line_must_be_good(tmp_path: Path) -> None:
    def refuse(_: httpx2.Request) -> httpx2.Response:
        body = {"errors": [{"message": "No.", "extensions": {"code": "UNAUTHENTICATED"}}]}
        return httpx2.Response(401, json=body)

    terminal = Terminal(environ={"AGENTIC_RAG_TOKEN": "t"}, transport=httpx2.MockTransport(refuse))

    shown = terminal.rag("upload", a_file(tmp_path, "a.md"), "--url", "http://127.0.0.1:1")

    assert shown.exit_code == 1
    assert "UNAUTHENTICATED" in shown.stderr
    assert terminal.session.held[0].document_id == UUID(int=100)


def test_a_server_that_is_slow_with_a_file_is_not_taken_for_one_that_is_away(tmp_path: Path) -> None:
    def late(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/graphql":
            return a_server(request)
        raise httpx2.ReadTimeout("late")

    terminal = Terminal(environ={"AGENTIC_RAG_TOKEN": "t"}, transport=httpx2.MockTransport(late))

    shown = terminal.rag("upload", a_file(tmp_path, "a.md"), "--url", "http://127.0.0.1:1")

    assert "SERVER_TIMEOUT" in shown.stdout + shown.stderr
    assert "rag up" not in shown.stdout + shown.stderr
