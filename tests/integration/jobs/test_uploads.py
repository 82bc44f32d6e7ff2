"""Uploads over real HTTP: one document for however many repetitions, and nothing left of what failed."""

import asyncio
import io
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import asyncpg
import httpx2
import pytest
import uvicorn
from reportlab.pdfgen.canvas import Canvas
from tests.api.builders import Container
from tests.integration.jobs.data_plane import QUICK, DataPlane, until

from agentic_rag.adapters.parsing.sniffer import ZipAwareSniffer
from agentic_rag.documents.originals import OriginalKeys
from agentic_rag.ingestion.submit import CONTENT_PROVENANCE, Submission, submit
from agentic_rag.ingestion.upload import ReceivedUpload, UploadDocument, UploadOptions
from agentic_rag.jobs.job import JobKind, JobState
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.formatting import format_bytes
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role
from agentic_rag_server.app import build_app
from agentic_rag_server.parts import ServerOptions

pytestmark = [pytest.mark.integration, pytest.mark.network]

MAX_BYTES = 512 * 1024
MUTATION = """
mutation ($workspace: ID!, $file: Upload!, $key: String) {
  uploadDocument(workspaceId: $workspace, file: $file, idempotencyKey: $key) {
    document { sourcePath status chunksDone } job { kind } unchanged userErrors { code path }
  }
}
"""


ADA = Principal(DEFAULT_ORG_ID, "ada", Role.MEMBER)


@dataclass
class Roles:
    """A token is the name of a role."""

    plane: DataPlane

    async def authenticate(self, token: str) -> Principal:
        return Principal(self.plane.workspace.org_id, f"a {token}", Role(token))


@dataclass
class UploadContainer(Container):
    """The API's container with a real upload behind it."""

    upload: Any = None


def upload_use_case(plane: DataPlane) -> UploadDocument:
    return UploadDocument(
        plane.database,
        plane.blobs,
        OriginalKeys(plane.clock, plane.ids),
        ZipAwareSniffer(),
        plane.parser,
        plane.telemetry,
        plane.embedders,
        chunk_profile="small",
        max_bytes=MAX_BYTES,
    )


@asynccontextmanager
async def serving(plane: DataPlane) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a server in this process, behind a real socket."""
    container = UploadContainer(
        options=ServerOptions(enabled=True, max_upload_bytes=MAX_BYTES),
        database=plane.database,
        blobs=plane.blobs,
        identity=Roles(plane),  # type: ignore[arg-type]
        upload=upload_use_case(plane),
    )
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(build_app(container), log_level="error", lifespan="off"))
    task = asyncio.create_task(server.serve([listener]))
    await until(lambda: server.started, "the server listens")
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        headers = {"authorization": "Bearer member"}
        async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=60, trust_env=False) as http:
            yield http
    finally:
        server.should_exit = True
        await task


@pytest.fixture
async def http(plane: DataPlane) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a server over the data plane."""
    async with serving(plane) as client:
        yield client


def documents_of(plane: DataPlane) -> str:
    return f"/v1/workspaces/{encode_workspace(plane.workspace.workspace_id)}/documents"


async def post(
    http: httpx2.AsyncClient, plane: DataPlane, name: str, content: bytes, *, key: str | None = None, **fields: str
) -> httpx2.Response:
    headers = {} if key is None else {"idempotency-key": key}
    return await http.post(documents_of(plane), files={"file": (name, content)}, data=fields, headers=headers)


async def nothing_is_left(plane: DataPlane) -> bool:
    return not (await plane.blobs.keys("") or await plane.rows("rag_documents") or await plane.jobs())


def a_pdf(*lines: str) -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file)
    for number, line in enumerate(lines):
        canvas.drawString(72, 720 - 20 * number, line)
    canvas.save()
    return file.getvalue()


