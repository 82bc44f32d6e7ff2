"""Documents: reading, access, erasure, ingesting again."""

from collections.abc import Sequence
from datetime import datetime

import strawberry

from agentic_rag.documents import document as documents
from agentic_rag.documents.document_access import DocumentRight, parse_writers
from agentic_rag.documents.read_text import MAX_CHARACTERS
from agentic_rag.documents.unread_pages import (
    LEFT_OUT_PROVENANCE,
    RECOGNISED_PROVENANCE,
    UNREAD_PROVENANCE,
    read_left_out,
    read_recognised_pages,
    read_unread_pages,
)
from agentic_rag.erasure.delete import Deletion, show_deletion
from agentic_rag.ingestion.ingest_run import SOURCE_PROVENANCE
from agentic_rag.kernel.errors import Permanent, no_such_document
from agentic_rag.kernel.public_ids import NodeId, NodeKind, decode, encode, encode_workspace
from agentic_rag.models.billing.embedding_cost import PROVENANCE_KEYS, read_cost
from agentic_rag.tenancy.access import (
    PUBLIC_PRINCIPALS,
    Hiding,
    groups_of,
    keys_of,
    may_manage_access,
    restore_principals,
    users_of,
    validate_principals,
)
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.graphql.documents.metadata import DocumentMetadata, show_metadata
from agentic_rag_server.graphql.documents.text import DocumentText, LeftOut, show_left_out, show_text
from agentic_rag_server.graphql.erasure.erasures import DeletionCertificate, show_certificate
from agentic_rag_server.graphql.http.context import Info, RequestContext
from agentic_rag_server.graphql.http.fields import (
    Node,
    Payload,
    inner,
    mutation,
    to_schema,
)

DocumentStatus = strawberry.enum(documents.DocumentStatus, description="Where a document stands.")


@strawberry.type(description="Why a document is FAILED.")
class DocumentError:
    code: str
    message: str
    attempts: int
    retryable: bool


@strawberry.type(description="A named value.")
class Property:
    name: str
    value: str


@strawberry.type(description="What embedding the published revision cost; tokens and prices are estimates.")
class DocumentEmbedding:
    space: str = strawberry.field(description="Provider, model, dimensions and precision.")
    chunks: int = strawberry.field(description="Chunks embedded for this revision.")
    tokens: int = strawberry.field(description="Tokens in them.")
    reused_chunks: int = strawberry.field(description="Chunks taken over from the revision before.")
    reused_tokens: int
    cost_usd: float | None = strawberry.field(description="Paid; null when the model's price is not known.")
    estimated_cost_usd: float | None = strawberry.field(
        description="What all chunks would have cost: the difference was saved by reuse."
    )


@strawberry.type(description="Pages whose words were recognised in pictures of them (OCR): some may be misread.")
class RecognisedPages:
    count: int
    pages: int = strawberry.field(description="All pages of the file.")
    numbers: list[int] = strawberry.field(description="All that were recognised, from 1.")


@strawberry.type(
    description="Pages of a file, or files and pictures in it, that cannot be read; answers know nothing of them."
)
class UnreadPages:
    count: int
    pages: int = strawberry.field(description="All pages of the file, or all files, pictures or objects in it.")
    numbers: list[int] = strawberry.field(description="The first of them, from 1.")
    unit: str = strawberry.field(
        description="What they are: `page`, `file` in the file, `picture` large enough for words, `object` of another "
        "program, `equation`; `part` where several of these are meant."
    )


@strawberry.type(description="The users, API keys and groups that may read a document; whoever is one of them may.")
class Readers:
    users: list[str] = strawberry.field(description="Subjects of tokens.")
    keys: list[str] = strawberry.field(description="Subjects of API keys.")
    groups: list[str] = strawberry.field(description="Groups of tokens and keys.")


@strawberry.input(
    description="The users, API keys and groups that may read a document. Without any the whole workspace may."
)
class ReadersInput:
    users: list[str] = strawberry.field(default_factory=list, description="Subjects of tokens.")
    keys: list[str] = strawberry.field(default_factory=list, description="Subjects of API keys.")
    groups: list[str] = strawberry.field(default_factory=list, description="Groups of tokens and keys.")


