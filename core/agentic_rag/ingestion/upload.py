"""Upload one document: its bytes stream to the blob store, then one transaction registers it."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from agentic_rag.documents.document import Document
from agentic_rag.documents.document_access import (
    DocumentRight,
    keep_withdrawn,
    may_know,
    narrower_sets,
    readers_changed,
    require_right,
    require_writer,
)
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.documents.metadata import NO_CHANGE, MetadataChange, change_json, require_room
from agentic_rag.documents.originals import OriginalKeys, delete_unless_in_use
from agentic_rag.documents.ports import BlobStore, Parser, StoredBlob
from agentic_rag.documents.upload_arguments import (
    HEAD_BYTES,
    SniffMediaType,
    validate_idempotency_key,
    validate_source_path,
    validate_title,
)
from agentic_rag.ingestion.missing import show_again
from agentic_rag.ingestion.storage import require_storage
from agentic_rag.ingestion.submit import Submission, describe, ingest_job, is_published, submit
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import (
    ContentRefused,
    ContentUnsupported,
    DependencyUnavailable,
    Forbidden,
    IdempotencyConflict,
    InvalidInput,
    NotFound,
    ParseFailed,
    UploadTooLarge,
    no_such_workspace,
)
from agentic_rag.kernel.formatting import format_bytes
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.tenancy.access import include_setter
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.change_readers import change_readers
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit
from agentic_rag.workspaces.workspace import Workspace, effective_settings

UPLOAD_SOURCE = "upload"
"""The `source` in the provenance of an uploaded document."""


@dataclass(frozen=True, slots=True)
class UploadOptions:
    """What a caller may say about a file. `source_path` defaults to the file's name; the same path in the same
    workspace is the same document. Errors of the checks: `InvalidInput`.
    """

    source_path: str | None = None
    title: str | None = None
    idempotency_key: str | None = None
    readable_by: tuple[str, ...] | None = None
    """Principals, none for the whole workspace; None: the readers of a document that is there, the whole workspace for
    a new one.
    """
    metadata: MetadataChange = NO_CHANGE
    """What is said of the document; in the stored form."""


@dataclass(frozen=True, slots=True)
class ReceivedUpload:
    """Bytes in the blob store that nothing names yet: to be submitted or discarded."""

    workspace: Workspace
    key: str
    file_name: str
    media_type: str
    stored: StoredBlob


@dataclass(frozen=True, slots=True)
class Upload:
    """How an upload was answered. `job_id` is None when these very bytes are published already."""

    workspace: WorkspaceRef
    document_id: UUID
    job_id: UUID | None
    source_path: str
    size: int
    content_hash: bytes
    replayed: bool = field(default=False, compare=False)
    """Whether the idempotency key had been answered before; all else is what the first was told."""


@dataclass(frozen=True, slots=True)
class UploadDocument:
    """Safe to be called by many at once with one idempotency key: one document comes of it."""

    database: Database
    blobs: BlobStore
    keys: OriginalKeys
    sniff: SniffMediaType
    parser: Parser
    telemetry: Telemetry
    embedders: EmbedderSource
    chunk_profile: str
    max_bytes: int
    stored_mb: int = 0
    """What an organisation without a limit of its own may store; 0: no limit."""

    async def run(
        self,
        workspace: WorkspaceRef,
        file_name: str,
        pieces: AsyncIterator[bytes],
        options: UploadOptions,
        uploaded_by: Principal,
    ) -> Upload:
        """Receive a file and submit it. Errors: those of `receive` and `submit`; nothing is left of a failed one."""
        return await self.submit(await self.receive(workspace, file_name, pieces), options, uploaded_by)

    async def receive(
        self,
        workspace: WorkspaceRef,
        file_name: str,
        pieces: AsyncIterator[bytes],
        accepted: Collection[str] | None = None,
    ) -> ReceivedUpload:
        """Stream a file to the blob store; `accepted` are the media types that are taken (None: all that can be read).

        Errors: `NotFound` code WORKSPACE_NOT_FOUND; `InvalidInput` code STORAGE_QUOTA_EXCEEDED;
        `MissingProviderKey` and `BudgetExceeded` before
        anything is read; `UploadTooLarge`
        as soon as the limit is passed; `ContentRefused`
        codes UPLOAD_EMPTY, CONTENT_MISMATCH, CONTENT_UNSUPPORTED, CONTENT_ENCRYPTED from the first bytes, before any
        is stored; `DependencyUnavailable`; whatever `pieces` raises.
        """
        async with self.database.transaction(workspace.org_id) as transaction:
            stored = await transaction.workspaces.get(workspace.workspace_id)
            if stored is None:
                raise no_such_workspace()
            await require_storage(transaction, workspace.org_id, self.stored_mb)
        await self.embedders.admit(workspace)
        limited = limit_size(pieces, self.max_bytes)
        head = await _head(limited)
        media_type = sniffed(self.sniff, head, file_name)
        if accepted is not None and media_type not in accepted:
            taken = ", ".join(sorted(accepted))
            raise ContentUnsupported(f"The file is {media_type}; here {taken} are taken.", path=("file",))
        key = self.keys.new(stored, file_name)
        blob = await self.blobs.put_stream(key, prepend(head, limited))
        return ReceivedUpload(stored, key, file_name, media_type, blob)

    async def submit(self, received: ReceivedUpload, options: UploadOptions, uploaded_by: Principal) -> Upload:
        """Register what was received and enqueue its ingestion, unless it is there already. A document that is there
        keeps its owner.

        Errors: `Forbidden` (a document that the caller may not replace has the path, or readers are named for one that
        is another's), `InvalidInput`, `IdempotencyConflict` (the key was used for another file or name),
        `NotFound` code DOCUMENT_ERASED (what the key brought was deleted since), `DependencyUnavailable`. After one the
        bytes are gone.
        """
        try:
            path = validate_source_path(received.file_name if options.source_path is None else options.source_path)
            title = validate_title(options.title)
            given = validate_idempotency_key(options.idempotency_key)
            key = None if given is None else uploaded_by.own_key(given)
            async with self.database.transaction(received.workspace.ref.org_id) as transaction:
                ids = await resolve_ids(transaction.documents, received.workspace.ref, [path])
                submission = self._submission(received, ids[path], path, title, uploaded_by.subject_id)
                submission = replace(submission, metadata=options.metadata)
                submission = await self._admit(transaction, submission, uploaded_by, options.readable_by)
                upload, blob_key = await self._register(transaction, submission, received.workspace, key)
        except BaseException:
            await self.discard(received)
            raise
        if blob_key != received.key:
            with contextlib.suppress(DependencyUnavailable):  # Then it stays, named by nothing.
                await self.blobs.delete(received.key)
        self._tell(upload)
        return upload

    async def discard(self, received: ReceivedUpload) -> None:
        """Remove the bytes of an upload that comes to nothing."""
        await delete_unless_in_use(self.database, self.blobs, received.workspace.ref, received.key)

    def _submission(
        self, received: ReceivedUpload, document_id: UUID, path: str, title: str | None, uploaded_by: str
    ) -> Submission:
        name = received.file_name
        return Submission(
            workspace=received.workspace.ref,
            document_id=document_id,
            source_path=path,
            key=received.key,
            content_hash=received.stored.sha256,
            size=received.stored.size,
            title=title or name.rpartition(".")[0] or name,
            file_name=name,
            media_type=received.media_type,
            uploaded_by=uploaded_by,
            provenance={"source": UPLOAD_SOURCE},
        )

    async def _admit(
        self, transaction: Transaction, submission: Submission, uploader: Principal, named: tuple[str, ...] | None
    ) -> Submission:
        """The submission with its readers; those of a document that is there change at once. Errors: `Forbidden`."""
        ref, document_id = submission.workspace, submission.document_id
        await require_writer(transaction, uploader, ref)
        access_id: int | None = None
        older: Mapping[int, int] = {}
        known = await transaction.documents.get(ref, document_id)
        if named is not None:
            kept = keep_withdrawn(known, include_setter(named, uploader))
            access_id = await transaction.access.intern(ref, kept)
            older = await narrower_sets(transaction, ref, document_id, kept)
        if known is not None:
            await show_again(transaction, known)
        document = await transaction.documents.get_for_update(ref, document_id)
        if known is not None and document is not None and known.is_withdrawn is not document.is_withdrawn:
            raise readers_changed()
        if document is not None:
            await require_replaceable(transaction, uploader, document)
            require_room(document.metadata, submission.metadata)
            if access_id is not None and access_id != document.access_id:
                await require_right(transaction, uploader, document, DocumentRight.OWN)
                await change_readers(
                    transaction,
                    self.telemetry,
                    ref,
                    document_id,
                    uploader.subject_id,
                    held=document.access_id,
                    given=access_id,
                    older=older,
                )
        return replace(submission, access_id=access_id)

    async def _register(
        self, transaction: Transaction, submission: Submission, workspace: Workspace, key: str | None
    ) -> tuple[Upload, str | None]:
        """The answer, and the blob key that holds the content (None: another than the submission's)."""
        ref, document_id = submission.workspace, submission.document_id
        if key is not None:
            taken = await transaction.uploads.claim(ref, key, _input_hash(submission), document_id)
            if taken is not None:
                if taken.input_hash != _input_hash(submission):
                    raise IdempotencyConflict(
                        "This idempotency key was used for another file, path or title. Use a fresh key."
                    )
                if await transaction.documents.get(ref, taken.document_id) is None:
                    raise NotFound("The document of this idempotency key has been deleted.", code="DOCUMENT_ERASED")
                return _answer(submission, taken.job_id, replayed=True), None
        # Locked, before any job: newer bytes or an erasure may be under way, and what it says would be out of date.
        document = await transaction.documents.get_for_update(ref, document_id)
        carrier = self.telemetry.carrier()
        profile = effective_settings(workspace).chunk_profile or self.chunk_profile
        blob_key: str | None = None
        job_id: UUID | None = None
        if document is not None and submission.is_underway(document):
            job, _ = await transaction.jobs.enqueue(ingest_job(ref, document_id, submission.content_hash, carrier))
            job_id = job.job_id
            await describe(transaction, submission)
        elif document is None or not is_published(document, submission.content_hash, self.parser, profile):
            submitted = await submit(transaction, submission, carrier)
            job_id, blob_key = submitted.job.job_id, submitted.key
            await require_storage(transaction, ref.org_id, self.stored_mb)
            await audit(
                transaction,
                self.telemetry,
                AuditAction.UPLOAD_DOCUMENT,
                ref,
                document_id,
                submission.uploaded_by,
                bytes=submission.size,
                new=document is None,
            )
        else:
            await describe(transaction, submission)
        if key is not None:
            await transaction.uploads.settle(ref, key, job_id)
        return _answer(submission, job_id), blob_key

    def _tell(self, upload: Upload) -> None:
        self.telemetry.event(
            "rag_document_uploaded",
            document_id=str(upload.document_id),
            size=upload.size,
            unchanged=upload.job_id is None,
            replayed=upload.replayed,
        )


def _answer(submission: Submission, job_id: UUID | None, *, replayed: bool = False) -> Upload:
    return Upload(
        workspace=submission.workspace,
        document_id=submission.document_id,
        job_id=job_id,
        source_path=submission.source_path,
        size=submission.size,
        content_hash=submission.content_hash,
        replayed=replayed,
    )


def _input_hash(submission: Submission) -> bytes:
    """SHA-256 of all that a caller said: bytes, name, path and title, each with its length, and the readers."""
    digest = hashlib.sha256(submission.content_hash)
    for text in (submission.file_name, submission.source_path, submission.title):
        encoded = text.encode()
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    if submission.access_id is not None:
        digest.update(submission.access_id.to_bytes(4, "big"))
    if not submission.metadata.is_empty:
        digest.update(json.dumps(change_json(submission.metadata), sort_keys=True).encode())
    return digest.digest()


async def require_replaceable(transaction: Transaction, principal: Principal, document: Document) -> None:
    """Errors: `Forbidden` for a caller who may not give the document another file."""
    if not await may_know(transaction, principal, document):
        raise Forbidden("This path belongs to a document that is not yours to replace. Choose another one.")
    await require_right(transaction, principal, document, DocumentRight.WRITE)


def sniffed(sniff: SniffMediaType, head: bytes, file_name: str) -> str:
    """The media type of a file, from its first bytes. Errors: `ContentRefused`, with the codes of uploads."""
    try:
        return sniff(head, file_name)
    except ParseFailed as error:
        raise _as_upload_error(error) from error


async def _head(pieces: AsyncIterator[bytes]) -> bytes:
    """The first pieces, at least `HEAD_BYTES` of them if there are so many."""
    head = b""
    while len(head) < HEAD_BYTES:
        piece = await anext(pieces, None)
        if piece is None:
            break
        head += piece
    return head


async def limit_size(pieces: AsyncIterator[bytes], most: int) -> AsyncIterator[bytes]:
    """The pieces of a file. Errors: `UploadTooLarge` as soon as there are more bytes than `most`."""
    size = 0
    async for piece in pieces:
        size += len(piece)
        if size > most:
            raise UploadTooLarge(f"A file may have {format_bytes(most)} at most: split it.")
        yield piece


async def prepend(head: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """`head`, then the pieces of `rest`."""
    yield head
    async for piece in rest:
        yield piece


def _as_upload_error(error: ParseFailed) -> InvalidInput:
    message = f"{error.message[:1].upper()}{error.message[1:]}."
    match error.code:
        case "PARSE_TYPE_MISMATCH":
            return ContentUnsupported(message, code="CONTENT_MISMATCH", path=("file",))
        case "PARSE_EMPTY":
            return ContentRefused(message, code="UPLOAD_EMPTY", path=("file",))
        case "PARSE_ENCRYPTED":
            return ContentRefused(message, code="CONTENT_ENCRYPTED", path=("file",))
        case _:
            return ContentUnsupported(message, code="CONTENT_UNSUPPORTED", path=("file",))
