"""`/v1/workspaces/{workspace}/documents/{document}`: its status; erase it, ingest it again, set its readers."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.document_access import DocumentRight, parse_writers
from agentic_rag.documents.unread_pages import count_recognised, read_left_out, read_unread_pages
from agentic_rag.erasure.certificate import ErasedStore, certificate_json
from agentic_rag.erasure.delete import Deletion, show_deletion
from agentic_rag.kernel.errors import InvalidInput, no_such_document
from agentic_rag.kernel.public_ids import NodeId, NodeKind, decode, encode, encode_workspace
from agentic_rag.tenancy.access import EVERYONE, MAX_PRINCIPALS, parse_principals
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule
from agentic_rag_server.rest.documents.uploads import DOCUMENT, PATH, TAG, WORKSPACE
from agentic_rag_server.rest.http.bodies import read_json
from agentic_rag_server.rest.http.metadata import MetadataBody, show_metadata
from agentic_rag_server.rest.http.models import NOT_STORED, Instant, Model, answer, instant
from agentic_rag_server.rest.http.operations import Endpoint, Parameter, ResponseSpec, operation

_PATH = f"{PATH}/{{document}}"
_BOOLEANS = {"true": True, "false": False}


class Fault(Model, frozen=True):
    """Why a document is FAILED."""

    code: str
    message: str
    attempts: int
    retryable: bool


class Progress(Model, frozen=True):
    """Passages embedded so far, of how many."""

    chunks_done: int
    chunk_count: int


class Unread(Model, frozen=True):
    """Pages, or files in an archive or mail, that cannot be read: how many, of how many, the first of them from 1."""

    count: int
    pages: int
    numbers: list[int]
    unit: str


class DocumentState(Model, frozen=True):
    """A document and where it stands."""

    id: str
    workspace_id: str
    source_path: str
    title: str
    file_name: str
    media_type: str
    size: int
    status: DocumentStatus
    withdrawn: Annotated[bool, Meta(description="Nobody reads it until one of its writers restores it.")]
    missing: Annotated[bool, Meta(description="Its source no longer has it: nobody reads it. Shown to admins only.")]
    error: Fault | None
    unread_pages: Unread | None
    recognised_pages: Annotated[int, Meta(description="Pages whose words were recognised in pictures of them (OCR).")]
    left_out_characters: Annotated[int, Meta(description="Of a web page, beside its main content: no answer knows it.")]
    progress: Progress
    metadata: MetadataBody
    created_at: Instant
    updated_at: Instant
    source_url: str


class StoreErased(Model, frozen=True):
    """What one store had of the document, and whether it is gone from there."""

    store: ErasedStore
    count: Annotated[
        int | None, Meta(description="Null where it would tell of documents and questions of others; for admins never.")
    ]
    done: bool


class Uncovered(Model, frozen=True):
    """A place that an erasure does not reach."""

    place: str
    reason: str
    taken_at: Instant | None


class Certificate(Model, frozen=True):
    """The proof of an erasure."""

    corpus_version: Annotated[int, Meta(description="The first version without the document.")]
    erased_at: Instant
    complete: bool
    stores: list[StoreErased]
    not_covered: list[Uncovered]


class DocumentErased(Model, frozen=True):
    """The answer to a deletion."""

    deleted_id: str
    corpus_version: int
    unfinished: Annotated[
        list[str], Meta(description="Stores that did not answer; a job empties them as soon as they do.")
    ]
    certificate: Certificate | None


class ReingestionQueued(Model, frozen=True):
    """The job that ingests a document again."""

    document_id: str
    status: DocumentStatus
    job_id: str
    new: Annotated[bool, Meta(description="False when such a job was waiting or running already.")]


class ReadersChange(Model, frozen=True, forbid_unknown_fields=True):
    """Who may read the document from the next question on: exactly those named."""

    readable_by: Annotated[
        list[str],
        Meta(
            min_length=1,
            max_length=MAX_PRINCIPALS,
            description="`user:NAME`, `key:NAME` and `group:NAME`, or `everyone`.",
        ),
    ]
    all_versions: Annotated[bool, Meta(description="Text that only older versions hold opens to them too.")] = False


class WritersChange(Model, frozen=True, forbid_unknown_fields=True):
    """Who may replace the content beside the owner and admins: exactly those named."""

    writers: Annotated[list[str], Meta(max_length=MAX_PRINCIPALS, description="`user:NAME`, `key:NAME`, `group:NAME`.")]


class OwnerChange(Model, frozen=True, forbid_unknown_fields=True):
    """To whom the document is handed over."""

    owner: Annotated[str, Meta(description="`user:NAME` or `key:NAME`.")]


class DocumentRights(Model, frozen=True):
    """Who owns a document and who may replace its content."""

    document_id: str
    owner: str
    writers: list[str]


class DocumentReaders(Model, frozen=True):
    """Who may read a document."""

    document_id: str
    readable_by: Annotated[list[str], Meta(description="`everyone`, or users and groups; whoever asked is among them.")]


class DocumentEndpoint(Endpoint):
    """`/v1/workspaces/{workspace}/documents/{document}` and its changes."""

    tag = TAG

    @operation(
        "GET",
        _PATH,
        "getDocument",
        summary="How far a document is",
        rule=Rule((Action.READ,), DocumentRight.KNOW),
        parameters=(WORKSPACE, DOCUMENT),
        answers=(ResponseSpec(200, "The document.", DocumentState),),
        refusals=(400, 401, 403, 404, 500, 503),
    )
    async def get(self, request: Request) -> Response:
        """The document's status. Errors: `InvalidInput`, `NotFound`."""
        ref, node, _ = await self._document(request)
        async with self._parts.database.transaction(ref.org_id) as transaction:
            document = await transaction.documents.get(ref, node.key)
        if document is None:
            raise no_such_document()
        return answer(show_document(document), headers=NOT_STORED)

    @operation(
        "DELETE",
        _PATH,
        "deleteDocument",
        summary="Erase a document from every store",
        description="Takes the owner of the document with the role member, or the role admin.",
        rule=Rule((Action.DELETE_DOCUMENT,), DocumentRight.OWN),
        parameters=(WORKSPACE, DOCUMENT),
        answers=(ResponseSpec(200, "What was removed, with the certificate.", DocumentErased),),
        refusals=(400, 401, 403, 404, 500, 503),
    )
    async def delete(self, request: Request) -> Response:
        """200 with the certificate. Errors: those of `_document`, `DependencyUnavailable`."""
        ref, node, principal = await self._document(request)
        deletion = await self._parts.delete.run(ref, node.key, principal.subject_id)
        shown = await show_deletion(self._parts.database, ref, principal, deletion)
        return answer(show_erasure(request.path_params["document"], shown))

    @operation(
        "POST",
        f"{_PATH}/reingest",
        "reingestDocument",
        summary="Ingest a document again from its kept original",
        description="Takes the owner or a writer of the document with the role member, or the role admin.",
        rule=Rule((Action.REINGEST_DOCUMENT,), DocumentRight.WRITE),
        parameters=(
            WORKSPACE,
            DOCUMENT,
            Parameter("force", "query", "Keep nothing that is published.", {"type": "boolean", "default": False}),
        ),
        answers=(ResponseSpec(202, "Queued.", ReingestionQueued),),
        refusals=(400, 401, 402, 403, 404, 422, 429, 500, 503),
    )
    async def reingest(self, request: Request) -> Response:
        """202 with the job. Errors: as `delete`, and `Permanent` code ORIGINAL_MISSING."""
        ref, node, principal = await self._document(request)
        force = _BOOLEANS.get(request.query_params.get("force", "false"))
        if force is None:
            raise InvalidInput("`force` is true or false.", path=("force",))
        queued = await self._parts.reingest.run(ref, node.key, principal.subject_id, force=force)
        body = ReingestionQueued(
            document_id=request.path_params["document"],
            status=queued.document.status,
            job_id=encode(NodeKind.JOB, ref.workspace_id, queued.job.job_id),
            new=queued.is_new,
        )
        return answer(body, 202)

    @operation(
        "PUT",
        f"{_PATH}/readers",
        "setDocumentReaders",
        summary="Say who may read a document",
        description="Takes the owner of the document with the role member, or the role admin.",
        rule=Rule((Action.SET_DOCUMENT_ACCESS,), DocumentRight.OWN),
        parameters=(WORKSPACE, DOCUMENT),
        takes=ReadersChange,
        answers=(ResponseSpec(200, "The readers as they are kept.", DocumentReaders),),
        refusals=(400, 401, 403, 404, 413, 415, 429, 500, 503),
    )
    async def put_readers(self, request: Request) -> Response:
        """200 with the stored readers. Errors: as `delete`, and those of `read_json`."""
        ref, node, principal = await self._document(request)
        change = await read_json(request, ReadersChange, self._parts.options.max_body_bytes)
        access = self._parts.document_access
        document = await access.change(
            principal, ref, node.key, parse_principals(change.readable_by), all_versions=change.all_versions
        )
        readers = list(await access.list_readers(document)) or [EVERYONE]
        body = DocumentReaders(document_id=request.path_params["document"], readable_by=readers)
        return answer(body, headers=NOT_STORED)

    @operation(
        "PUT",
        f"{_PATH}/writers",
        "setDocumentWriters",
        summary="Say who may replace a document's content",
        description="Takes the owner of the document with the role member, or the role admin.",
        rule=Rule((Action.SET_DOCUMENT_ACCESS,), DocumentRight.OWN),
        parameters=(WORKSPACE, DOCUMENT),
        takes=WritersChange,
        answers=(ResponseSpec(200, "The writers as they are kept.", DocumentRights),),
        refusals=(400, 401, 403, 404, 413, 415, 429, 500, 503),
    )
    async def put_writers(self, request: Request) -> Response:
        """200 with owner and writers. Errors: as `put_readers`."""
        ref, node, principal = await self._document(request)
        change = await read_json(request, WritersChange, self._parts.options.max_body_bytes)
        writers = parse_writers(change.writers)
        return _show_rights(request, await self._parts.document_access.set_writers(principal, ref, node.key, writers))

    @operation(
        "PUT",
        f"{_PATH}/owner",
        "transferOwnership",
        summary="Hand a document over to another subject",
        description="The new owner reads it from then on. Takes the owner with the role member, or the role admin.",
        rule=Rule((Action.SET_DOCUMENT_ACCESS,), DocumentRight.OWN),
        parameters=(WORKSPACE, DOCUMENT),
        takes=OwnerChange,
        answers=(ResponseSpec(200, "The owner as it is kept.", DocumentRights),),
        refusals=(400, 401, 403, 404, 413, 415, 429, 500, 503),
    )
    async def put_owner(self, request: Request) -> Response:
        """200 with owner and writers. Errors: as `put_readers`."""
        ref, node, principal = await self._document(request)
        change = await read_json(request, OwnerChange, self._parts.options.max_body_bytes)
        return _show_rights(request, await self._parts.document_access.transfer(principal, ref, node.key, change.owner))

    @operation(
        "PUT",
        f"{_PATH}/withdrawal",
        "withdrawDocument",
        summary="Take a document out of answers, reads and lists until it is restored",
        description="Takes the owner or a writer of the document with the role member, or the role admin.",
        rule=Rule((Action.WITHDRAW_DOCUMENT,), DocumentRight.WRITE),
        parameters=(WORKSPACE, DOCUMENT),
        answers=(ResponseSpec(200, "The document.", DocumentState),),
        refusals=(400, 401, 403, 404, 500, 503),
    )
    async def put_withdrawal(self, request: Request) -> Response:
        """200 with the document. Errors: as `delete`."""
        ref, node, principal = await self._document(request)
        document = await self._parts.document_access.withdraw(principal, ref, node.key)
        return answer(show_document(document), headers=NOT_STORED)

    @operation(
        "DELETE",
        f"{_PATH}/withdrawal",
        "restoreDocument",
        summary="Give a withdrawn document back to its readers",
        description="Takes the owner or a writer of the document who could read it with the role member, or the role "
        "admin.",
        rule=Rule((Action.WITHDRAW_DOCUMENT,), DocumentRight.WRITE),
        parameters=(WORKSPACE, DOCUMENT),
        answers=(ResponseSpec(200, "The document.", DocumentState),),
        refusals=(400, 401, 403, 404, 500, 503),
    )
    async def delete_withdrawal(self, request: Request) -> Response:
        """200 with the document. Errors: as `delete`."""
        ref, node, principal = await self._document(request)
        document = await self._parts.document_access.restore(principal, ref, node.key)
        return answer(show_document(document), headers=NOT_STORED)

    async def _document(self, request: Request) -> tuple[WorkspaceRef, NodeId, Principal]:
        """The workspace, the document and the caller. Errors: those of `require`, `InvalidInput`."""
        workspace = decode(request.path_params["workspace"], NodeKind.WORKSPACE, path=("workspace",))
        node = decode(request.path_params["document"], NodeKind.DOCUMENT, path=("document",))
        if node.workspace_id != workspace.workspace_id:
            raise no_such_document()
        ref, principal = await self.require(request, node)
        return ref, node, principal