async def test_a_pdf_is_accepted_ingested_and_served_again(http: httpx2.AsyncClient, plane: DataPlane) -> None:
    content = a_pdf("The relief valve opens at nine bar.", "Inspect it every spring.")

    accepted = await post(http, plane, "Valves.pdf", content, sourcePath="manuals/valves.pdf", title="Valves")
    waiting = (await http.get(accepted.headers["location"])).json()
    async with plane.worker():
        await plane.until_idle()
    ready = (await http.get(accepted.headers["location"])).json()
    original = await http.get(ready["sourceUrl"])

    assert (accepted.status_code, accepted.json()["unchanged"]) == (202, False)
    assert accepted.headers["location"] == accepted.json()["statusUrl"]
    assert (waiting["status"], waiting["mediaType"], waiting["error"]) == ("PENDING", "application/pdf", None)
    assert (ready["status"], ready["progress"]) == ("READY", {"chunksDone": 1, "chunkCount": 1})
    assert original.content == content
    (key,) = await plane.blobs.keys("")
    assert key.startswith(f"documents/{plane.workspace.org_id}/{plane.workspace.workspace_id}/")
    assert key.endswith("-Valves.pdf")


async def test_fifty_clients_with_one_key_make_one_document_and_get_fifty_equal_replies(
    http: httpx2.AsyncClient, plane: DataPlane
) -> None:
    replies = await asyncio.gather(*(post(http, plane, "a.md", b"Water flows.", key="once") for _ in range(50)))

    assert {reply.status_code for reply in replies} == {202}
    assert len({reply.content for reply in replies}) == 1
    assert sum("idempotency-replayed" not in reply.headers for reply in replies) == 1
    assert (await plane.rows("rag_documents"), len(await plane.jobs(JobKind.INGEST))) == (1, 1)
    assert len(await plane.blobs.keys("")) == 1


@pytest.mark.parametrize(
    ("name", "content", "fields"),
    [("a.md", b"Water falls.", {}), ("b.md", b"Water flows.", {}), ("a.md", b"Water flows.", {"title": "Other"})],
)
async def test_a_key_is_good_for_one_input_only(
    http: httpx2.AsyncClient, plane: DataPlane, name: str, content: bytes, fields: dict[str, str]
) -> None:
    await post(http, plane, "a.md", b"Water flows.", key="once")

    conflict = await post(http, plane, name, content, key="once", **fields)

    assert (conflict.status_code, conflict.json()["error"]["code"]) == (409, "IDEMPOTENCY_CONFLICT")
    assert len(await plane.blobs.keys("")) == 1


async def test_a_key_does_not_bring_an_erased_document_back(http: httpx2.AsyncClient, plane: DataPlane) -> None:
    await post(http, plane, "a.md", b"Water flows.", key="once")
    (job,) = await plane.jobs(JobKind.INGEST)
    assert job.document_id is not None
    await plane.delete.run(plane.workspace, job.document_id)

    late = await post(http, plane, "a.md", b"Water flows.", key="once")

    assert (late.status_code, late.json()["error"]["code"]) == (404, "DOCUMENT_ERASED")
    assert await plane.blobs.keys("") == []


async def test_the_same_bytes_are_unchanged_and_new_bytes_a_new_revision(
    http: httpx2.AsyncClient, plane: DataPlane
) -> None:
    async def upload(content: bytes) -> dict[str, Any]:
        reply: dict[str, Any] = (await post(http, plane, "a.md", content)).json()
        async with plane.worker():
            await plane.until_idle()
        return reply

    first, again, other = [await upload(text) for text in (b"Water flows.", b"Water flows.", b"Water falls.")]

    assert (first["unchanged"], again["unchanged"], other["unchanged"]) == (False, True, False)
    assert again["jobId"] is None
    assert first["id"] == again["id"] == other["id"]
    assert await plane.chunk_texts("a.md") == ["Water falls."]
    assert [await plane.blobs.read(key) for key in await plane.blobs.keys("")] == [b"Water falls."]


@pytest.mark.parametrize(
    ("name", "content", "status", "code"),
    [
        ("a.md", b"", 422, "UPLOAD_EMPTY"),
        ("a.pdf", b"<html><body>Not found</body></html>", 415, "CONTENT_MISMATCH"),
        ("a.docx", b"%!PS-Adobe", 415, "CONTENT_MISMATCH"),
        ("a.md", b"\x89PNG\r\n\x1a\n" + bytes(100), 415, "CONTENT_MISMATCH"),
        ("a.pdf", b"PK\x03\x04" + bytes(100), 415, "CONTENT_MISMATCH"),
        ("a.jar", b"PK\x03\x04" + bytes(100), 415, "CONTENT_UNSUPPORTED"),
        ("a.bin", bytes(range(256)), 415, "CONTENT_UNSUPPORTED"),
        ("a.md", b"x" * (MAX_BYTES + 1), 413, "UPLOAD_TOO_LARGE"),
        ("a.md", b"x" * (2 * MAX_BYTES), 413, "UPLOAD_TOO_LARGE"),
    ],
)
async def test_what_cannot_be_taken_is_refused_and_leaves_nothing(
    http: httpx2.AsyncClient, plane: DataPlane, name: str, content: bytes, status: int, code: str
) -> None:
    refused = await post(http, plane, name, content)

    assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)
    assert await nothing_is_left(plane)


