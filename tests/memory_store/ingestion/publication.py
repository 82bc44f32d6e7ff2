"""`ingestion.ports.Publisher` in memory: publish; erasure and compaction are in files of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.memory_store.erasure.erasure import erase
from tests.memory_store.ingestion.compaction import compact
from tests.memory_store.session.state import (
    Entity,
    EntityMention,
    PassageRow,
    Placement,
    StoredRevision,
    WorkspaceState,
)
from tests.memory_store.session.store import Working

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.documents.metadata import change_json
from agentic_rag.erasure.ports import Erasure
from agentic_rag.ingestion.ports import DocumentPublication, NewChunk, Published
from agentic_rag.jobs.job import JobState
from agentic_rag.kernel.errors import SpaceMismatch, SpaceSwitched
from agentic_rag.retrieval.candidates import ChunkEntities
from agentic_rag.retrieval.lexical.postings import SegmentRow, build_segment
from agentic_rag.tenancy.principals import WorkspaceRef

BYTES_PER_COMPONENT = 2
"""Of a half-precision vector."""


class MemoryPublisher:
    """Inside a transaction of one organisation. `cache` is emptied of a workspace by an erasure in it."""

    def __init__(self, working: Working, cache: MemoryAnswerCache | None) -> None:
        self._working = working
        self._cache = cache

    async def publish(
        self, workspace: WorkspaceRef, space_id: int, batch: Sequence[DocumentPublication]
    ) -> list[Published]:
        """Publish a batch as one new corpus version; chunks come into the access set where their document stands."""
        state = self._working.write(workspace)
        dimensions = _dimensions(state, space_id)
        refusals = {publication.document_id: _refusal(state, publication) for publication in batch}
        accepted = [publication for publication in batch if refusals[publication.document_id] is None]
        _check_vectors(accepted, dimensions)
        version = None
        if accepted:
            version = state.next_version(
                space_id, {state.documents[publication.document_id].access_id for publication in accepted}
            )
            _write_passages(state, space_id, version, accepted)
            for publication in accepted:
                _close(state, version, publication)
                _write_revision(state, version, publication, self._working.now())
                _set_ready(state, publication, self._working.now())
        return [
            Published(document_id, version if refusals[document_id] is None else None, refusals[document_id])
            for document_id in [publication.document_id for publication in batch]
        ]

    async def erase(
        self, workspace: WorkspaceRef, document_id: UUID, job_id: UUID | None = None, fence: int | None = None
    ) -> Erasure | None:
        """Remove every version of a document; None when there is no such document. Errors: `LeaseLost`."""
        erasure = erase(self._working, workspace, document_id, job_id, fence)
        if erasure is None or self._cache is None:
            return erasure
        return replace(erasure, cache_entries=self._cache.drop(workspace))

    async def compact(self, workspace: WorkspaceRef) -> int | None:
        """Drop what is past the workspace's history, then merge its small postings segments."""
        return compact(self._working, workspace)


def _dimensions(state: WorkspaceState, space_id: int) -> int:
    active = state.workspace.active_space
    registered = state.registered_space(space_id)
    if registered is None:
        raise SpaceMismatch(
            f"The vectors are of embedding space {space_id}, which the workspace does not know; it answers in space "
            f"{active}."
        )
    if active not in (None, space_id):
        raise SpaceSwitched(f"The workspace was switched away from embedding space {space_id}: embed again.")
    return registered.space.dimensions


def _refusal(state: WorkspaceState, publication: DocumentPublication) -> str | None:
    if publication.job_id is not None:
        job = state.jobs.get(publication.job_id)
        if job is None or job.job.state is not JobState.RUNNING or job.fence != publication.fence:
            return "LEASE_LOST"
    document = state.documents.get(publication.document_id)
    if document is None:
        return "ERASED"
    return None if document.revision_id == publication.expected else "STALE"


def _check_vectors(accepted: Sequence[DocumentPublication], dimensions: int) -> None:
    for publication in accepted:
        for chunk in publication.added:
            if len(chunk.vector) != BYTES_PER_COMPONENT * dimensions:
                raise SpaceMismatch(
                    f"The workspace's embedding space has {dimensions} dimensions, a vector has "
                    f"{len(chunk.vector) // BYTES_PER_COMPONENT}."
                )


