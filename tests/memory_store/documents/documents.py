"""`documents.ports.DocumentStore` in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from tests.memory_store.documents.metadata import merge_json
from tests.memory_store.documents.reader import passes
from tests.memory_store.session.pages import page_by_name
from tests.memory_store.session.state import StoredRevision
from tests.memory_store.session.store import Working

from agentic_rag.documents.document import (
    ANY_DOCUMENT,
    STATUS_TRANSITIONS,
    ChunkDraft,
    Document,
    DocumentFault,
    DocumentFilter,
    DocumentStatus,
    Revision,
    StagedChunk,
)
from agentic_rag.documents.metadata import DocumentMetadata, MetadataChange, change_json
from agentic_rag.documents.ports import DocumentLabel, NewDocument
from agentic_rag.documents.revision_diff import VisibleChunk
from agentic_rag.kernel.errors import NotFound, Retryable
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.tenancy.access import ListScope
from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID, WorkspaceRef


class MemoryDocumentStore:
    """Reads and writes inside a transaction of one organisation."""

    def __init__(self, working: Working) -> None:
        self._working = working

    async def register(self, workspace: WorkspaceRef, new: NewDocument) -> Document:
        """Insert as PENDING, or set an existing document back to PENDING. Errors: `NotFound` (workspace)."""
        state = self._working.write(workspace)
        for other in state.documents.values():
            if other.source_path == new.source_path and other.document_id != new.document_id:
                raise Retryable(f"Another document has the source path {new.source_path!r}.", code="DATABASE_CONFLICT")
        now = self._working.now()
        known = state.documents.get(new.document_id)
        document = Document(
            workspace=workspace,
            document_id=new.document_id,
            source_path=new.source_path,
            title=new.title,
            url=new.url,
            file_name=new.file_name,
            media_type=new.media_type,
            size=new.size,
            uploaded_by=known.uploaded_by if known else new.uploaded_by,
            access_id=known.access_id if known else new.access_id or DEFAULT_ACCESS_ID,
            status=DocumentStatus.PENDING,
            fault=None,
            revision_id=known.revision_id if known else None,
            content_hash=known.content_hash if known else None,
            chunk_count=known.chunk_count if known else 0,
            chunks_done=known.chunks_done if known else 0,
            created_at=known.created_at if known else now,
            updated_at=now,
            provenance=dict(new.provenance),
            writers=known.writers if known else (),
            is_withdrawn=known is not None and known.is_withdrawn,
            is_missing=known is not None and known.is_missing,
            metadata=known.metadata if known else DocumentMetadata(),
        )
        title = state.given_metadata.get(new.document_id, {}).get("title")
        document = document if title is None else replace(document, title=title)
        state.documents[new.document_id] = document
        lifted = state.tombstones.pop(new.document_id, None)
        if lifted is not None:
            state.past_erasures[new.document_id] = (*state.past_erasures.get(new.document_id, ()), lifted)
        return document

    async def register_many(self, workspace: WorkspaceRef, new: Sequence[NewDocument]) -> list[Document]:
        """`register` for each."""
        return [await self.register(workspace, one) for one in new]

    async def get(self, workspace: WorkspaceRef, document_id: UUID, scope: ListScope | None = None) -> Document | None:
        """The document, or None."""
        found = self._documents(workspace).get(document_id)
        return found if found is not None and self._lists(workspace, found, scope) else None

    async def get_for_update(self, workspace: WorkspaceRef, document_id: UUID) -> Document | None:
        """The document, or None; there is one writer at a time."""
        return await self.get(workspace, document_id)

    async def get_many(self, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> Mapping[UUID, Document]:
        """Those of the documents that exist."""
        documents = self._documents(workspace)
        return {document_id: documents[document_id] for document_id in document_ids if document_id in documents}

    async def page(
        self,
        workspace: WorkspaceRef,
        request: PageRequest,
        statuses: Sequence[DocumentStatus] = (),
        scope: ListScope | None = None,
        wanted: DocumentFilter = ANY_DOCUMENT,
    ) -> Page[Document]:
        """Documents by source path (code point order); all statuses when none is given."""
        rows = self._listed(workspace, statuses, scope, wanted)
        return page_by_name(rows, lambda document: document.source_path, request)

    async def count_listed(
        self,
        workspace: WorkspaceRef,
        statuses: Sequence[DocumentStatus] = (),
        scope: ListScope | None = None,
        wanted: DocumentFilter = ANY_DOCUMENT,
    ) -> int:
        """How many documents all pages together have."""
        return len(self._listed(workspace, statuses, scope, wanted))

    def _listed(
        self,
        workspace: WorkspaceRef,
        statuses: Sequence[DocumentStatus],
        scope: ListScope | None,
        wanted: DocumentFilter,
    ) -> list[Document]:
        return [
            document
            for document in self._documents(workspace).values()
            if (not statuses or document.status in statuses)
            and self._lists(workspace, document, scope)
            and passes(document, wanted)
        ]

    async def changed(
        self, workspace: WorkspaceRef, seconds: float, most: int, scope: ListScope | None = None
    ) -> Sequence[Document]:
        """Documents that changed within the last seconds, newest change first."""
        since = self._working.now() - timedelta(seconds=seconds)
        rows = [
            document
            for document in self._documents(workspace).values()
            if document.updated_at > since and self._lists(workspace, document, scope)
        ]
        return sorted(rows, key=lambda document: document.updated_at, reverse=True)[:most]

    async def count(self, workspace: WorkspaceRef, scope: ListScope | None = None) -> Mapping[DocumentStatus, int]:
        """Documents by status; every status is present."""
        counted = dict.fromkeys(DocumentStatus, 0)
        for document in self._documents(workspace).values():
            counted[document.status] += self._lists(workspace, document, scope)
        return counted

    def _lists(self, workspace: WorkspaceRef, document: Document, scope: ListScope | None) -> bool:
        state = self._working.read(workspace)
        return state is not None and state.lists(document, scope)

    async def paths(self, workspace: WorkspaceRef, source: str, only: Sequence[str] = ()) -> Mapping[str, Document]:
        """The documents that a source brought, by source path."""
        return {
            document.source_path: document
            for document in self._documents(workspace).values()
            if document.provenance.get("source") == source and (not only or document.source_path in only)
        }

    async def describe(self, workspace: WorkspaceRef, document_ids: Sequence[UUID], change: MetadataChange) -> int:
        """Add what somebody says of these documents; the number of those that change by it."""
        known = self._documents(workspace)
        state = self._working.write(workspace)
        changed: list[UUID] = []
        for document_id in document_ids:
            given = state.given_metadata.get(document_id, {})
            told = merge_json(given, change_json(change))
            if document_id in known and told != merge_json(given, {}):
                state.given_metadata[document_id] = told
                document = state.described(document_id)
                title = told.get("title") or document.title
                state.documents[document_id] = replace(document, title=title, updated_at=self._working.now())
                changed.append(document_id)
        if any(known[document_id].revision_id is not None for document_id in changed):
            state.next_version(touched=set[int]().union(*(state.sets_of(one) for one in changed)))
        return len(changed)

    async def id_key(self, workspace: WorkspaceRef) -> bytes:
        """No secret: tests know the ids."""
        return b""

    async def occupants(
        self, workspace: WorkspaceRef, paths: Sequence[str], document_ids: Sequence[UUID]
    ) -> Mapping[UUID, str]:
        """The source paths of documents at these paths or of these ids, by id."""
        return {
            one.document_id: one.source_path
            for one in self._documents(workspace).values()
            if one.source_path in paths or one.document_id in document_ids
        }

    async def relabel(self, workspace: WorkspaceRef, document_id: UUID, label: DocumentLabel) -> bool:
        """Give a document another path, name and address; False when it is gone."""
        document = self._documents(workspace).get(document_id)
        if document is None:
            return False
        for other in self._documents(workspace).values():
            if other.source_path == label.source_path and other.document_id != document_id:
                raise Retryable(
                    f"Another document has the source path {label.source_path!r}.", code="DATABASE_CONFLICT"
                )
        state = self._working.write(workspace)
        if document.revision_id is not None and document.source_path != label.source_path:
            state.next_version(touched=state.sets_of(document_id))
        state.documents[document_id] = replace(
            document,
            source_path=label.source_path,
            file_name=label.file_name,
            url=label.url,
            provenance={**document.provenance, **label.provenance},
            updated_at=self._working.now(),
        )
        return True

    async def set_status(
        self,
        workspace: WorkspaceRef,
        document_id: UUID,
        status: DocumentStatus,
        fault: DocumentFault | None = None,
    ) -> bool:
        """Move a document; False when it is gone or the move is illegal (STATUS_TRANSITIONS)."""
        document = self._documents(workspace).get(document_id)
        if document is None or status not in STATUS_TRANSITIONS[document.status]:
            return False
        moved = replace(document, status=status, fault=fault, updated_at=self._working.now())
        self._working.write(workspace).documents[document_id] = moved
        return True

    async def set_progress(
        self, workspace: WorkspaceRef, document_id: UUID, chunks_done: int, chunk_count: int
    ) -> None:
        """Show how far ingestion is."""
        document = self._documents(workspace).get(document_id)
        if document is not None:
            self._working.write(workspace).documents[document_id] = replace(
                document, chunks_done=chunks_done, chunk_count=chunk_count, updated_at=self._working.now()
            )

    async def visible_chunks(self, workspace: WorkspaceRef, document_id: UUID) -> list[VisibleChunk]:
        """The chunks of a document that readers of the newest version see, by index."""
        state = self._working.read(workspace)
        if state is None:
            return []
        found: list[VisibleChunk] = []
        for ordinal, passage in state.passages_of(document_id):
            placement = passage.placement_at(state.workspace.corpus_version)
            if placement is not None:
                found.append(_visible(ordinal, placement.draft))
        return sorted(found, key=lambda chunk: chunk.index)

    async def stage(
        self, workspace: WorkspaceRef, document_id: UUID, revision: Revision, drafts: Sequence[ChunkDraft]
    ) -> None:
        """Write an unpublished revision and its chunks; again for the same revision changes nothing."""
        state = self._working.write(workspace)
        if document_id not in state.documents:
            raise NotFound(f"There is no document {document_id}.")
        state.revisions.setdefault(revision.revision_id, StoredRevision(revision, self._working.now()))
        if drafts and revision.revision_id not in state.staged:
            state.staged[revision.revision_id] = tuple(
                StagedChunk(draft.index, draft.chunk_id, None)
                for draft in sorted(drafts, key=lambda draft: draft.index)
            )

    async def load_staging(self, workspace: WorkspaceRef, revision_id: UUID) -> list[StagedChunk] | None:
        """The staged chunks by index; None when nothing of the revision is staged."""
        state = self._working.read(workspace)
        chunks = None if state is None else state.staged.get(revision_id)
        return None if chunks is None else list(chunks)

    async def stage_vectors(
        self, workspace: WorkspaceRef, revision_id: UUID, space_id: int, vectors: Mapping[int, bytes]
    ) -> None:
        """Attach vectors (by chunk index) to staged chunks."""
        state = self._working.write(workspace)
        if revision_id in state.staged:
            state.staged[revision_id] = tuple(
                replace(chunk, vector=vectors[chunk.index], space_id=space_id) if chunk.index in vectors else chunk
                for chunk in state.staged[revision_id]
            )

    async def discard_staging(self, workspace: WorkspaceRef, document_id: UUID, keep: UUID | None = None) -> int:
        """Drop staged rows of a document, but not those of revision `keep`; how many chunks went."""
        if self._working.read(workspace) is None:
            return 0
        state = self._working.write(workspace)
        unwanted = [
            stored
            for revision_id, stored in state.revisions.items()
            if stored.revision.document_id == document_id and revision_id != keep
        ]
        dropped = 0
        for stored in unwanted:
            dropped += len(state.staged.pop(stored.revision.revision_id, ()))
            if stored.published_from is None:
                del state.revisions[stored.revision.revision_id]
        return dropped

    def _documents(self, workspace: WorkspaceRef) -> Mapping[UUID, Document]:
        state = self._working.read(workspace)
        return {} if state is None else state.documents


def _visible(ordinal: int, draft: ChunkDraft) -> VisibleChunk:
    return VisibleChunk(
        ordinal=ordinal,
        chunk_id=draft.chunk_id,
        index=draft.index,
        start=draft.start,
        end=draft.end,
        page=draft.page,
        line_start=draft.line_start,
        line_end=draft.line_end,
        heading_path=draft.heading_path,
    )