@strawberry.type(description="One source (file, upload, URL) of a workspace.")
class Document(Node):
    workspace_id: strawberry.ID
    source_path: str
    title: str
    url: str | None
    file_name: str
    media_type: str
    size: int = strawberry.field(description="Bytes of the original.")
    uploaded_by: str = strawberry.field(
        description="The owner, `user:NAME` or `key:NAME`: who uploaded it first, or to whom it was handed over."
    )
    writers: list[str] = strawberry.field(
        description="Who may replace the content beside owner and admins: `user:NAME`, `key:NAME`, `group:NAME`."
    )
    withdrawn: bool = strawberry.field(
        description="Nobody reads it until one of its writers restores it; `readableBy` are its readers then."
    )
    missing: bool = strawberry.field(
        description="Its source lost it: nobody reads it until it comes back. Shown to admins only."
    )
    status: DocumentStatus  # type: ignore[valid-type]
    error: DocumentError | None
    unread_pages: UnreadPages | None = strawberry.field(description="Null when all was read.")
    recognised_pages: RecognisedPages | None = strawberry.field(description="Null when none was.")
    left_out: LeftOut | None = strawberry.field(description="Null when nothing was.")
    chunk_count: int
    chunks_done: int = strawberry.field(description="Chunks embedded so far; equals `chunkCount` when READY.")
    embedding: DocumentEmbedding | None = strawberry.field(description="Null until the first publish.")
    created_at: datetime
    updated_at: datetime
    provenance: list[Property]
    metadata: DocumentMetadata
    download_path: str = strawberry.field(description="Path on this server that returns the original.")
    source: strawberry.Private[documents.Document]

    @inner(
        Action.READ,
        right=DocumentRight.READ,
        description=f"The text that citations count in, from `start` to `end`, at most {MAX_CHARACTERS} code points of "
        "it; `asOf`: a corpus version to read at, or `asOfTime`: the newest one then. Takes the right to read; an "
        "error where nothing is published.",
    )
    async def text(
        self,
        info: Info,
        start: int = 0,
        end: int | None = None,
        as_of: int | None = None,
        as_of_time: datetime | None = None,
    ) -> DocumentText:
        context, ref, key = info.context, self.source.workspace, self.source.document_id
        await context.parts.document_access.require(context.principal, ref, key, DocumentRight.READ)
        at = as_of, as_of_time
        return show_text(await context.parts.read_text.run(context.principal, ref, key, start, end, *at))

    @inner(right=DocumentRight.KNOW, description="Who may read it; null: the whole workspace.")
    async def readable_by(self, info: Info) -> Readers | None:
        key = self.source.workspace.workspace_id, self.source.access_id
        return show_readers(restore_principals(await info.context.access_sets.load(key), Hiding.WITHDRAWN))


OF_OTHERS = "Shown to admins; for others null, since it tells of documents and questions of others."


@strawberry.type(description="What an erasure removed, by store.")
class ErasureCounts:
    revisions: int
    chunks: int
    vectors: int
    postings: int
    mentions: int
    entities: int | None = strawberry.field(description=f"That no other document mentions. {OF_OTHERS}")
    staged: int
    runs_redacted: int | None = strawberry.field(description=f"Of all callers. {OF_OTHERS}")
    jobs_redacted: int
    cache_entries: int | None = strawberry.field(description=f"Of all callers. {OF_OTHERS}")
    blobs: int = strawberry.field(description="Originals.")


@strawberry.type(description="The proof of an erasure, or why there was none.")
class DeleteDocumentPayload(Payload):
    deleted_id: strawberry.ID | None = None
    corpus_version: int | None = strawberry.field(default=None, description="The first version without the document.")
    erased: ErasureCounts | None = None
    certificate: DeletionCertificate | None = None
    unfinished: list[str] = strawberry.field(
        default_factory=list, description="Stores that did not answer; a job empties them as soon as they do."
    )


