"""Deleting a document, ingesting it again and saying who reads it, over plain HTTP."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.erasure.certificate import ErasedStore, certificate_json
from agentic_rag.erasure.delete import Deletion
from agentic_rag.kernel.errors import InvalidInput, no_such_document
from agentic_rag.kernel.public_ids import NodeId, NodeKind, decode, encode
from agentic_rag.tenancy.access import EVERYONE, MAX_PRINCIPALS, parse_principals
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag_server.auth.bearer import principal_of
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.http.context import require_product_on
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.documents.uploads import DOCUMENT, PATH, TAG, WORKSPACE
from agentic_rag_server.rest.http.json_body import read_json
from agentic_rag_server.rest.http.models import NOT_STORED, Instant, Model, answer
from agentic_rag_server.rest.http.operations import OperationSpec, Parameter, ResponseSpec

_TRUTH = {"true": True, "false": False}


class StoreErased(Model, frozen=True):
    """What one store had of the document, and whether it is gone from there."""

    store: ErasedStore
    count: int
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
        Meta(min_length=1, max_length=MAX_PRINCIPALS, description="`user:NAME` and `group:NAME`, or `everyone`."),
    ]


class DocumentReaders(Model, frozen=True):
    """Who may read a document."""

    document_id: str
    readable_by: Annotated[list[str], Meta(description="`everyone`, or users and groups; whoever asked is among them.")]


class DocumentEndpoint:
    """`/v1/workspaces/{workspace}/documents/{document}` and what can be done to it."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts

    def operations(self) -> list[OperationSpec]:
        """What this serves."""
        force = Parameter("force", "query", "Keep nothing that is published.", {"type": "boolean", "default": False})
        return [
            OperationSpec(
                method="DELETE",
                path=f"{PATH}/{{document}}",
                name="deleteDocument",
                tag=TAG,
                summary="Erase a document from every store",
                description="Takes the role member.",
                serve=self.delete,
                parameters=(WORKSPACE, DOCUMENT),
                answers=(ResponseSpec(200, "What was removed, with the certificate.", DocumentErased),),
                refusals=(400, 401, 403, 404, 500, 503),
            ),
            OperationSpec(
                method="POST",
                path=f"{PATH}/{{document}}/reingest",
                name="reingestDocument",
                tag=TAG,
                summary="Ingest a document again from its kept original",
                description="Takes the role member.",
                serve=self.reingest,
                parameters=(WORKSPACE, DOCUMENT, force),
                answers=(ResponseSpec(202, "Queued.", ReingestionQueued),),
                refusals=(400, 401, 402, 403, 404, 422, 429, 500, 503),
            ),
            OperationSpec(
                method="PUT",
                path=f"{PATH}/{{document}}/readers",
                name="setDocumentReaders",
                tag=TAG,
                summary="Say who may read a document",
                description="Takes the role member, and whoever uploaded the document or an admin.",
                serve=self.put_readers,
                parameters=(WORKSPACE, DOCUMENT),
                takes=ReadersChange,
                answers=(ResponseSpec(200, "The readers as they are kept.", DocumentReaders),),
                refusals=(400, 401, 403, 404, 413, 415, 429, 500, 503),
            ),
        ]

    async def delete(self, request: Request) -> Response:
        """Erase the document: 200 with the certificate. Errors: `Unauthenticated`, `FeatureDisabled`, `Forbidden`,
        `InvalidInput`, `NotFound`, `DependencyUnavailable`.
        """
        ref, node, principal = await self._authorise_document(request, Action.DELETE_DOCUMENT)
        deletion = await self._parts.delete.run(ref, node.key, principal.subject)
        return answer(show_erasure(request.path_params["document"], deletion))

    async def reingest(self, request: Request) -> Response:
        """Queue the document's ingestion: 202 with the job. `?force=true` keeps nothing that is published. Errors: as
        `delete`, and `Permanent` code ORIGINAL_MISSING.
        """
        ref, node, principal = await self._authorise_document(request, Action.REINGEST_DOCUMENT)
        force = _TRUTH.get(request.query_params.get("force", "false"))
        if force is None:
            raise InvalidInput("`force` is true or false.", path=("force",))
        queued = await self._parts.reingest.run(ref, node.key, principal.subject, force=force)
        return answer(
            ReingestionQueued(
                document_id=request.path_params["document"],
                status=queued.document.status,
                job_id=encode(NodeKind.JOB, ref.workspace_id, queued.job.job_id),
                new=queued.is_new,
            ),
            202,
        )

    async def put_readers(self, request: Request) -> Response:
        """Let exactly those named read the document: 200 with its readers. Errors: as `delete`, and those of
        `read_json`.
        """
        ref, node, principal = await self._authorise_document(request, Action.SET_DOCUMENT_ACCESS)
        change = await read_json(request, ReadersChange, self._parts.options.max_body_bytes)
        document = await self._parts.document_access.change(
            principal, ref, node.key, parse_principals(change.readable_by)
        )
        readers = await self._parts.document_access.list_readers(document)
        body = DocumentReaders(document_id=request.path_params["document"], readable_by=list(readers) or [EVERYONE])
        return answer(body, headers=NOT_STORED)

    async def _authorise_document(self, request: Request, action: Action) -> tuple[WorkspaceRef, NodeId, Principal]:
        """The workspace, the document, which the caller may know of, and who asks."""
        principal = await principal_of(request, self._parts.identity)
        require_product_on(self._parts)
        authorise(principal, action)
        workspace = decode(request.path_params["workspace"], NodeKind.WORKSPACE, path=("workspace",))
        node = decode(request.path_params["document"], NodeKind.DOCUMENT, path=("document",))
        if node.workspace_id != workspace.workspace_id:
            raise no_such_document()
        ref = WorkspaceRef(principal.org_id, workspace.workspace_id)
        await self._parts.document_access.require(principal, ref, node.key)
        return ref, node, principal


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
