"""Reads an upload's form: one file and a few fields, in any order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol

from agentic_rag.documents.upload_arguments import MAX_KEY_CHARACTERS, MAX_PATH_CHARACTERS, MAX_TITLE_CHARACTERS
from agentic_rag.ingestion.upload import ReceivedUpload, UploadOptions
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.tenancy.access import MAX_PRINCIPALS, parse_principals
from agentic_rag.tenancy.principals import MAX_NAME_CHARACTERS
from agentic_rag_server.rest.http.multipart import MultipartBody
from agentic_rag_server.rest.http.operations import FileForm, FormField, Parameter

FIELDS_BYTES = 256 * 1024
"""What a body may have beside its file."""

READABLE_BY = "readableBy"
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
    )
)

IDEMPOTENCY_KEY = Parameter(
    "Idempotency-Key",
    "header",
    "Makes a repetition safe: the same key with the same file is the same upload.",
    {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARACTERS, "pattern": "^[ -~]+$"},
)

Receive = Callable[[str, AsyncIterator[bytes]], Awaitable[ReceivedUpload]]


class UploadDiscarder(Protocol):
    """Takes back what was received."""

    async def discard(self, received: ReceivedUpload) -> None:
        """Remove it."""
        ...


async def read_upload(
    body: MultipartBody, receive: Receive, uploads: UploadDiscarder, idempotency_key: str | None
) -> tuple[ReceivedUpload, UploadOptions]:
    """The file, which streams through `receive`, and what is said about it. What was received goes again when the rest
    cannot be read. Errors: `InvalidInput`, those of `MultipartBody` and of `receive`.
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
                    "Send one file as `file`, and if you like the fields `sourcePath`, `title` and `readableBy`.",
                    path=(part.name,),
                )
        if received is None:
            raise InvalidInput("The body has no part `file`.", path=("file",))
        if READABLE_BY in fields:
            readers = parse_principals([one.strip() for one in fields[READABLE_BY].split(",")])
    except BaseException:
        if received is not None:
            await uploads.discard(received)
        raise
    return received, UploadOptions(fields.get("sourcePath"), fields.get("title"), idempotency_key, readers)
