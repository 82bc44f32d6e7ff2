"""Uploads: the mutation, and files in GraphQL requests (graphql-multipart-request-spec)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import orjson
import strawberry
from starlette.requests import Request

from agentic_rag.ingestion.upload import UploadOptions
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.documents.documents import Document, ReadersInput, read_readers, show_document
from agentic_rag_server.graphql.documents.metadata import DocumentMetadataInput, read_change
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, mutation, to_schema
from agentic_rag_server.graphql.http.responses import GraphQLRequest, RequestFault, operation_from
from agentic_rag_server.graphql.jobs.jobs import Job, show_job
from agentic_rag_server.graphql.models.spaces import EmbeddingEstimate
from agentic_rag_server.rest.http.multipart import MultipartBody

PREFLIGHT_HEADERS = ("graphql-require-preflight", "apollo-require-preflight", "x-requested-with")
"""A browser sends a form to another origin without a preflight request. Each of these headers forces one."""


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file that arrives while the operation runs. It can be read once."""

    file_name: str
    content: AsyncIterator[bytes]


FILE = strawberry.scalar(
    name="Upload",
    description="A file, sent as graphql-multipart-request-spec says: one file, mapped to one variable.",
    parse_value=lambda value: _require_file(value),
)
"""The scalar of `UploadedFile`."""


@strawberry.type(description="The document that was uploaded, or why there is none.")
class UploadDocumentPayload(Payload):
    document: Document | None = None
    job: Job | None = strawberry.field(
        default=None, description="What ingests it; null when these very bytes are READY already."
    )
    unchanged: bool = strawberry.field(default=False, description="Whether these very bytes were READY already.")


@strawberry.type(description="What an upload would cost; or, in `userErrors`, why it would be refused.")
class EstimateUploadPayload(Payload):
    size: int | None = strawberry.field(default=None, description="Bytes.")
    media_type: str | None = None
    embedding: EmbeddingEstimate | None = strawberry.field(
        default=None, description="Null for a file that could not be read; the reason is in `errorCode`."
    )
    error_code: str | None = strawberry.field(default=None, description="Why the document would become FAILED.")
    error_message: str | None = None


@strawberry.type
class UploadMutation:
    @mutation(
        Action.UPLOAD_DOCUMENT,
        EstimateUploadPayload,
        right=Sight.PATH,
        description="What uploading a file would cost: it is read, cut into chunks, and forgotten. Chunks that the "
        "document of that path has already are not embedded again. Nothing is stored, and no provider is called. Takes "
        "the role member.",
    )
    async def estimate_upload(
        self, info: Info, workspace_id: strawberry.ID, file: UploadedFile, source_path: str | None = None
    ) -> EstimateUploadPayload:
        context = info.context
        ref = context.ref(decode(workspace_id, NodeKind.WORKSPACE, path=("workspaceId",)))
        found = await context.parts.estimate_upload.run(
            context.principal, ref, file.file_name, file.content, source_path
        )
        cost, fault = found.file.cost, found.file.fault
        return EstimateUploadPayload(
            size=found.size,
            media_type=found.media_type,
            embedding=None if cost is None else to_schema(EmbeddingEstimate, cost),
            error_code=None if fault is None else fault.code,
            error_message=None if fault is None else fault.message,
        )

    @mutation(
        Action.UPLOAD_DOCUMENT,
        UploadDocumentPayload,
        right=Sight.PATH,
        description="Upload one file (graphql-multipart-request-spec). The same path is the same document; the same "
        "`idempotencyKey` with the same file is the same upload. Takes the role member.",
    )
    async def upload_document(
        self,
        info: Info,
        workspace_id: strawberry.ID,
        file: UploadedFile,
        source_path: str | None = None,
        title: str | None = None,
        idempotency_key: str | None = None,
        readable_by: ReadersInput | None = None,
        metadata: DocumentMetadataInput | None = None,
    ) -> UploadDocumentPayload:
        """The file streams to the blob store while this runs. Without `readableBy` a new document is open to the whole
        workspace, and an existing one keeps its readers.
        """
        context = info.context
        readers = None if readable_by is None else read_readers(readable_by)
        said = read_change(metadata, ("metadata",))
        options = UploadOptions(source_path, title, idempotency_key, readers, said)
        ref = context.ref(decode(workspace_id, NodeKind.WORKSPACE, path=("workspaceId",)))
        upload = await context.parts.upload.run(ref, file.file_name, file.content, options, context.principal)
        async with context.parts.database.transaction(ref.org_id) as transaction:
            document = await transaction.documents.get(ref, upload.document_id)
            job = None if upload.job_id is None else await transaction.jobs.get(ref, upload.job_id)
        return UploadDocumentPayload(
            document=show_document(document) if document else None,
            job=show_job(job) if job else None,
            unchanged=upload.job_id is None,
        )


def require_preflight(request: Request) -> None:
    """Errors: `RequestFault` code PREFLIGHT_HEADER_MISSING for a request that another site's form could send."""
    if not any(request.headers.get(name) for name in PREFLIGHT_HEADERS):
        raise RequestFault(
            403, "PREFLIGHT_HEADER_MISSING", f"Send one of the headers {', '.join(PREFLIGHT_HEADERS)} with a file."
        )


async def read_multipart(request: Request, most: int, most_json: int) -> GraphQLRequest:
    """The operation of a multipart request; its resolver reads the file. Errors: `RequestFault`, `InvalidInput`,
    `UploadTooLarge`.
    """
    parts = MultipartBody(request, most).parts()
    operations = await _json(parts, "operations", most_json)
    places = await _json(parts, "map", most_json)
    variables = operations.get("variables")
    name, place = _only_place(places)
    if not isinstance(variables, dict) or place not in variables or variables[place] is not None:
        raise RequestFault(400, "BAD_REQUEST", "`map` must name a variable of `operations` that is null.")
    variables[place] = UploadedFile(*await _file(parts, name))
    return operation_from(operations)


async def _file(parts: AsyncIterator[Any], name: str) -> tuple[str, AsyncIterator[bytes]]:
    part = await anext(parts, None)
    if part is None or part.name != name or part.file_name is None:
        raise RequestFault(400, "BAD_REQUEST", "After `operations` and `map` comes the file that `map` names.")
    return part.file_name, part.content


async def _json(parts: AsyncIterator[Any], name: str, most: int) -> dict[str, Any]:
    part = await anext(parts, None)
    if part is None or part.name != name:
        raise RequestFault(400, "BAD_REQUEST", "The parts are `operations`, `map` and the file, in this order.")
    try:
        given = orjson.loads(await part.text(most))
    except orjson.JSONDecodeError as wrong:
        raise RequestFault(400, "BAD_JSON", f"`{name}` is not JSON: {wrong.msg}.") from wrong
    if not isinstance(given, dict):
        raise RequestFault(400, "BAD_REQUEST", f"`{name}` must be one JSON object; batches are not served.")
    return given


def _only_place(places: dict[str, Any]) -> tuple[str, str]:
    """The name of the file part and of its variable."""
    if len(places) == 1:
        ((name, paths),) = places.items()
        if isinstance(paths, list) and len(paths) == 1 and isinstance(paths[0], str):
            first, dot, variable = paths[0].partition(".")
            if first == "variables" and dot and "." not in variable:
                return name, variable
    raise RequestFault(400, "BAD_REQUEST", "`map` must map one file to one variable, as `variables.file`.")


def _require_file(value: object) -> UploadedFile:
    if not isinstance(value, UploadedFile):
        raise InvalidInput("Send the file as a part of a multipart request.", path=("file",))
    return value
