"""Documents in the schema."""

from __future__ import annotations

from datetime import datetime

import strawberry

from agentic_rag.documents import document as documents
from agentic_rag.erasure.delete import Deletion
from agentic_rag.erasure.ports import Erasure
from agentic_rag.ingestion.reingest import Reingestion
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag.models.billing.embedding_cost import PROVENANCE_KEYS, read_cost
from agentic_rag_server.graphql.erasure.erasures import DeletionCertificate, show_certificate
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.errors import UserError
from agentic_rag_server.graphql.http.nodes import Node
from agentic_rag_server.graphql.tenancy.access import Readers, show_readers

DocumentStatus = strawberry.enum(documents.DocumentStatus, description="Where a document stands.")


@strawberry.type(description="Why a document is FAILED.")
class DocumentError:
    """The fault of the last attempt."""

    code: str
    message: str
    attempts: int
    retryable: bool


@strawberry.type(description="A named value.")
class Property:
    """One entry of a mapping."""

    name: str
    value: str


@strawberry.type(description="What embedding the published revision cost; tokens and prices are estimates.")
class DocumentEmbedding:
    """Chunks, tokens and price."""

    space: str = strawberry.field(description="Provider, model, dimensions and precision.")
    chunks: int = strawberry.field(description="Chunks embedded for this revision.")
    tokens: int = strawberry.field(description="Tokens in them.")
    reused_chunks: int = strawberry.field(description="Chunks taken over from the revision before.")
    reused_tokens: int
    cost_usd: float | None = strawberry.field(description="Paid; null when the model's price is not known.")
    estimated_cost_usd: float | None = strawberry.field(
        description="What all chunks would have cost: the difference was saved by reuse."
    )


@strawberry.type(description="One source (file, upload, URL) of a workspace.")
class Document(Node):
    """A document as clients see it."""

    workspace_id: strawberry.ID
    source_path: str
    title: str
    url: str | None
    file_name: str
    media_type: str
    size: int = strawberry.field(description="Bytes of the original.")
    uploaded_by: str
    status: DocumentStatus  # type: ignore[valid-type]
    error: DocumentError | None
    chunk_count: int
    chunks_done: int = strawberry.field(description="Chunks embedded so far; equals `chunkCount` when READY.")
    embedding: DocumentEmbedding | None = strawberry.field(description="Null until the first publish.")
    created_at: datetime
    updated_at: datetime
    provenance: list[Property]
    download_path: str = strawberry.field(description="Path on this server that returns the original.")
    source: strawberry.Private[documents.Document]

    @strawberry.field(description="Who may read it; null: the whole workspace.")
    async def readable_by(self, info: Info) -> Readers | None:
        """Those of all documents of a page in one transaction."""
        key = self.source.workspace.workspace_id, self.source.access_id
        return show_readers(await info.context.access_sets.load(key))


@strawberry.type(description="What an erasure removed, by store.")
class ErasureCounts:
    """Rows removed or redacted."""

    revisions: int
    chunks: int
    vectors: int
    postings: int
    mentions: int
    entities: int
    staged: int
    runs_redacted: int
    jobs_redacted: int
    cache_entries: int
    blobs: int = strawberry.field(description="Originals.")


@strawberry.type(description="The proof of an erasure, or why there was none.")
class DeleteDocumentPayload:
    """Result of `deleteDocument`."""

    deleted_id: strawberry.ID | None
    corpus_version: int | None = strawberry.field(description="The first version without the document.")
    erased: ErasureCounts | None
    certificate: DeletionCertificate | None
    unfinished: list[str] = strawberry.field(
        description="Stores that did not answer; a job empties them as soon as they do."
    )
    user_errors: list[UserError]


def show_document(document: documents.Document) -> Document:
    """A document of the domain as one of the schema."""
    workspace_id = document.workspace.workspace_id
    public_id = encode(NodeKind.DOCUMENT, workspace_id, document.document_id)
    fault = document.fault
    return Document(
        id=strawberry.ID(public_id),
        workspace_id=strawberry.ID(encode_workspace(workspace_id)),
        source_path=document.source_path,
        title=document.title,
        url=document.url,
        file_name=document.file_name,
        media_type=document.media_type,
        size=document.size,
        uploaded_by=document.uploaded_by,
        status=document.status,
        error=DocumentError(code=fault.code, message=fault.message, attempts=fault.attempts, retryable=fault.retryable)
        if fault
        else None,
        chunk_count=document.chunk_count,
        chunks_done=document.chunks_done,
        embedding=_show_embedding(document),
        created_at=document.created_at,
        updated_at=document.updated_at,
        provenance=[
            Property(name=name, value=value)
            for name, value in sorted(document.provenance.items())
            if name not in PROVENANCE_KEYS
        ],
        download_path=f"/v1/documents/{public_id}/source",
        source=document,
    )


def _show_embedding(document: documents.Document) -> DocumentEmbedding | None:
    cost = read_cost(document.provenance)
    if cost is None:
        return None
    return DocumentEmbedding(
        space=cost.space,
        chunks=cost.chunks,
        tokens=cost.tokens,
        reused_chunks=cost.reused_chunks,
        reused_tokens=cost.reused_tokens,
        cost_usd=cost.cost_usd,
        estimated_cost_usd=cost.estimated_cost_usd,
    )


def show_deletion(public_id: str, deletion: Deletion, erasure: Erasure) -> DeleteDocumentPayload:
    """The counts of an erasure as a payload."""
    return DeleteDocumentPayload(
        deleted_id=strawberry.ID(public_id),
        corpus_version=erasure.version,
        erased=ErasureCounts(
            revisions=erasure.revisions,
            chunks=erasure.chunks,
            vectors=erasure.vectors,
            postings=erasure.postings,
            mentions=erasure.mentions,
            entities=erasure.entities,
            staged=erasure.staged,
            runs_redacted=erasure.runs_redacted,
            jobs_redacted=erasure.jobs_redacted,
            cache_entries=erasure.cache_entries + deletion.cache_entries,
            blobs=deletion.blobs,
        ),
        certificate=None if deletion.certificate is None else show_certificate(deletion.certificate),
        unfinished=list(deletion.unfinished),
        user_errors=[],
    )


@strawberry.type(description="The document with its new readers, or why they are the old ones.")
class SetDocumentAccessPayload:
    """Result of `setDocumentAccess`."""

    document: Document | None
    user_errors: list[UserError]


@strawberry.type(description="The job that ingests a document again.")
class ReingestPayload:
    """Result of `reingest`."""

    job_id: strawberry.ID | None
    document: Document | None
    new: bool = strawberry.field(description="False when such a job was waiting or running already.")
    user_errors: list[UserError]


def show_reingestion(queued: Reingestion) -> ReingestPayload:
    """A queued ingestion as a payload."""
    workspace_id = queued.document.workspace.workspace_id
    return ReingestPayload(
        job_id=strawberry.ID(encode(NodeKind.JOB, workspace_id, queued.job.job_id)),
        document=show_document(queued.document),
        new=queued.is_new,
        user_errors=[],
    )
