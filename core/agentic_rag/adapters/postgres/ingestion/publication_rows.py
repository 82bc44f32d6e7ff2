"""A batch of publications as columns, for one insert per table. Pure. Ordinals count from 0 until the workspace's lock
assigns the first one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np

from agentic_rag.adapters.postgres.documents.document_rows import draft_columns
from agentic_rag.adapters.postgres.session.halfvec import encode_halfvecs
from agentic_rag.documents.document import ChunkDraft
from agentic_rag.ingestion.ports import DocumentPublication, NewChunk
from agentic_rag.kernel.errors import SpaceMismatch
from agentic_rag.retrieval.candidates import ExtractedEntity
from agentic_rag.retrieval.lexical.postings import Segment, SegmentRow, build_segment


@dataclass(slots=True)
class ChunkColumns:
    """Rows of rag_chunks, without the version."""

    ordinal: list[int] = field(default_factory=list[int])
    document_id: list[UUID] = field(default_factory=list[UUID])
    revision_id: list[UUID] = field(default_factory=list[UUID])
    access_id: list[int] = field(default_factory=list[int])
    drafts: list[ChunkDraft] = field(default_factory=list[ChunkDraft])

    def add(self, publication: DocumentPublication, access_id: int, ordinal: int, draft: ChunkDraft) -> None:
        """Append a row."""
        self.ordinal.append(ordinal)
        self.document_id.append(publication.document_id)
        self.revision_id.append(publication.revision.revision_id)
        self.access_id.append(access_id)
        self.drafts.append(draft)

    def values(self, first_ordinal: int) -> tuple[Sequence[object], ...]:
        """The columns in the order of `publication.ADD_CHUNKS`."""
        return (
            [first_ordinal + ordinal for ordinal in self.ordinal],
            self.document_id,
            self.revision_id,
            self.access_id,
            *draft_columns(self.drafts),
        )


@dataclass(slots=True)
class MentionColumns:
    """Rows of rag_mentions, without the version and the chunk's document and access set. Relations of row i are
    `related[first[i]:last[i]]`.
    """

    entity_id: list[UUID] = field(default_factory=list[UUID])
    ordinal: list[int] = field(default_factory=list[int])
    """Ascending."""
    count: list[int] = field(default_factory=list[int])
    first: list[int] = field(default_factory=list[int])
    last: list[int] = field(default_factory=list[int])
    related: list[UUID] = field(default_factory=list[UUID])
    weights: list[int] = field(default_factory=list[int])

    def add(self, ordinal: int, chunk: NewChunk) -> None:
        """Append the entities of one chunk."""
        entities = chunk.entities.entities
        ids = [entity.entity_id for entity in entities]
        partners: list[list[int]] = [[] for _ in ids]
        weights: list[list[int]] = [[] for _ in ids]
        for (one, other), weight in Counter(chunk.entities.pairs).items():
            partners[one].append(other)
            partners[other].append(one)
            weights[one].append(weight)
            weights[other].append(weight)
        self.entity_id += ids
        self.ordinal += [ordinal] * len(ids)
        self.count += [entity.count for entity in entities]
        for related, theirs in zip(partners, weights, strict=True):
            self.first.append(len(self.related) + 1)
            self.related += [ids[partner] for partner in related]
            self.weights += theirs
            self.last.append(len(self.related))


@dataclass(frozen=True, slots=True)
class Batch:
    """All rows of the accepted publications that are written under the workspace's lock."""

    accepted: tuple[DocumentPublication, ...]
    added: ChunkColumns
    moved: ChunkColumns
    vectors: list[bytes]
    mentions: MentionColumns
    entities: dict[UUID, tuple[ExtractedEntity, UUID]]
    """Each entity once, with the first document of the batch that mentions it."""
    segment: Segment
    removed: list[int]


def batch_of(accepted: Sequence[DocumentPublication], accesses: Mapping[UUID, int], dimensions: int) -> Batch:
    """Build a batch; `accesses` are the documents' access sets. Errors: `SpaceMismatch` when a vector does not have
    `dimensions` components.
    """
    added, moved, mentions = ChunkColumns(), ChunkColumns(), MentionColumns()
    entities: dict[UUID, tuple[ExtractedEntity, UUID]] = {}
    vectors: list[bytes] = []
    postings: list[SegmentRow] = []
    for publication in accepted:
        access_id = accesses[publication.document_id]
        for chunk in publication.added:
            ordinal = len(vectors)
            added.add(publication, access_id, ordinal, chunk.draft)
            vectors.append(chunk.vector)
            postings.append(SegmentRow(ordinal, access_id, 0, chunk.terms))
            mentions.add(ordinal, chunk)
            for entity in chunk.entities.entities:
                entities.setdefault(entity.entity_id, (entity, publication.document_id))
        for kept in publication.kept:
            if kept.moved:
                moved.add(publication, access_id, kept.ordinal, kept.draft)
    try:
        wire = encode_halfvecs(vectors, dimensions)
    except ValueError as error:
        raise SpaceMismatch(f"The workspace's embedding space has {dimensions} dimensions: {error}.") from error
    removed = [ordinal for publication in accepted for ordinal in publication.removed]
    return Batch(tuple(accepted), added, moved, wire, mentions, entities, build_segment(postings), removed)


def shift_ordinals(segment: Segment, first_ordinal: int, version: int) -> Segment:
    """A segment built over ordinals from 0, shifted to the workspace's first free ordinal."""
    return replace(
        segment,
        ordinals=segment.ordinals + np.int32(first_ordinal),
        posting_ordinals=segment.posting_ordinals + np.int32(first_ordinal),
        visible_from=np.full(len(segment.ordinals), version, np.int32),
    )


def slices(columns: Sequence[Sequence[object]], size: int) -> Iterable[tuple[Sequence[object], ...]]:
    """Columns of equal length cut into pieces of at most `size` rows."""
    for start in range(0, len(columns[0]), size):
        yield tuple(column[start : start + size] for column in columns)
