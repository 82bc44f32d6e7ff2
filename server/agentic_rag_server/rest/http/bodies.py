"""Reads the bodies of REST requests: an upload's form, with one file and a few fields in any order, and JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from agentic_rag.documents.metadata import NO_CHANGE
from agentic_rag.documents.upload_arguments import MAX_KEY_CHARACTERS, MAX_PATH_CHARACTERS, MAX_TITLE_CHARACTERS
from agentic_rag.ingestion.upload import ReceivedUpload, UploadOptions, limit_size
from agentic_rag.kernel.errors import ContentUnsupported, InvalidInput, UploadTooLarge
from agentic_rag.tenancy.access import MAX_PRINCIPALS, parse_principals
from agentic_rag.tenancy.principals import MAX_NAME_CHARACTERS
from agentic_rag_server.rest.http.metadata import parse_metadata
from agentic_rag_server.rest.http.models import JSON, Model
from agentic_rag_server.rest.http.multipart import MAX_FIELD_BYTES, MultipartBody
from agentic_rag_server.rest.http.operations import FileForm, FormField, Parameter

FIELDS_BYTES = 256 * 1024
"""The allowance of a body beside its file."""

READABLE_BY = "readableBy"
METADATA = "metadata"
MAX_READERS_CHARACTERS = MAX_PRINCIPALS * (MAX_NAME_CHARACTERS + len("group:,"))

FORM = FileForm(
    (
        FormField("sourcePath", "What the document is known by; default: the file's name.", MAX_PATH_CHARACTERS),
        FormField("title", "Default: the file's name without its ending.", MAX_TITLE_CHARACTERS),
        FormField(
            READABLE_BY,
            "Who may read it, separated by commas: `user:NAME`, `group:NAME`, or `everyone`. Default: the whole "
            "workspace; a document that is there keeps its readers.",
            MAX_READERS_CHARACTERS,
        ),
        FormField(
            METADATA,
            'What is said of it, as JSON: `{"tags": ["hr"], "domain": …, "language": "de", "date": "2024-01-31", '
            '"fields": {"team": "core"}}`.',
            MAX_FIELD_BYTES,
        ),
    )
)

PATH_FORM = FileForm(FORM.fields[:1])
"""The same without what is said of the document."""

IDEMPOTENCY_KEY = Parameter(
    "Idempotency-Key",
    "header",
    "Makes a repetition safe: the same key with the same file is the same upload.",
    {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARACTERS, "pattern": "^[ -~]+$"},
)

_Body = TypeVar("_Body", bound=Model)

Receive = Callable[[str, AsyncIterator[bytes]], Awaitable[ReceivedUpload]]
Discard = Callable[[ReceivedUpload], Awaitable[None]]


async def read_upload(
    body: MultipartBody, receive: Receive, discard: Discard, idempotency_key: str | None
) -> tuple[ReceivedUpload, UploadOptions]:
    """The file, which streams through `receive`, and its options. A received file is discarded when the rest of the
    body cannot be read. Errors: `InvalidInput`, those of `MultipartBody` and of `receive`.
    """
    received: ReceivedUpload | None = None
    readers: tuple[str, ...] | None = None
    fields: dict[str, str] = {}
    known = {field.name for field in FORM.fields}
    try:
        async for part in body.parts():
            if part.name == "file" and received is None and part.file_name is not None:
                received = await receive(part.file_name, part.content)
            elif part.name in known and part.name not in fields and part.file_name is None:
                fields[part.name] = await part.text()
            else:
                raise InvalidInput(
                    "Send one file as `file`, and if you like the fields `sourcePath`, `title`, `readableBy` and "
                    "`metadata`.",
                    path=(part.name,),
                )
        if received is None:
            raise InvalidInput("The body has no part `file`.", path=("file",))
        if READABLE_BY in fields:
            readers = parse_principals([one.strip() for one in fields[READABLE_BY].split(",")])
        said = parse_metadata(fields[METADATA]) if METADATA in fields else NO_CHANGE
    except BaseException:
        if received is not None:
            await discard(received)
        raise
    return received, UploadOptions(fields.get("sourcePath"), fields.get("title"), idempotency_key, readers, said)


async def read_file(body: MultipartBody, most: int) -> tuple[str, AsyncIterator[bytes], str | None]:
    """Name and content of a file of at most `most` bytes, and the path it is for. Errors: `InvalidInput`,
    `UploadTooLarge`, those of `MultipartBody`.
    """
    name: str | None = None
    path: str | None = None
    content = b""
    async for part in body.parts():
        if part.name == "file" and name is None and part.file_name is not None:
            name, content = part.file_name, b"".join([piece async for piece in limit_size(part.content, most)])
        elif part.name == "sourcePath" and path is None and part.file_name is None:
            path = await part.text()
        else:
            raise InvalidInput("Send one file as `file`, and if you like the field `sourcePath`.", path=(part.name,))
    if name is None:
        raise InvalidInput("The body has no part `file`.", path=("file",))
    return name, _once(content), path


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def read_json(request: Request, body: type[_Body], most: int) -> _Body:
    """The body as a value of its type. Errors: `ContentUnsupported` code UNSUPPORTED_MEDIA_TYPE, `UploadTooLarge` code
    BODY_TOO_LARGE beyond `most` bytes, `InvalidInput` code BAD_JSON or INVALID_INPUT with what does not fit.
    """
    if request.headers.get("content-type", "").split(";", 1)[0].strip().lower() != JSON:
        raise ContentUnsupported(f"Send the body as `{JSON}`.", code="UNSUPPORTED_MEDIA_TYPE")
    content = await _content(request, most)
    try:
        return msgspec.json.decode(content, type=body)
    except msgspec.ValidationError as wrong:
        raise InvalidInput(f"The body does not fit: {wrong}.") from wrong
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
        raise InvalidInput("The body is not JSON in UTF-8.", code="BAD_JSON") from wrong


async def _content(request: Request, most: int) -> bytes:
    content = b""
    try:
        async for piece in request.stream():
            content += piece
            if len(content) > most:
                raise UploadTooLarge(f"The body may have {most} bytes at most.", code="BODY_TOO_LARGE")
    except ClientDisconnect as gone:
        raise InvalidInput("The request ended before its body did.", code="CLIENT_GONE") from gone
    return content
