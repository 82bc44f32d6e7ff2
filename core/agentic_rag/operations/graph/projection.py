"""A graph outside Postgres as values: what it should hold of some documents, and the change that brings it there.

Pure. Postgres is the truth and the graph follows it, document by document. Sums (a source's mention counts, a pair's
weight) are changed by what a chunk adds or takes away, in the transaction that makes the chunk appear or go: the chunk
itself says whether it has been counted, so doing a step twice never counts it twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID

CLEARING_VERSION = -1
"""The watermark of a graph whose content cannot be relied on, not even to be compared with."""

CHUNKS_PER_TRANSACTION = 128
"""Chunks that one transaction adds or removes: about 2,000 mentions and a tenth of a second."""


@dataclass(frozen=True, slots=True)
class GraphSource:
    """A document that has been published."""

    document_id: UUID
    title: str
    revision_id: UUID
    access_id: int = DEFAULT_ACCESS_ID


@dataclass(frozen=True, slots=True)
class GraphEntity:
    """An entity and the document it was first seen in."""

    entity_id: UUID
    name: str
    kind: str
    source_id: UUID


@dataclass(frozen=True, slots=True)
class GraphMention:
    """An entity in a chunk, and how often it shares a sentence there with entities of higher id (so each pair stands
    once).
    """

    entity_id: UUID
    count: int
    related: tuple[UUID, ...] = ()
    weights: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphChunk:
    """A chunk with its mentions. What an ordinal stands for never changes."""

    ordinal: int
    chunk_id: UUID
    document_id: UUID
    mentions: tuple[GraphMention, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangedDocument:
    """A document as Postgres holds it now; `source` is None when it is erased. `chunk_ids` by visible ordinal."""

    version: int
    document_id: UUID
    source: GraphSource | None
    ordinals: tuple[int, ...] = ()
    chunk_ids: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphCursor:
    """Every document up to this version, and this document within it, has been looked at."""

    version: int
    document_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class DocumentBatch:
    """The next changed documents. `corpus_version` is the version they were read at; `is_last` says that nothing else
    had changed up to it.
    """

    documents: tuple[ChangedDocument, ...]
    corpus_version: int
    is_last: bool

    @property
    def cursor(self) -> GraphCursor:
        """Where the next batch begins."""
        if self.is_last or not self.documents:
            return GraphCursor(self.corpus_version)
        return GraphCursor(self.documents[-1].version, self.documents[-1].document_id)

    @property
    def complete(self) -> int:
        """The version whose documents are all in this batch or in earlier ones."""
        return self.cursor.version if self.cursor.document_id is None else self.cursor.version - 1


@dataclass(frozen=True, slots=True)
class GraphWatermark:
    """Where the graph stands. `version`: all of the corpus up to it is there; 0 while it is filled for the first time,
    `CLEARING` while what it held is removed. `target`: the corpus version that is being written, equal to `version`
    when nobody writes. `fence`: the last writer's token.
    """

    version: int
    target: int
    fence: int


@dataclass(frozen=True, slots=True)
class GraphPosition:
    """What Postgres knows of a workspace's graph."""

    corpus_version: int
    graph_version: int


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """How much one store holds of a workspace's graph at its newest version. `mentions` are those of chunks, `related`
    are pairs.
    """

    sources: int = 0
    chunks: int = 0
    entities: int = 0
    mentions: int = 0
    related: int = 0


@dataclass(frozen=True, slots=True)
class GraphChangeBatch:
    """One transaction's worth of chunks to remove and to add."""

    removed: tuple[int, ...]
    added: tuple[tuple[ChangedDocument, int, UUID], ...]
    """Document, ordinal, chunk id."""
    is_first: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class GraphChange:
    """What one transaction does. Rows come in id order, so that two writers never wait for each other in a circle."""

    sources: tuple[GraphSource, ...]
    erased_sources: tuple[UUID, ...]
    entities: tuple[GraphEntity, ...]
    removed: tuple[int, ...]
    added: tuple[GraphChunk, ...]
    counts: tuple[tuple[UUID, UUID, int], ...]
    """Source, entity, by how much their count changes."""
    weights: tuple[tuple[UUID, UUID, int], ...]
    """Lower id, higher id, by how much their weight changes."""
    touched: tuple[UUID, ...]
    """Entities that may have lost their last mention."""