@strawberry.type(description="The document with its new readers, or why they are the old ones.")
class SetDocumentAccessPayload(Payload):
    document: Document | None = None


@strawberry.type(description="The document with its new writers, or why they are the old ones.")
class SetDocumentWritersPayload(Payload):
    document: Document | None = None


@strawberry.type(description="The document with its new owner, or why it has the old one.")
class TransferOwnershipPayload(Payload):
    document: Document | None = None


@strawberry.type(description="The job that ingests a document again.")
class ReingestPayload(Payload):
    job_id: strawberry.ID | None = None
    document: Document | None = None
    new: bool = strawberry.field(default=False, description="False when such a job was waiting or running already.")


@strawberry.type
class DocumentMutation:
    @mutation(
        Action.SET_DOCUMENT_ACCESS,
        SetDocumentAccessPayload,
        right=DocumentRight.OWN,
        document="id",
        description="Say who may read a document, from the next question on: exactly these users, keys and groups, or "
        "without any the whole workspace. Text of older versions stays with those who could read it, unless "
        "`allVersions` opens it too. Takes the owner of the document with the role member, or the role admin.",
    )
    async def set_document_access(
        self,
        info: Info,
        id: strawberry.ID,
        readable_by: ReadersInput | None = None,
        all_versions: bool = False,
    ) -> SetDocumentAccessPayload:
        """A caller who is no admin stays among the readers."""
        context = info.context
        node = decode(id, NodeKind.DOCUMENT)
        document = await context.parts.document_access.change(
            context.principal, context.ref(node), node.key, read_readers(readable_by), all_versions=all_versions
        )
        return SetDocumentAccessPayload(document=show_document(document))

    @mutation(
        Action.SET_DOCUMENT_ACCESS,
        SetDocumentWritersPayload,
        right=DocumentRight.OWN,
        document="id",
        description="Say who may replace a document's content beside its owner and admins: exactly these, each "
        "`user:NAME`, `key:NAME` or `group:NAME`. Takes the owner of the document with the role member, or the role "
        "admin.",
    )
    async def set_document_writers(
        self, info: Info, id: strawberry.ID, writers: list[str]
    ) -> SetDocumentWritersPayload:
        """Without any, owner and admins only."""
        context = info.context
        node = decode(id, NodeKind.DOCUMENT)
        document = await context.parts.document_access.set_writers(
            context.principal, context.ref(node), node.key, parse_writers(writers)
        )
        return SetDocumentWritersPayload(document=show_document(document))

    @mutation(
        Action.SET_DOCUMENT_ACCESS,
        TransferOwnershipPayload,
        right=DocumentRight.OWN,
        document="id",
        description="Hand a document over to `user:NAME` or `key:NAME`, who reads it from then on. Takes the owner of "
        "the document with the role member, or the role admin.",
    )
    async def transfer_ownership(self, info: Info, id: strawberry.ID, to: str) -> TransferOwnershipPayload:
        """The former owner stays a reader if he was one."""
        context = info.context
        node = decode(id, NodeKind.DOCUMENT)
        document = await context.parts.document_access.transfer(context.principal, context.ref(node), node.key, to)
        return TransferOwnershipPayload(document=show_document(document))

    @mutation(
        Action.DELETE_DOCUMENT,
        DeleteDocumentPayload,
        right=DocumentRight.OWN,
        document="id",
        description="Erase a document from every store. Takes the owner of the document with the role member, or the "
        "role admin.",
    )
    async def delete_document(self, info: Info, id: strawberry.ID) -> DeleteDocumentPayload:
        """Erases every version; the counts name the stores."""
        context = info.context
        node = decode(id, NodeKind.DOCUMENT)
        deletion = await context.parts.delete.run(context.ref(node), node.key, context.principal.subject_id)
        shown = await show_deletion(context.parts.database, context.ref(node), context.principal, deletion)
        return _show_deletion(id, shown, has_others=may_manage_access(context.principal))

    @mutation(
        Action.REINGEST_DOCUMENT,
        ReingestPayload,
        Permanent,
        right=DocumentRight.WRITE,
        document="document_id",
        description="Ingest a document again from its kept original. Takes the owner or a writer of the document with "
        "the role member, or the role admin.",
    )
    async def reingest(self, info: Info, document_id: strawberry.ID, force: bool = False) -> ReingestPayload:
        """Retries a FAILED document. A READY one is parsed again when the parser or the chunk profile changed. With
        `force` every chunk is made and embedded anew.
        """
        context = info.context
        node = decode(document_id, NodeKind.DOCUMENT, path=("documentId",))
        queued = await context.parts.reingest.run(
            context.ref(node), node.key, context.principal.subject_id, force=force
        )
        return ReingestPayload(
            job_id=strawberry.ID(encode(NodeKind.JOB, node.workspace_id, queued.job.job_id)),
            document=show_document(queued.document),
            new=queued.is_new,
        )