def _show_rights(request: Request, document: Document) -> Response:
    body = DocumentRights(
        document_id=request.path_params["document"], owner=document.uploaded_by, writers=list(document.writers)
    )
    return answer(body, headers=NOT_STORED)


def show_erasure(public_id: str, deletion: Deletion) -> DocumentErased:
    """A deletion as REST shows it. Errors: `NotFound` code DOCUMENT_NOT_FOUND when there was nothing to delete."""
    if deletion.erasure is None:
        raise no_such_document()
    certificate = deletion.certificate
    return DocumentErased(
        deleted_id=public_id,
        corpus_version=deletion.erasure.version,
        unfinished=list(deletion.unfinished),
        certificate=None if certificate is None else msgspec.convert(certificate_json(certificate), Certificate),
    )


def show_document(document: Document) -> DocumentState:
    """A document as REST shows it."""
    workspace_id = document.workspace.workspace_id
    public_id = encode(NodeKind.DOCUMENT, workspace_id, document.document_id)
    fault, unread = document.fault, read_unread_pages(document.provenance)
    left_out = read_left_out(document.provenance)
    return DocumentState(
        id=public_id,
        workspace_id=encode_workspace(workspace_id),
        source_path=document.source_path,
        title=document.title,
        file_name=document.file_name,
        media_type=document.media_type,
        size=document.size,
        status=document.status,
        withdrawn=document.is_withdrawn,
        missing=document.is_missing,
        error=None
        if fault is None
        else Fault(code=fault.code, message=fault.message, attempts=fault.attempts, retryable=fault.retryable),
        unread_pages=None if unread is None else Unread(unread.count, unread.pages, list(unread.numbers), unread.unit),
        recognised_pages=count_recognised(document.provenance),
        left_out_characters=0 if left_out is None else left_out.characters,
        progress=Progress(chunks_done=document.chunks_done, chunk_count=document.chunk_count),
        metadata=show_metadata(document.metadata),
        created_at=instant(document.created_at),
        updated_at=instant(document.updated_at),
        source_url=f"/v1/documents/{public_id}/source",
    )