@pytest.mark.parametrize(
    ("fields", "status"), [({"sourcePath": "../up.md"}, 400), ({"title": "a\nb"}, 400), ({"tags": "x"}, 400)]
)
async def test_fields_after_the_file_are_judged_too_and_leave_nothing(
    http: httpx2.AsyncClient, plane: DataPlane, fields: dict[str, str], status: int
) -> None:
    refused = await post(http, plane, "a.md", b"Water flows.", **fields)

    assert refused.status_code == status
    assert await nothing_is_left(plane)


async def test_a_file_that_is_too_large_is_told_what_to_do(http: httpx2.AsyncClient, plane: DataPlane) -> None:
    refused = await post(http, plane, "a.md", b"x" * (MAX_BYTES + 1))

    assert refused.json()["error"]["message"] == f"A file may have {format_bytes(MAX_BYTES)} at most: split it."


async def test_who_may_not_upload_is_told_so(http: httpx2.AsyncClient, plane: DataPlane) -> None:
    viewer = {"authorization": "Bearer viewer"}
    file = {"file": ("a.md", b"Water flows.")}
    forbidden = await http.post(documents_of(plane), files=file, headers=viewer)
    anonymous = await http.post(documents_of(plane), files=file, headers={"authorization": ""})
    elsewhere = await http.post(f"/v1/workspaces/{encode_workspace(plane.ids.new())}/documents", files=file)
    plain = await http.post(documents_of(plane), content=b"Water flows.")

    assert [one.status_code for one in (forbidden, anonymous, elsewhere, plain)] == [403, 401, 404, 415]
    assert await nothing_is_left(plane)


@pytest.mark.parametrize("ending", [b"", b"\r\n--other--", b"\r\n--edge\r\nno header"])
async def test_a_body_that_breaks_off_leaves_nothing(http: httpx2.AsyncClient, plane: DataPlane, ending: bytes) -> None:
    head = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\nWater flows.'
    media = {"content-type": "multipart/form-data; boundary=edge"}

    refused = await http.post(documents_of(plane), content=head + ending, headers=media)

    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "MULTIPART_INVALID")
    assert await nothing_is_left(plane)


async def test_a_client_that_hangs_up_leaves_neither_document_nor_blob(
    http: httpx2.AsyncClient, plane: DataPlane
) -> None:
    head = (
        f"POST {documents_of(plane)} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer member\r\n"
        "Content-Type: multipart/form-data; boundary=edge\r\nContent-Length: 400000\r\n\r\n"
        '--edge\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\n'
    )
    _, writer = await asyncio.open_connection("127.0.0.1", http.base_url.port)
    writer.write(head.encode() + b"Water flows. " * 10_000)
    await writer.drain()

    def parts() -> list[str]:
        return [file.name for file in plane.blob_root.rglob(".part-*")]

    await until(parts, "the file is being written")
    writer.close()
    await writer.wait_closed()
    await until(lambda: not parts(), "what was written is gone")

    assert await nothing_is_left(plane)


async def graphql(
    http: httpx2.AsyncClient, plane: DataPlane, name: str, content: bytes, headers: dict[str, str] | None = None
) -> httpx2.Response:
    workspace = encode_workspace(plane.workspace.workspace_id)
    operations = {"query": MUTATION, "variables": {"workspace": workspace, "file": None, "key": "k"}}
    parts = {
        "operations": (None, json.dumps(operations)),
        "map": (None, json.dumps({"0": ["variables.file"]})),
        "0": (name, content),
    }
    preflight = {"graphql-require-preflight": "1"} if headers is None else headers
    return await http.post("/graphql", files=parts, headers=preflight)