def graph_since(position: GraphPosition, watermark: GraphWatermark) -> int:
    """The version from which the graph has to follow; 0 when nothing in it can be relied on: it was never filled, it
    lost what it had (Postgres saw it further), or it followed another history (a restored Postgres).
    """
    if watermark.version < position.graph_version or watermark.version > position.corpus_version:
        return 0
    return position.graph_version


def is_usable(watermark: GraphWatermark | None, version: int, max_lag: int) -> bool:
    """Whether a graph at this watermark may answer for a corpus version: filled, and at most `max_lag` behind."""
    if watermark is None or watermark.version < min(1, version):
        return False
    return version - watermark.version <= max_lag


def visible_version(watermark: GraphWatermark, version: int) -> int:
    """The version to state for a read at this watermark: that of the corpus only when the graph stood exactly there."""
    if watermark.version == version and watermark.target != version:
        return watermark.target
    return watermark.version


def split_change(
    documents: Sequence[ChangedDocument], held: Mapping[UUID, frozenset[int]], size: int = CHUNKS_PER_TRANSACTION
) -> Iterator[GraphChangeBatch]:
    """Cut the difference between what the graph holds of some documents and what it should into transactions of `size`
    chunks; at least one, removals first: a chunk may come back under another ordinal.
    """
    latest = {document.document_id: document for document in documents}
    removed = sorted(
        ordinal
        for document in latest.values()
        for ordinal in held.get(document.document_id, frozenset()) - set(document.ordinals)
    )
    added = [
        (document, ordinal, chunk_id)
        for _, document in sorted(latest.items())
        for ordinal, chunk_id in zip(document.ordinals, document.chunk_ids, strict=True)
        if ordinal not in held.get(document.document_id, frozenset())
    ]
    pieces = [(tuple(removed[start : start + size]), ()) for start in range(0, len(removed), size)]
    pieces += [((), tuple(added[start : start + size])) for start in range(0, len(added), size)]
    for place, (out, new) in enumerate(pieces or [((), ())]):
        yield GraphChangeBatch(out, new, place == 0, place >= len(pieces) - 1)


def build_change(
    documents: Sequence[ChangedDocument],
    part: GraphChangeBatch,
    removed: Sequence[GraphChunk],
    added: Sequence[GraphChunk],
    entities: Iterable[GraphEntity],
) -> GraphChange:
    """The change of one part: `removed` as the graph holds them, `added` and `entities` as Postgres does."""
    counts: Counter[tuple[UUID, UUID]] = Counter()
    weights: Counter[tuple[UUID, UUID]] = Counter()
    for chunks, sign in ((removed, -1), (added, 1)):
        for chunk in chunks:
            for mention in chunk.mentions:
                counts[chunk.document_id, mention.entity_id] += sign * mention.count
                for other, weight in zip(mention.related, mention.weights, strict=True):
                    weights[mention.entity_id, other] += sign * weight
    latest = {document.document_id: document.source for document in documents}
    sources = [source for _, source in sorted(latest.items()) if source is not None] if part.is_first else []
    gone = sorted(document_id for document_id, source in latest.items() if source is None) if part.is_last else []
    return GraphChange(
        sources=tuple(sources),
        erased_sources=tuple(gone),
        entities=tuple(sorted(entities, key=lambda entity: entity.entity_id)),
        removed=tuple(chunk.ordinal for chunk in removed),
        added=tuple(added),
        counts=tuple((source, entity, by) for (source, entity), by in sorted(counts.items()) if by),
        weights=tuple((one, other, by) for (one, other), by in sorted(weights.items()) if by),
        touched=tuple(sorted(entities_in(removed))),
    )


def entities_in(chunks: Iterable[GraphChunk]) -> set[UUID]:
    """The entities that some chunks mention."""
    return {mention.entity_id for chunk in chunks for mention in chunk.mentions}
