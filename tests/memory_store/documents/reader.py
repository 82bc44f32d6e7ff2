"""`documents.ports.DocumentReader` in memory: reads of one snapshot."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import date
from uuid import UUID

from tests.memory_store.session.state import Placement, WorkspaceState

from agentic_rag.documents.document import (
    Chunk,
    ChunkPosition,
    ChunkVersion,
    CitedPassage,
    Document,
    DocumentFilter,
    DocumentStatus,
    RevisionSpan,
    SpanRequest,
    TextLayout,
    outline_of,
)
from agentic_rag.documents.metadata import DocumentMetadata
from agentic_rag.documents.unread_pages import is_recognised
from agentic_rag.documents.where import fold_name, glob_pattern


class MemoryDocumentReader:
    """Every call sees the same corpus version."""

    has_stale_titles = False

    def __init__(self, state: WorkspaceState, version: int) -> None:
        self._state = state
        self._version = version

    async def chunks(
        self,
        ordinals: Sequence[int],
        access_ids: Sequence[int],
        *,
        with_beside: bool = False,
        naming: Sequence[UUID] = (),
    ) -> list[Chunk]:
        """The visible chunks with these ordinals that the access sets may read, in the order asked."""
        found: list[Chunk] = []
        for ordinal in ordinals:
            passage = self._state.passages.get(ordinal)
            placement = None if passage is None else passage.placement_at(self._version)
            if passage is not None and placement is not None and placement.access_id in access_ids:
                found.append(_chunk(ordinal, placement, self._state.documents[passage.document_id]))
        return found

    async def chunks_by_citation(self, cited: Sequence[CitedPassage], access_ids: Sequence[int]) -> list[Chunk]:
        """Those of the passages that are visible and that the access sets may read, in the order asked."""
        asked = {one.document_id for one in cited}
        found = {chunk.chunk_id: chunk for chunk in await self._chunks_of(asked, access_ids)}
        return [found[one.chunk_id] for one in cited if one.chunk_id in found]

    async def chunks_at(self, places: Sequence[ChunkPosition], access_ids: Sequence[int]) -> list[Chunk]:
        """The visible chunks at these places that the access sets may read, in the order asked."""
        found = {
            ChunkPosition(chunk.document_id, chunk.revision_id, chunk.index): chunk
            for chunk in await self._chunks_of({one.document_id for one in places}, access_ids)
        }
        return [found[one] for one in places if one in found]

    async def _chunks_of(self, documents: set[UUID], access_ids: Sequence[int]) -> list[Chunk]:
        ordinals = [at for at, passage in self._state.passages.items() if passage.document_id in documents]
        return await self.chunks(ordinals, access_ids)

    async def titles(
        self, ordinals: Sequence[int], access_ids: Sequence[int], *, are_checked: bool = False
    ) -> dict[int, str]:
        """The document titles of those of these chunks that are visible and that the access sets may read."""
        return {chunk.ordinal: chunk.document_title for chunk in await self.chunks(ordinals, access_ids)}

    async def placements(self, chunk_ids: Sequence[UUID], access_ids: Sequence[int]) -> list[ChunkVersion]:
        """Every place at which these chunks stand or stood."""
        return [
            ChunkVersion(
                placement.draft.chunk_id,
                ordinal,
                passage.document_id,
                self._state.documents[passage.document_id].title,
                placement.visible_from,
                placement.visible_to,
            )
            for ordinal, passage in sorted(self._state.passages.items())
            for placement in passage.placements
            if placement.draft.chunk_id in chunk_ids and placement.access_id in access_ids
        ]

    async def ordinals_matching(self, wanted: DocumentFilter, access_ids: Sequence[int]) -> frozenset[int]:
        """The ordinals of visible chunks whose document passes the filter."""
        passing = {document.document_id for document in self._state.documents.values() if passes(document, wanted)}
        return frozenset(
            ordinal
            for ordinal, passage in self._state.passages.items()
            if passage.document_id in passing
            and (placement := passage.placement_at(self._version)) is not None
            and placement.access_id in access_ids
        )

    async def revision_spans(self, requests: Sequence[SpanRequest]) -> list[RevisionSpan | None]:
        """The stored text and page of each span, in the order asked; None where there is no such revision."""
        return [self._span(request) for request in requests]

    async def layout(self, document_id: UUID, access_ids: Sequence[int]) -> TextLayout | None:
        """The layout of a document's text; None when a passage is not readable, or none is visible."""
        placements = [
            placement
            for passage in self._state.passages.values()
            if passage.document_id == document_id and (placement := passage.placement_at(self._version)) is not None
        ]
        published = [
            stored.revision
            for stored in self._state.revisions.values()
            if stored.revision.document_id == document_id
            and stored.published_from is not None
            and stored.published_from <= self._version < (stored.published_to or self._version + 1)
        ]
        if not placements or not published or any(one.access_id not in access_ids for one in placements):
            return None
        drafts = sorted((one.draft for one in placements), key=lambda draft: draft.index)
        outline = outline_of((draft.heading_path, draft.start) for draft in drafts)
        revision = published[0]
        return TextLayout(revision.revision_id, len(revision.text), revision.pages, outline)

    async def find_documents(self, name: str, access_ids: Sequence[int], limit: int) -> list[Document]:
        """READY documents whose title or file name equals or contains `name` (case-insensitive), exact ones first."""
        wanted = name.lower()
        found = [document for document in self._readable(access_ids) if any(wanted in own for own in _names(document))]
        found.sort(key=lambda document: (wanted not in _names(document), document.source_path))
        return found[:limit]

    def _readable(self, access_ids: Sequence[int]) -> Iterator[Document]:
        for document in self._state.documents.values():
            if document.status is DocumentStatus.READY and document.access_id in access_ids:
                yield document

    def _span(self, request: SpanRequest) -> RevisionSpan | None:
        stored = self._state.revisions.get(request.revision_id)
        if stored is None:
            return None
        pages = stored.revision.pages
        # The page of a span is the last one that starts at or before its first character.
        starts = [page.start for page in pages]
        place = bisect_right(starts, request.start)
        last = bisect_right(starts, max(request.end - 1, request.start))
        text = stored.revision.text[request.start : max(request.start, request.end)]
        document = self._state.documents.get(stored.revision.document_id)
        provenance = {} if document is None else document.provenance
        is_current = document is not None and document.revision_id == request.revision_id
        published = provenance.get("published") if is_current else None
        first_page = pages[place - 1].number if place else None
        last_page = pages[last - 1].number if last else None
        stated = provenance.get("recognised_pages") if is_current else stored.revision.recognised_pages
        return RevisionSpan(
            text,
            first_page,
            stored.created_at,
            provenance.get("web_origin"),
            date.fromisoformat(published) if published else None,
            is_recognised(stated, first_page, last_page, is_of_revision=True),
            stored.revision.parser_version,
        )


