"""A corpus in memory behind the ports that answering reads, small enough to read in one sitting."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.adapters.deterministic.hashed_embedding import DIMENSIONS, embed_texts
from agentic_rag.documents.document import (
    Chunk,
    ChunkPosition,
    CitedPassage,
    Document,
    DocumentFilter,
    DocumentStatus,
    RevisionSpan,
    SpanRequest,
    chunk_id_for,
    document_id_for,
)
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput
from agentic_rag.language.tokenizer import term_counts, term_key
from agentic_rag.models.embedding.space import EmbeddingSpace, RegisteredSpace
from agentic_rag.retrieval.candidates import ArmHit, EntityPassages, MentionCount, Neighbour, SearchScope
from agentic_rag.retrieval.graph.entities import extract_entities
from agentic_rag.retrieval.graph.subgraph import Subgraph
from agentic_rag.retrieval.lexical.bm25 import TermProfile, VisiblePostings, inverse_document_frequency
from agentic_rag.retrieval.lexical.postings import Segment, SegmentRow, build_segment
from agentic_rag.tenancy.access import ANONYMOUS_READER, ReadIdentity, ReadScope
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, WorkspaceRef
from agentic_rag.workspaces.settings import RagConfig
from agentic_rag.workspaces.web_access import WebAccess
from agentic_rag.workspaces.workspace import CorpusHead

SPACE = EmbeddingSpace("deterministic", "hashed-ngrams-v1", DIMENSIONS)
WORKSPACE = WorkspaceRef(DEFAULT_ORG_ID, UUID(int=7))
READ_AT = datetime(2026, 2, 1, tzinfo=UTC)


@dataclass(slots=True)
class Calls:
    """Round trips by name, to be counted by tests."""

    names: list[str] = field(default_factory=list[str])

    def note(self, name: str) -> None:
        self.names.append(name)


@dataclass(frozen=True, slots=True)
class Index:
    """What the arms search in."""

    segment: Segment
    vectors: NDArray[np.float32]
    mentions: Mapping[UUID, Sequence[MentionCount]]
    """By entity."""
    held: Mapping[int, Sequence[MentionCount]]
    """By ordinal."""


@functools.lru_cache(256)
def index_of(chunks: tuple[Chunk, ...]) -> Index:
    """Most tests ask the same few documents."""
    mentions: dict[UUID, list[MentionCount]] = {}
    held: dict[int, list[MentionCount]] = {}
    for chunk in chunks:
        found = extract_entities(WORKSPACE.workspace_id, chunk.text, chunk.heading_path, chunk.document_title)
        held[chunk.ordinal] = [MentionCount(one.entity_id, chunk.ordinal, one.count) for one in found.entities]
        for mention in held[chunk.ordinal]:
            mentions.setdefault(mention.entity_id, []).append(mention)
    rows = [SegmentRow(chunk.ordinal, 0, 1, term_counts(chunk.text)) for chunk in chunks]
    return Index(build_segment(rows), embed_texts([chunk.text for chunk in chunks]), mentions, held)


@dataclass
class Corpus:
    """Documents as (source path, title, pages of text); every paragraph becomes a chunk unless `whole`."""

    version: int = 0
    chunks: list[Chunk] = field(default_factory=list[Chunk])
    revisions: dict[UUID, tuple[str, list[int]]] = field(default_factory=dict[UUID, tuple[str, list[int]]])
    calls: Calls = field(default_factory=Calls)
    database_down: bool = False
    graph_down: bool = False
    hang: float = 0.0
    hang_beside: bool = False
    """The read of what stands beside the passages."""
    corrupt: bool = False
    corrupt_ordinals: frozenset[int] = frozenset()
    opened: int = 0
    support_threshold: float | None = None
    kind_thresholds: tuple[tuple[str, float], ...] = ()
    rag_config: RagConfig | None = None
    web: WebAccess = WebAccess()
    organisation_allows_web: bool = False
    read_at: datetime = READ_AT
    """When its texts were read from their source."""
    _indexed: tuple[int, Index] | None = None

    def add(self, path: str, title: str, *pages: str, whole: bool = False, url: str | None = None) -> None:
        document_id = document_id_for(WORKSPACE, path)
        revision_id = UUID(bytes=sha256(path.encode()).digest()[:16])
        text = "\n\n".join(pages)
        starts = [0]
        for page in pages[:-1]:
            starts.append(starts[-1] + len(page) + 2)
        self.revisions[revision_id] = (text, starts)
        heading: tuple[str, ...] = ()
        at = 0
        for index, piece in enumerate([text] if whole else text.split("\n\n")):
            start = text.index(piece, at)
            at = start + len(piece)
            if piece.startswith("# "):
                heading = (piece[2:].split("\n")[0],)
            chunk_id = chunk_id_for(document_id, sha256(piece.encode()).digest(), index)
            line = text.count("\n", 0, start) + 1
            self.chunks.append(
                Chunk(
                    len(self.chunks), chunk_id, document_id, revision_id, index, piece, start, at,
                    self.page(text, starts, start),
                    line, line + piece.count("\n"), heading, title, path, url, "text/plain",
                )
            )  # fmt: skip
        self.version += 1

    @staticmethod
    def page(text: str, starts: Sequence[int], at: int) -> int | None:
        return sum(start <= at for start in starts) if len(starts) > 1 else None

    def add_short(self, *documents: tuple[str, str, str]) -> None:
        """Documents of one chunk each, as (source path, title, text)."""
        for path, title, text in documents:
            self.add(path, title, text, whole=True)

    @property
    def index(self) -> Index:
        """What is found in the chunks of this version."""
        if self._indexed is None or self._indexed[0] != len(self.chunks):
            self._indexed = len(self.chunks), index_of(tuple(self.chunks))
        return self._indexed[1]

    # ports.Database

    async def corpus_version(self, workspace: WorkspaceRef) -> int | None:
        self.calls.note("corpus_version")
        if self.database_down:
            raise DependencyUnavailable("The database does not answer.", dependency="postgres")
        return self.version if workspace == WORKSPACE else None

    def while_answering(self, seconds: float) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def head(self, workspace: WorkspaceRef, readers: ReadIdentity = ANONYMOUS_READER) -> CorpusHead | None:
        version = await self.corpus_version(workspace)
        if version is None:
            return None
        return CorpusHead(
            version,
            SPACE if self.chunks else None,
            self.support_threshold,
            rag_config=self.rag_config,
            kind_thresholds=self.kind_thresholds,
            web=self.web,
            organisation_allows_web=self.organisation_allows_web,
        )

    @asynccontextmanager
    async def snapshot(
        self,
        workspace: WorkspaceRef,
        as_of: int | None = None,
        readers: ReadIdentity = ANONYMOUS_READER,
        *,
        may_defer: bool = False,
        may_lag: bool = False,
    ) -> AsyncIterator[Any]:
        self.calls.note("snapshot")
        if self.database_down:
            raise DependencyUnavailable("The database does not answer.", dependency="postgres")
        if as_of is not None and as_of > self.version:
            raise InvalidInput("There is no such version yet.", code="AS_OF_UNAVAILABLE", path=("asOf",))
        self.opened += 1

        async def shown(version: int) -> int:
            return version

        try:
            yield SimpleNamespace(
                version=self.version if as_of is None else as_of,
                shown=shown,
                space=RegisteredSpace(1, SPACE) if self.chunks else None,
                access=ReadScope(),
                documents=Documents(self),
                vectors=Vectors(self),
                lexical=Lexical(self),
                graph=Graph(self),
            )
        finally:
            self.opened -= 1

    @asynccontextmanager
    async def transaction(self, org_id: UUID) -> AsyncIterator[Any]:
        yield SimpleNamespace(access=Access())


class Access:
    """Nobody is kept from reading anything."""

    async def stored_version(self, workspace: WorkspaceRef, scope: ReadScope, shown: int) -> int:
        return shown

    async def version_at(self, workspace: WorkspaceRef, instant: datetime) -> int | None:
        return None

    async def readable(self, workspace: WorkspaceRef, readers: ReadIdentity) -> ReadScope:
        return ReadScope()


@dataclass
class Documents:
    corpus: Corpus
    has_stale_titles: bool = False

    async def chunks(
        self,
        ordinals: Sequence[int],
        access_ids: Sequence[int],
        *,
        with_beside: bool = False,
        naming: Sequence[UUID] = (),
    ) -> list[Chunk]:
        self.corpus.calls.note("chunks")
        return [self.corpus.chunks[ordinal] for ordinal in ordinals]

    async def chunks_by_citation(self, cited: Sequence[CitedPassage], access_ids: Sequence[int]) -> list[Chunk]:
        self.corpus.calls.note("cited")
        by_id = {chunk.chunk_id: chunk for chunk in self.corpus.chunks}
        return [by_id[one.chunk_id] for one in cited if one.chunk_id in by_id]

    async def chunks_at(self, places: Sequence[ChunkPosition], access_ids: Sequence[int]) -> list[Chunk]:
        self.corpus.calls.note("placed")
        if self.corpus.hang_beside:
            await asyncio.Event().wait()
        by_place = {(chunk.revision_id, chunk.index): chunk for chunk in self.corpus.chunks}
        keys = [(one.revision_id, one.index) for one in places]
        return [by_place[key] for key in keys if key in by_place]

    async def titles(
        self, ordinals: Sequence[int], access_ids: Sequence[int], *, are_checked: bool = False
    ) -> dict[int, str]:
        self.corpus.calls.note("titles")
        return {ordinal: self.corpus.chunks[ordinal].document_title for ordinal in ordinals}

    async def ordinals_matching(self, wanted: DocumentFilter, access_ids: Sequence[int]) -> frozenset[int]:
        self.corpus.calls.note("ordinals_matching")
        return frozenset(
            chunk.ordinal
            for chunk in self.corpus.chunks
            if (not wanted.document_ids or chunk.document_id in wanted.document_ids)
            and chunk.document_id not in wanted.without_ids
            and chunk.source_path.startswith(wanted.source_path_prefix or "")
        )

    async def revision_spans(self, requests: Sequence[SpanRequest]) -> list[RevisionSpan | None]:
        self.corpus.calls.note("revision_spans")
        spans: list[RevisionSpan | None] = []
        for request in requests:
            text, starts = self.corpus.revisions[request.revision_id]
            held = next(
                one
                for one in self.corpus.chunks
                if one.revision_id == request.revision_id and one.start <= request.start < one.end
            )
            broken = self.corpus.corrupt or held.ordinal in self.corpus.corrupt_ordinals
            span = text[request.start : request.end]
            page = Corpus.page(text, starts, request.start)
            origin = "WEB_SEARCH" if held.url else None
            shown, scanned = f"not {span}" if broken else span, held.has_recognised_pages
            spans.append(RevisionSpan(shown, page, self.corpus.read_at, origin, is_recognised=scanned))
        return spans

    async def find_documents(self, name: str, access_ids: Sequence[int], limit: int) -> list[Document]:
        self.corpus.calls.note("find_documents")
        found: dict[UUID, Chunk] = {}
        for chunk in self.corpus.chunks:
            if name.lower() in chunk.document_title.lower() or name.lower() in chunk.source_path.lower():
                found.setdefault(chunk.document_id, chunk)
        return [_document(chunk) for chunk in list(found.values())[:limit]]


def _document(chunk: Chunk) -> Document:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Document(
        WORKSPACE, chunk.document_id, chunk.source_path, chunk.document_title, None, chunk.source_path, "text/plain", 1,
        "tests", 0, DocumentStatus.READY, None, chunk.revision_id, None, 1, 1, now, now,
    )  # fmt: skip


@dataclass
class Vectors:
    corpus: Corpus
    is_at_hand: bool = False

    async def nearest(self, query: NDArray[np.float32], space_id: int, limit: int, scope: SearchScope) -> list[ArmHit]:
        self.corpus.calls.note("nearest")
        if self.corpus.hang:
            await asyncio.Event().wait()
        raw = np.round(self.corpus.index.vectors.astype(np.float64) @ query.astype(np.float64), 6)
        order = np.lexsort((np.arange(len(raw)), -raw))
        hits = [ArmHit(int(at), float(raw[at]), max(0.0, float(raw[at]))) for at in order]
        return [hit for hit in hits if scope.ordinals is None or hit.ordinal in scope.ordinals][:limit]

    async def cosines(self, query: NDArray[np.float32], space_id: int, ordinals: Sequence[int]) -> dict[int, float]:
        self.corpus.calls.note("cosines")
        raw = np.round(self.corpus.index.vectors.astype(np.float64) @ query.astype(np.float64), 6)
        return {ordinal: float(raw[ordinal]) for ordinal in ordinals}


@dataclass
class Lexical:
    corpus: Corpus

    async def search(self, terms: Mapping[str, int], limit: int, scope: SearchScope) -> list[ArmHit]:
        self.corpus.calls.note("search")
        allowed = None if scope.ordinals is None else np.array(sorted(scope.ordinals), np.int32)
        return self._visible(scope).search(terms, allowed, limit)

    async def profile(self, terms: Mapping[str, int], ordinals: Sequence[int], scope: SearchScope) -> TermProfile:
        return self._visible(scope).profile(terms, np.array(ordinals, np.int64))

    def _visible(self, scope: SearchScope) -> VisiblePostings:
        return VisiblePostings.of([self.corpus.index.segment], np.zeros(0, np.int32), 1 << 30, scope.access_ids)

    async def rarity(self, terms: Sequence[str], scope: SearchScope) -> dict[str, float]:
        segment, total = self.corpus.index.segment, len(self.corpus.chunks)
        shares: dict[str, float] = {}
        for term in terms:
            place = int(np.searchsorted(segment.terms, np.uint64(term_key(term))))
            known = place < len(segment.terms) and int(segment.terms[place]) == term_key(term)
            held = int(segment.offsets[place + 1] - segment.offsets[place]) if known else 0
            shares[term] = inverse_document_frequency(total, held) / inverse_document_frequency(total, 0)
        return shares

    async def passages(self, scope: SearchScope) -> int:
        return len(self.corpus.chunks)


@dataclass
class Graph:
    corpus: Corpus

    @property
    def version(self) -> int:
        return self.corpus.version

    async def vicinity(self, entity_ids: Sequence[UUID], ordinals: Sequence[int], cap: int) -> Subgraph:
        self.corpus.calls.note("vicinity")
        held = [mention for ordinal in sorted(ordinals) for mention in self.corpus.index.held[ordinal]]
        return Subgraph.of(held, self._reached({*entity_ids, *(one.entity_id for one in held)}, cap))

    async def mentions_of(self, entity_ids: Sequence[UUID], cap: int) -> list[EntityPassages]:
        self.corpus.calls.note("mentions_of")
        return self._reached(set(entity_ids), cap)

    def _reached(self, entity_ids: set[UUID], cap: int) -> list[EntityPassages]:
        if self.corpus.graph_down:
            raise DependencyUnavailable("The graph does not answer.", dependency="neo4j")
        mentions = self.corpus.index.mentions
        known = [(one, mentions[one]) for one in sorted(entity_ids) if one in mentions]
        return [
            EntityPassages(one, len(held), tuple(m.ordinal for m in held), tuple(m.count for m in held))
            if len(held) <= cap
            else EntityPassages(one, cap + 1, (), ())
            for one, held in known
        ]

    async def neighbours(self, entity_ids: Sequence[UUID], cap: int) -> list[Neighbour]:
        return []

    async def names(self, entity_ids: Sequence[UUID]) -> dict[UUID, str]:
        return {}