async def test_graphql_takes_a_file_as_well(http: httpx2.AsyncClient, plane: DataPlane) -> None:
    first = (await graphql(http, plane, "a.md", b"Water flows. " * 20_000)).json()
    second = (await graphql(http, plane, "a.md", b"Water flows. " * 20_000)).json()

    assert first["data"]["uploadDocument"] == {
        "document": {"sourcePath": "a.md", "status": "PENDING", "chunksDone": 0},
        "job": {"kind": "INGEST"},
        "unchanged": False,
        "userErrors": [],
    }
    assert second == first
    assert len(await plane.blobs.keys("")) == 1


async def test_graphql_names_what_is_wrong_with_a_file(http: httpx2.AsyncClient, plane: DataPlane) -> None:
    empty = (await graphql(http, plane, "a.md", b"")).json()
    large = (await graphql(http, plane, "a.md", b"x" * (MAX_BYTES + 1))).json()
    unasked = await graphql(http, plane, "a.md", b"Water flows.", headers={})

    assert empty["data"]["uploadDocument"]["userErrors"] == [{"code": "UPLOAD_EMPTY", "path": ["file"]}]
    assert large["data"]["uploadDocument"]["userErrors"] == [{"code": "UPLOAD_TOO_LARGE", "path": []}]
    assert unasked.status_code == 403
    assert unasked.json()["errors"][0]["extensions"]["code"] == "PREFLIGHT_HEADER_MISSING"
    assert await nothing_is_left(plane)


async def test_an_upload_that_cannot_be_registered_takes_its_blob_along(plane: DataPlane) -> None:
    use_case = upload_use_case(plane)

    async def content() -> AsyncIterator[bytes]:
        yield b"Water flows."

    received = await use_case.receive(plane.workspace, "a.md", content())
    before = await plane.blobs.keys("")
    with pytest.raises(InvalidInput):
        await use_case.submit(received, UploadOptions(source_path="/"), ADA)

    assert len(before) == 1
    assert await nothing_is_left(plane)


async def test_an_idempotency_key_answers_for_a_week(plane: DataPlane) -> None:
    async def bytes_of() -> AsyncIterator[bytes]:
        yield b"Water flows."

    async def upload() -> bool:
        use_case = upload_use_case(plane)
        options = UploadOptions(idempotency_key="one")
        return (await use_case.run(plane.workspace, "a.md", bytes_of(), options, ADA)).replayed

    await upload()
    assert await upload()
    assert await due(plane) == []

    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute("UPDATE rag_uploads SET created_at = now() - interval '8 days'")
    assert await due(plane) == [JobKind.RETENTION]
    async with plane.worker(timings=replace(QUICK, upkeep=0.05)):
        await until(lambda: _forgotten(plane), "the key is dropped")

    assert not await upload()


async def _forgotten(plane: DataPlane) -> bool:
    return await plane.rows("rag_uploads") == 0


async def due(plane: DataPlane) -> list[JobKind]:
    board = plane.job_board()
    try:
        return [task.kind for task in await board.upkeep()]
    finally:
        await board.aclose()


async def test_an_upload_that_meets_newer_bytes_in_flight_is_judged_by_them(plane: DataPlane) -> None:
    use_case, path = upload_use_case(plane), "notes.md"
    older = await use_case.run(plane.workspace, path, pieces(b"Water flows."), UploadOptions(), ADA)
    newer = await use_case.receive(plane.workspace, path, pieces(b"Water rests."))
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        await submit(transaction, submission_of(newer, older.document_id, path), {})
        again = asyncio.create_task(use_case.run(plane.workspace, path, pieces(b"Water flows."), UploadOptions(), ADA))
        await until(lambda: somebody_waits(plane), "the third upload waits for the second")

    last = await again

    document = await plane.document(path)
    unfinished = [job for job in await plane.jobs(JobKind.INGEST) if job.state is JobState.QUEUED]
    assert document is not None
    assert [job.job_id for job in unfinished] == [last.job_id]
    assert document.provenance[CONTENT_PROVENANCE] == older.content_hash.hex()


async def pieces(content: bytes) -> AsyncIterator[bytes]:
    yield content


def submission_of(received: ReceivedUpload, document_id: UUID, path: str) -> Submission:
    return Submission(
        received.workspace.ref,
        document_id,
        path,
        received.key,
        received.stored.sha256,
        received.stored.size,
        path,
        path,
        received.media_type,
        "two",
    )


async def somebody_waits(plane: DataPlane) -> bool:
    server = await asyncpg.connect(plane.database_url)
    try:
        waiting: int = await server.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
    finally:
        await server.close()
    return waiting > 0
