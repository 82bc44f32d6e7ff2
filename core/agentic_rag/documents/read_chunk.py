"""One chunk by its public id, also one that readers of the newest version no longer see."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from agentic_rag.documents.document import Chunk, ChunkVersion, nearest_version
from agentic_rag.kernel.database import CorpusSnapshot, Database
from agentic_rag.kernel.errors import InvalidInput, NotFound, no_such_document
from agentic_rag.kernel.pagination import Page, PageRequest, cursor_after, cursor_error, decode_cursor
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.access import ReadIdentity, read_identity
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit_read


@dataclass(frozen=True, slots=True)
class FoundChunk:
    """A chunk that the caller may read."""

    version: ChunkVersion
    chunk: Chunk | None
    """As readers of its last version saw it; None where that is past its retention."""
    corpus_version: int
    """The newest one, as the caller is shown it."""
    retired_at: int | None
    """The first corpus version without the chunk, as the caller is shown it; None for one that readers see."""


def visible_chunk(chunk: Chunk, version: int, shown: int) -> FoundChunk:
    """A chunk that readers of the newest version see. `shown`: that version, as the caller is shown it."""
    place = ChunkVersion(chunk.chunk_id, chunk.ordinal, chunk.document_id, chunk.document_title, version, None)
    return FoundChunk(place, chunk, shown, None)


@dataclass(frozen=True, slots=True)
class ReadChunk:
    """The use case behind `chunk(id)` and `GET /v1/chunks/{id}`."""

    database: Database
    telemetry: Telemetry

    async def run(self, principal: Principal, workspace: WorkspaceRef, chunk_id: UUID) -> FoundChunk | None:
        """The chunk; None for one that is not there, and for one that the caller may not read. Who read it is in the
        audit log. Errors: `DependencyUnavailable`.
        """
        readers = read_identity(principal)
        try:
            async with self.database.snapshot(workspace, readers=readers) as snapshot:
                access_ids, newest = snapshot.access.access_ids, snapshot.version
                places = await snapshot.documents.placements([chunk_id], access_ids)
                place = nearest_version(places, chunk_id, newest)
                if place is None:
                    return None
                chunk = await _at(snapshot, place) if place.visible_to is None else None
                shown = await snapshot.shown(newest)
                retired_at = None if place.visible_to is None else await snapshot.shown(place.visible_to)
        except NotFound:
            return None
        if place.visible_to is not None:
            chunk = await self._last_seen(workspace, readers, place, place.visible_to - 1)
        if chunk is not None:
            act, key, span = AuditAction.READ_TEXT, place.document_id, {"start": chunk.start, "end": chunk.end}
            await audit_read(self.database, self.telemetry, act, workspace, key, principal.subject_id, **span)
        return FoundChunk(place, chunk, shown, retired_at)

    async def of_document(
        self, principal: Principal, workspace: WorkspaceRef, document_id: UUID, request: PageRequest
    ) -> Page[FoundChunk]:
        """The chunks of a document that the caller may read, in its order. Who read them is in the audit log. Errors:
        `NotFound` code DOCUMENT_NOT_FOUND, `InvalidInput` code CURSOR_INVALID, `DependencyUnavailable`.
        """
        after = _index_after(request.after)
        async with self.database.transaction(workspace.org_id) as transaction:
            visible = await transaction.documents.visible_chunks(workspace, document_id)
        wanted = [one.ordinal for one in visible if one.index > after]
        try:
            async with self.database.snapshot(workspace, readers=read_identity(principal)) as snapshot:
                version = snapshot.version
                shown = await snapshot.shown(version)
                chunks = await snapshot.documents.chunks(wanted[: request.first], snapshot.access.access_ids)
        except NotFound as error:
            raise no_such_document() from error
        if chunks:
            act, span = AuditAction.READ_TEXT, {"start": chunks[0].start, "end": chunks[-1].end}
            await audit_read(self.database, self.telemetry, act, workspace, document_id, principal.subject_id, **span)
        found = tuple(visible_chunk(one, version, shown) for one in chunks)
        return Page(found, tuple(cursor_after(str(one.index)) for one in chunks), len(wanted) > request.first)

    async def _last_seen(
        self, workspace: WorkspaceRef, readers: ReadIdentity, place: ChunkVersion, version: int
    ) -> Chunk | None:
        try:
            async with self.database.snapshot(workspace, version, readers=readers) as snapshot:
                return await _at(snapshot, place)
        except InvalidInput:
            # The version is past its retention.
            return None


async def _at(snapshot: CorpusSnapshot, place: ChunkVersion) -> Chunk | None:
    chunks = await snapshot.documents.chunks([place.ordinal], snapshot.access.access_ids)
    return chunks[0] if chunks else None


def _index_after(cursor: str | None) -> int:
    """The index of the last chunk of a page; -1 before the first. Errors: `InvalidInput` code CURSOR_INVALID."""
    if cursor is None:
        return -1
    try:
        return int(decode_cursor(cursor))
    except ValueError as error:
        raise cursor_error() from error