async def find_document(context: RequestContext, node: NodeId) -> Document | None:
    """A document that the caller may know of; else None."""
    found = await context.documents.load((node.workspace_id, node.key))
    return show_document(found) if found else None


def show_document(document: documents.Document) -> Document:
    """A document, with its ids as clients know them."""
    workspace_id = document.workspace.workspace_id
    public_id = encode(NodeKind.DOCUMENT, workspace_id, document.document_id)
    cost, unread = read_cost(document.provenance), read_unread_pages(document.provenance)
    left_out = read_left_out(document.provenance)
    recognised = read_recognised_pages(document.provenance.get(RECOGNISED_PROVENANCE))
    return to_schema(
        Document,
        document,
        id=public_id,
        workspace_id=encode_workspace(workspace_id),
        writers=list(document.writers),
        withdrawn=document.is_withdrawn,
        missing=document.is_missing,
        error=document.fault,
        unread_pages=None if unread is None else to_schema(UnreadPages, unread, numbers=list(unread.numbers)),
        recognised_pages=None
        if recognised is None
        else to_schema(RecognisedPages, recognised, count=recognised.count, numbers=list(recognised.numbers)),
        left_out=None if left_out is None else show_left_out(left_out),
        embedding=None if cost is None else to_schema(DocumentEmbedding, cost),
        provenance=[
            Property(name=name, value=_kind_of_source(value) if name == SOURCE_PROVENANCE else value)
            for name, value in sorted(document.provenance.items())
            if name not in PROVENANCE_KEYS and name not in (UNREAD_PROVENANCE, LEFT_OUT_PROVENANCE)
        ],
        download_path=f"/v1/documents/{public_id}/source",
        metadata=show_metadata(document.metadata),
        source=document,
    )


def _kind_of_source(source: str) -> str:
    """A source without what follows its kind: the path of a directory is the server's own affair."""
    return source.partition(":")[0]


def _show_deletion(public_id: str, deletion: Deletion, *, has_others: bool) -> DeleteDocumentPayload:
    """The counts of an erasure, with those that tell of others if `has_others`. Errors: `NotFound` when there was
    nothing to erase.
    """
    erasure = deletion.erasure
    if erasure is None:
        raise no_such_document()
    erased = to_schema(ErasureCounts, erasure, deletion, cache_entries=erasure.cache_entries + deletion.cache_entries)
    if not has_others:
        erased.entities = erased.runs_redacted = erased.cache_entries = None
    return DeleteDocumentPayload(
        deleted_id=strawberry.ID(public_id),
        corpus_version=erasure.version,
        erased=erased,
        certificate=None if deletion.certificate is None else show_certificate(deletion.certificate),
        unfinished=list(deletion.unfinished),
    )


def read_readers(given: ReadersInput | None) -> tuple[str, ...]:
    """The principals that an argument names. Errors: `InvalidInput`."""
    return PUBLIC_PRINCIPALS if given is None else validate_principals(given.users, given.groups, given.keys)


def show_readers(principals: Sequence[str]) -> Readers | None:
    """Principals as the schema shows them; None for the whole workspace."""
    if not principals:
        return None
    return Readers(users=users_of(principals), keys=keys_of(principals), groups=groups_of(principals))