def _names(document: Document) -> tuple[str, str]:
    return document.title.lower(), document.file_name.lower()


def passes(document: Document, wanted: DocumentFilter) -> bool:
    """Whether the filter lets the document through."""
    return (
        (not wanted.document_ids or document.document_id in wanted.document_ids)
        and document.document_id not in wanted.without_ids
        and (wanted.source_path_prefix is None or document.source_path.startswith(wanted.source_path_prefix))
        and (not wanted.media_types or document.media_type in wanted.media_types)
        and (
            not wanted.path_globs
            or any(re.search(glob_pattern(one), document.source_path) for one in wanted.path_globs)
        )
        and all(one in fold_name(f"{document.title} {document.source_path}") for one in wanted.words)
        and _is_described(document.metadata, wanted)
    )


def _is_described(told: DocumentMetadata, wanted: DocumentFilter) -> bool:
    language = told.language or ""
    day = told.document_date
    return (
        all(set(tags) & set(told.tags) for tags in wanted.tags)
        and (not wanted.domains or told.domain in wanted.domains)
        and (not wanted.languages or language in wanted.languages or language.partition("-")[0] in wanted.languages)
        and (wanted.date_from is None or (day is not None and day >= wanted.date_from))
        and (wanted.date_to is None or (day is not None and day <= wanted.date_to))
        and all(condition.holds(told) for condition in wanted.fields)
    )


def _chunk(ordinal: int, placement: Placement, document: Document) -> Chunk:
    draft = placement.draft
    return Chunk(
        ordinal=ordinal,
        chunk_id=draft.chunk_id,
        document_id=document.document_id,
        revision_id=placement.revision_id,
        index=draft.index,
        text=draft.text,
        start=draft.start,
        end=draft.end,
        page=draft.page,
        line_start=draft.line_start,
        line_end=draft.line_end,
        heading_path=draft.heading_path,
        document_title=document.title,
        source_path=document.source_path,
        url=document.url,
        media_type=document.media_type,
        has_recognised_pages=bool(document.provenance.get("recognised_pages"))
        or document.revision_id != placement.revision_id,
    )