def _write_passages(
    state: WorkspaceState, space_id: int, version: int, accepted: Sequence[DocumentPublication]
) -> None:
    """Give the new chunks their ordinals, and write them with one postings segment."""
    rows: list[SegmentRow] = []
    for publication in accepted:
        access_id = state.documents[publication.document_id].access_id
        for chunk in publication.added:
            ordinal = state.next_ordinal
            state.next_ordinal += 1
            state.passages[ordinal] = _passage(publication, access_id, chunk, space_id, version)
            rows.append(SegmentRow(ordinal, access_id, version, chunk.terms))
            for entity in chunk.entities.entities:
                state.entities.setdefault(
                    entity.entity_id, Entity(entity.key, entity.name, entity.kind, publication.document_id)
                )
                mentioned = state.entity_ordinals.get(entity.entity_id, ())
                state.entity_ordinals[entity.entity_id] = (*mentioned, ordinal)
    if rows:
        state.segments = (*state.segments, build_segment(rows))


def _passage(
    publication: DocumentPublication, access_id: int, chunk: NewChunk, space_id: int, version: int
) -> PassageRow:
    placement = Placement(chunk.draft, publication.revision.revision_id, access_id, version)
    return PassageRow(
        document_id=publication.document_id,
        access_id=access_id,
        vectors={space_id: chunk.vector},
        mentions=tuple(_mentions(chunk.entities)),
        placements=(placement,),
        visible_from=version,
    )


def _mentions(found: ChunkEntities) -> Iterator[EntityMention]:
    """Each entity with its partners; both ends hold a pair."""
    partners: list[list[tuple[UUID, int]]] = [[] for _ in found.entities]
    for (one, other), weight in Counter(found.pairs).items():
        partners[one].append((found.entities[other].entity_id, weight))
        partners[other].append((found.entities[one].entity_id, weight))
    for entity, related in zip(found.entities, partners, strict=True):
        yield EntityMention(entity.entity_id, entity.count, tuple(related))


def _close(state: WorkspaceState, version: int, publication: DocumentPublication) -> None:
    """End what is gone, and move what moved."""
    for ordinal in publication.removed:
        state.passages[ordinal] = state.passages[ordinal].closed(version)
    access_id = state.documents[publication.document_id].access_id
    for kept in publication.kept:
        if kept.moved:
            placement = Placement(kept.draft, publication.revision.revision_id, access_id, version)
            state.passages[kept.ordinal] = state.passages[kept.ordinal].moved(placement)


def _write_revision(state: WorkspaceState, version: int, publication: DocumentPublication, now: datetime) -> None:
    """A text that returns to an earlier state brings its old revision back to life."""
    revision_id = publication.revision.revision_id
    if publication.expected is not None and publication.expected != revision_id:
        superseded = state.revisions[publication.expected]
        state.revisions[publication.expected] = replace(superseded, published_to=version, superseded_at=now)
    stored = state.revisions.get(revision_id) or StoredRevision(publication.revision, now)
    since = stored.published_from if stored.published_to is None else None
    published_from = version if since is None else since
    state.revisions[revision_id] = StoredRevision(stored.revision, stored.created_at, published_from)
    state.staged.pop(revision_id, None)


def _set_ready(state: WorkspaceState, publication: DocumentPublication, now: datetime) -> None:
    state.found_metadata[publication.document_id] = change_json(publication.metadata)
    document = state.described(publication.document_id)
    title = state.given_metadata.get(publication.document_id, {}).get("title") or publication.title
    count = len(publication.added) + len(publication.kept)
    state.documents[publication.document_id] = replace(
        document,
        status=DocumentStatus.READY,
        fault=None,
        revision_id=publication.revision.revision_id,
        content_hash=publication.content_hash,
        chunk_count=count,
        chunks_done=count,
        title=document.title if title is None else title,
        media_type=document.media_type if publication.media_type is None else publication.media_type,
        provenance={**document.provenance, **publication.provenance},
        updated_at=now,
    )
