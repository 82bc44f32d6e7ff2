"""`rag upload`: an outcome for every file, the exit code, and the same through a server."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import httpx2
import pytest
from tests.unit.cli.product import Product, Terminal, document

from agentic_rag.documents.document import DocumentFault, DocumentStatus

FAULT = DocumentFault("PARSE_ENCRYPTED", "The file needs a password.", 1, False)


def a_file(folder: Path, name: str, content: bytes = b"Water flows.") -> str:
    (folder / name).write_bytes(content)
    return str(folder / name)


def test_files_are_handed_over_and_queued(tmp_path: Path) -> None:
    product = Product(held=[document("a.md", 1, DocumentStatus.PENDING, chunks=0)])

    shown = Terminal(product).rag("upload", a_file(tmp_path, "a.md"), "--idempotency-key", "k")

    assert (shown.exit_code, shown.stdout) == (0, f"QUEUED     {tmp_path}/a.md\n")
    assert product.uploaded == [("a.md", b"Water flows.", "k")]


def test_a_refused_file_does_not_hinder_the_others_and_each_has_a_key(tmp_path: Path) -> None:
    product = Product(held=[document("a.md", 1), document("b.md", 2, DocumentStatus.FAILED, FAULT, chunks=0)])
    files = [a_file(tmp_path, "a.md"), a_file(tmp_path, "b.md"), a_file(tmp_path, "c.md", b"")]

    shown = Terminal(product).rag("upload", *files, "--wait", "--idempotency-key", "k", "--json")

    outcomes = {Path(one["file"]).name: one for one in json.loads(shown.stdout)}
    assert shown.exit_code == 3
    assert [outcomes[name]["outcome"] for name in ("a.md", "b.md", "c.md")] == ["READY", "FAILED", "REFUSED"]
    assert outcomes["c.md"]["error"]["code"] == "UPLOAD_EMPTY"
    assert [key for _, _, key in product.uploaded] == ["k:a.md", "k:b.md"]


def test_nothing_taken_is_a_failure(tmp_path: Path) -> None:
    shown = Terminal().rag("upload", a_file(tmp_path, "c.md", b""))

    assert shown.exit_code == 1
    assert "[UPLOAD_EMPTY]" in shown.stdout


def test_a_worker_is_started_to_wait_for_when_none_runs(tmp_path: Path) -> None:
    terminal = Terminal(Product(has_worker=False, held=[document("a.md", 1)]))

    terminal.rag("upload", a_file(tmp_path, "a.md"), "--wait")

    assert terminal.workers_started == 1


def a_server(request: httpx2.Request) -> httpx2.Response:
    if b"uploadDocument" not in request.content:
        asked = json.loads(request.content)["query"]
        if "workspaces" in asked:
            return httpx2.Response(200, json={"data": {"workspaces": [{"id": "w", "name": "handbook"}]}})
        state = {"status": "READY", "error": None, "chunksDone": 3, "chunkCount": 3}
        return httpx2.Response(200, json={"data": {"document": state}})
    taken = {"document": {"id": "d", "workspaceId": "w", "sourcePath": "a.md"}, "job": {"id": "j"}, "unchanged": False}
    if b"Water" not in request.content:
        error = {"code": "UPLOAD_TOO_LARGE", "message": "Too large.", "path": []}
        taken = {"document": None, "job": None, "unchanged": False, "userErrors": [error]}
    assert b'"key": "k' in request.content
    return httpx2.Response(200, json={"data": {"uploadDocument": taken}})


def test_a_server_takes_files_by_graphql(tmp_path: Path) -> None:
    terminal = Terminal(environ={"AGENTIC_RAG_TOKEN": "t"}, transport=httpx2.MockTransport(a_server))
    files = [a_file(tmp_path, "a.md"), a_file(tmp_path, "b.md", b"large")]

    shown = terminal.rag("upload", *files, "--url", "http://127.0.0.1:1", "--idempotency-key", "k", "--wait", "--json")

    refused, taken = json.loads(shown.stdout)
    assert shown.exit_code == 3
    assert (taken["outcome"], taken["chunkCount"], taken["jobId"], taken["size"]) == ("READY", 3, "j", 12)
    assert taken["contentSha256"] == hashlib.sha256(b"Water flows.").hexdigest()
    assert taken["statusUrl"] == "/v1/workspaces/w/documents/d"
    assert (refused["outcome"], refused["error"]["code"]) == ("REFUSED", "UPLOAD_TOO_LARGE")
    assert terminal.product.uploaded == []


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ({"before": 3, "estimatedSeconds": 12.4}, "  3 jobs before it, about 12 s"),
        ({"before": 1, "estimatedSeconds": None}, "  1 job before it"),
        (None, ""),
    ],
)
def test_a_file_that_waits_is_told_with_its_place_and_time(
    tmp_path: Path, place: dict[str, float] | None, told: str
) -> None:
    def busy(request: httpx2.Request) -> httpx2.Response:
        if b"uploadDocument" in request.content:
            document = {"id": "d", "workspaceId": "w", "sourcePath": "a.md"}
            taken = {"document": document, "job": {"id": "j", "queuePlace": place}, "unchanged": False}
            return httpx2.Response(200, json={"data": {"uploadDocument": taken}})
        if b"workspaces" in request.content:
            return a_server(request)
        state = {"status": "PENDING", "error": None, "chunksDone": 0, "chunkCount": 0}
        return httpx2.Response(200, json={"data": {"document": state}})

    terminal = Terminal(environ={"AGENTIC_RAG_TOKEN": "t"}, transport=httpx2.MockTransport(busy))

    shown = terminal.rag("upload", a_file(tmp_path, "a.md"), "--url", "http://127.0.0.1:1")

    assert shown.stdout == f"QUEUED     {tmp_path}/a.md{told}\n"


def test_the_token_of_the_command_line_must_be_good(tmp_path: Path) -> None:
    def refuse(_: httpx2.Request) -> httpx2.Response:
        body = {"errors": [{"message": "No.", "extensions": {"code": "UNAUTHENTICATED"}}]}
        return httpx2.Response(401, json=body)

    terminal = Terminal(environ={"AGENTIC_RAG_TOKEN": "t"}, transport=httpx2.MockTransport(refuse))

    shown = terminal.rag("upload", a_file(tmp_path, "a.md"), "--url", "http://127.0.0.1:1")

    assert shown.exit_code == 1
    assert "UNAUTHENTICATED" in shown.stderr
    assert terminal.product.uploaded == []


def test_a_server_that_is_slow_with_a_file_is_not_taken_for_one_that_is_away(tmp_path: Path) -> None:
    def late(request: httpx2.Request) -> httpx2.Response:
        if b"uploadDocument" not in request.content:
            return a_server(request)
        raise httpx2.ReadTimeout("late")

    terminal = Terminal(environ={"AGENTIC_RAG_TOKEN": "t"}, transport=httpx2.MockTransport(late))

    shown = terminal.rag("upload", a_file(tmp_path, "a.md"), "--url", "http://127.0.0.1:1")

    assert "SERVER_TIMEOUT" in shown.stdout + shown.stderr
    assert "rag up" not in shown.stdout + shown.stderr
