"""A graph outside Postgres as values: what it should contain for some documents, and the change that achieves it.

Pure. Postgres is the source of truth and the graph follows it document by document. Sums (a source's mention counts, a
pair's weight) are incremented or decremented in the transaction that adds or removes the chunk. The chunk's presence
says whether it has been counted, so repeating a step never counts it twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID

CLEARING_VERSION = -1
"""The watermark of a graph whose content is unreliable and must not even be compared."""

CHUNKS_PER_TRANSACTION = 128
"""Chunks that one transaction adds or removes: about 2,000 mentions and a tenth of a second."""


@dataclass(frozen=True, slots=True)
class GraphSource:
    """A published document."""

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
    """An entity in a chunk, and how often it shares a sentence there with entities of higher id (so each pair is stored
    once).
    """

    entity_id: UUID
    count: int
    related: tuple[UUID, ...] = ()
    weights: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphChunk:
    """A chunk with its mentions. An ordinal always denotes the same chunk."""

    ordinal: int
    chunk_id: UUID
    document_id: UUID
    mentions: tuple[GraphMention, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangedDocument:
    """The current state of a document in Postgres; `source` is None if it was erased. `chunk_ids` are in the order of
    the visible `ordinals`.
    """

    version: int
    document_id: UUID
    source: GraphSource | None
    ordinals: tuple[int, ...] = ()
    chunk_ids: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphCursor:
    """The last processed document: its version and id. Without an id, all documents up to the version are processed."""

    version: int
    document_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class DocumentBatch:
    """The next changed documents. They were read at `corpus_version`; `is_last` means that no other document changed up
    to it.
    """

    documents: tuple[ChangedDocument, ...]
    corpus_version: int
    is_last: bool

    @property
    def cursor(self) -> GraphCursor:
        """The start of the next batch."""
        if self.is_last or not self.documents:
            return GraphCursor(self.corpus_version)
        return GraphCursor(self.documents[-1].version, self.documents[-1].document_id)

    @property
    def complete(self) -> int:
        """The newest version whose documents are all in this batch or earlier ones."""
        return self.cursor.version if self.cursor.document_id is None else self.cursor.version - 1


@dataclass(frozen=True, slots=True)
class GraphWatermark:
    """The graph's progress. `version`: the graph contains the corpus up to this version; 0 during the first fill,
    `CLEARING` while old content is deleted. `target`: the corpus version being written, equal to `version` if there is
    no writer. `fence`: the last writer's token.
    """

    version: int
    target: int
    fence: int


@dataclass(frozen=True, slots=True)
class GraphPosition:
    """The versions of a workspace's graph according to Postgres."""

    corpus_version: int
    graph_version: int


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """The size of a workspace's graph in one store at its newest version. `mentions` counts those of chunks, `related`
    counts pairs.
    """

    sources: int = 0
    chunks: int = 0
    entities: int = 0
    mentions: int = 0
    related: int = 0


@dataclass(frozen=True, slots=True)
class GraphChangeBatch:
    """The chunks that one transaction removes and adds."""

    removed: tuple[int, ...]
    added: tuple[tuple[ChangedDocument, int, UUID], ...]
    """Document, ordinal, chunk id."""
    is_first: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class GraphChange:
    """The content of one transaction. Rows are in id order, so that two writers cannot deadlock."""

    sources: tuple[GraphSource, ...]
    erased_sources: tuple[UUID, ...]
    entities: tuple[GraphEntity, ...]
    removed: tuple[int, ...]
    added: tuple[GraphChunk, ...]
    counts: tuple[tuple[UUID, UUID, int], ...]
    """Source, entity, change of their count."""
    weights: tuple[tuple[UUID, UUID, int], ...]
    """Lower id, higher id, change of their weight."""
    touched: tuple[UUID, ...]
    """Entities that may have lost their last mention."""


def graph_since(position: GraphPosition, watermark: GraphWatermark) -> int:
    """The version from which the graph must follow. 0 if its content is unreliable: it was never filled, it lost data
    (Postgres had recorded a newer version), or it followed another history (a restored Postgres).
    """
    if watermark.version < position.graph_version or watermark.version > position.corpus_version:
        return 0
    return position.graph_version


def is_usable(watermark: GraphWatermark | None, version: int, max_lag: int) -> bool:
    """Whether a graph at this watermark may serve a corpus version: it is filled, and at most `max_lag`
    versions behind.
    """
    if watermark is None or watermark.version < min(1, version):
        return False
    return version - watermark.version <= max_lag


def visible_version(watermark: GraphWatermark, version: int) -> int:
    """The version to report for a read at this watermark: the corpus version only if the graph was exactly at it."""
    if watermark.version == version and watermark.target != version:
        return watermark.target
    return watermark.version


def split_change(
    documents: Sequence[ChangedDocument], held: Mapping[UUID, frozenset[int]], size: int = CHUNKS_PER_TRANSACTION
) -> Iterator[GraphChangeBatch]:
    """Splits the difference between the graph's chunks of some documents and the expected ones into transactions of
    `size` chunks, at least one. Removals come first: a chunk may return under another ordinal.
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
    """The change of one batch: `removed` as the graph stores them, `added` and `entities` as Postgres does."""
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
    """The entities that the chunks mention."""
    return {mention.entity_id for chunk in chunks for mention in chunk.mentions}
