"""`documents.ports.DocumentReader` on Postgres: reads of one snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from uuid import UUID

from asyncpg.pgproto.pgproto import UUID as DriverUUID

from agentic_rag.adapters.postgres.documents.document_reader_sql import (
    CITED,
    FIND_DOCUMENTS,
    LAYOUT,
    PLACED,
    PLACEMENTS,
    READ_BESIDE,
    REVISION_SPANS,
    TEXTS,
    TEXTS_CHECKED,
    TEXTS_TOLD,
    TEXTS_WITH_BESIDE_CHECKED,
    TEXTS_WITH_BESIDE_TOLD,
    TITLES,
    TITLES_OF,
    VISIBLE,
)
from agentic_rag.adapters.postgres.documents.document_rows import document_from
from agentic_rag.adapters.postgres.documents.filter_sql import matching_statement
from agentic_rag.adapters.postgres.retrieval.resident import ResidentCorpus
from agentic_rag.adapters.postgres.retrieval.segments import ORDINAL_BYTES, SegmentCache
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.adapters.postgres.session.deferred_connection import DeferredConnection
from agentic_rag.documents.document import (
    Chunk,
    ChunkPosition,
    ChunkVersion,
    CitedPassage,
    Document,
    DocumentFilter,
    PageSpan,
    RevisionSpan,
    SpanRequest,
    TextLayout,
    outline_of,
)
from agentic_rag.documents.unread_pages import is_recognised
from agentic_rag.tenancy.principals import WorkspaceRef


class PostgresDocumentReader:
    """Every call sees the same corpus version."""

    def __init__(
        self,
        connection: PostgresConnection,
        workspace: WorkspaceRef,
        version: int,
        cache: SegmentCache,
        state: tuple[int, int, tuple[UUID, ...]],
        resident: ResidentCorpus | None = None,
        names: dict[UUID, str | None] | None = None,
        *,
        titles_changed: int = 0,
    ) -> None:
        """`state`: the newest corpus version, the access version and the segments. `names` takes the names of entities
        that are read along; None for one that is not stored. `titles_changed`: which transaction changed a title last.
        """
        self._resident = resident
        self._cache = cache.matching
        self._state = state
        self._connection = connection
        self._workspace = workspace
        self._key = workspace.key
        self._version = version
        self._names = {} if names is None else names
        self._titles: dict[bytes, str | None] = {}
        """Titles that were read, by the bytes of the document's id; None for one that is gone."""
        self._told: dict[bytes, str | None] = {}
        """Titles that were told from memory, and are not checked yet."""
        self._reads_titles = resident is None
        self._holds_titles = resident is not None and resident.titles_changed == titles_changed
        self.has_stale_titles = False
        self._beside: dict[tuple[tuple[int, ...], ChunkPosition], Chunk | None] = {}
        """Chunks read along, by access sets and position; None where there is none that they may read."""

    async def chunks(
        self,
        ordinals: Sequence[int],
        access_ids: Sequence[int],
        *,
        with_beside: bool = False,
        naming: Sequence[UUID] = (),
    ) -> list[Chunk]:
        self.has_stale_titles = False
        deferred = self._connection if isinstance(self._connection, DeferredConnection) else None
        if not (ordinals or self._told):
            if deferred is not None:
                await deferred.confirm()
            return []
        if deferred is not None and not deferred.is_confirmed:
            fetch, statement = deferred.fetch_told, TEXTS_WITH_BESIDE_TOLD if with_beside else TEXTS_TOLD
        elif with_beside or naming or self._told:
            fetch, statement = self._connection.fetch, TEXTS_WITH_BESIDE_CHECKED if with_beside else TEXTS_CHECKED
        else:
            return await self._chunks(TEXTS, access_ids, ordinals)
        told, self._told = self._told, {}
        rows = await fetch(
            statement,
            *self._key,
            access_ids,
            self._version,
            ordinals,
            naming,
            {one.hex(): title for one, title in told.items()},
        )
        self._note_read_along(rows[0], naming, told)
        found, beside = list[Chunk](), list[Chunk]()
        for row in rows:
            if row["chunk_id"] is not None:
                (beside if row["is_beside"] else found).append(value_from(Chunk, row))
        if with_beside:
            self._note_beside(found[:READ_BESIDE], beside, tuple(access_ids))
        return found

    def _note_read_along(self, row: Row, naming: Sequence[UUID], told: Mapping[bytes, str | None]) -> None:
        """Keep the names and titles of the first row of a checked statement."""
        self._names |= dict.fromkeys(naming)
        self._names |= zip(row["entity_ids"] or (), row["names"] or (), strict=True)
        retitled = zip(row["retitled_ids"] or (), row["titles"] or (), strict=True)
        corrected: dict[bytes, str | None] = {document_id.bytes: title for document_id, title in retitled}
        self._titles |= {**told, **corrected}
        if corrected and self._resident is not None:
            self._resident.documents.corrected.update(corrected)
            self.has_stale_titles = self._reads_titles = True

    def _note_beside(self, found: Sequence[Chunk], beside: Sequence[Chunk], sets: tuple[int, ...]) -> None:
        """Keep the chunks beside the first that were found."""
        for one in found:
            for step in (-1, 1):
                self._beside.setdefault((sets, ChunkPosition(one.document_id, one.revision_id, one.index + step)))
        for one in beside:
            self._beside[sets, ChunkPosition(one.document_id, one.revision_id, one.index)] = one

    async def chunks_by_citation(self, cited: Sequence[CitedPassage], access_ids: Sequence[int]) -> list[Chunk]:
        documents, chunks = [one.document_id for one in cited], [one.chunk_id for one in cited]
        return await self._chunks(CITED, access_ids, documents, chunks)

    async def chunks_at(self, places: Sequence[ChunkPosition], access_ids: Sequence[int]) -> list[Chunk]:
        sets = tuple(access_ids)
        if all((sets, one) in self._beside for one in places):
            return [found for one in places if (found := self._beside[sets, one]) is not None]
        documents, revisions = [one.document_id for one in places], [one.revision_id for one in places]
        return await self._chunks(PLACED, access_ids, documents, revisions, [one.index for one in places])

    async def titles(
        self, ordinals: Sequence[int], access_ids: Sequence[int], *, are_checked: bool = False
    ) -> dict[int, str]:
        if not ordinals:
            return {}
        if self._resident is None:
            rows = await self._connection.fetch(TITLES, *self._key, access_ids, self._version, list(ordinals))
            return {row["ordinal"]: row["title"] for row in rows}
        shown, places, documents = self._resident.titles_of(
            ordinals, self._version, access_ids, are_corrected=not self._holds_titles
        )
        if self._holds_titles:
            # The header says so; a caller who does not ask for texts next has it compared here.
            if not are_checked and isinstance(self._connection, DeferredConnection):
                await self._connection.confirm()
            named = ((ordinal, documents[place][1]) for ordinal, place in zip(shown, places, strict=True))
            return {ordinal: title for ordinal, title in named if title is not None}
        held = {one: title for one, title in documents.values() if one not in self._titles}
        if are_checked and not self._reads_titles:
            self._told |= held
        elif held:
            rows = await self._connection.fetch(TITLES_OF, *self._key, [DriverUUID(one) for one in held])
            held = {**dict.fromkeys(held), **{row["document_id"].bytes: row["title"] for row in rows}}
            self._titles |= held
        titles = {place: held[one] if one in held else self._titles[one] for place, (one, _) in documents.items()}
        pairs = zip(shown, map(titles.get, places), strict=True)
        return {ordinal: title for ordinal, title in pairs if title is not None}

    async def placements(self, chunk_ids: Sequence[UUID], access_ids: Sequence[int]) -> list[ChunkVersion]:
        rows = await self._connection.fetch(PLACEMENTS, *self._key, list(chunk_ids), access_ids)
        return [value_from(ChunkVersion, row) for row in rows]

    async def visible(self, ordinals: Sequence[int], access_ids: Sequence[int]) -> frozenset[int]:
        """Those of the ordinals whose chunk the snapshot shows to the access sets."""
        rows = await self._connection.fetch(VISIBLE, *self._key, list(ordinals), self._version, access_ids)
        return frozenset(row["ordinal"] for row in rows)

    async def ordinals_matching(self, wanted: DocumentFilter, access_ids: Sequence[int]) -> frozenset[int]:
        newest, access_version, segments = self._state
        versions = (self._version, newest, access_version)
        key = (self._workspace.workspace_id, versions, segments, tuple(access_ids), wanted)
        known = self._cache.get(key)
        if known is not None:
            return known
        statement, arguments = matching_statement(wanted)
        rows = await self._connection.fetch(statement, *self._key, access_ids, self._version, *arguments)
        found = frozenset(row["ordinal"] for row in rows)
        self._cache.put(key, found, ORDINAL_BYTES * (len(found) + 16))
        return found

    async def revision_spans(self, requests: Sequence[SpanRequest]) -> list[RevisionSpan | None]:
        if not requests:
            return []
        rows = await self._connection.fetch(
            REVISION_SPANS,
            *self._key,
            [request.revision_id for request in requests],
            [request.start for request in requests],
            [request.end for request in requests],
        )
        spans: list[RevisionSpan | None] = [None] * len(requests)
        for row in rows:
            first, last = (
                None if place is None else row["page_numbers"][place - 1]
                for place in (row["page_place"], row["last_page_place"])
            )
            spans[row["place"] - 1] = RevisionSpan(
                row["text"],
                first,
                row["created_at"],
                row["web_origin"],
                date.fromisoformat(row["published"]) if row["published"] else None,
                is_recognised(row["recognised_pages"], first, last, is_of_revision=bool(row["is_of_revision"])),
                row["parser_version"],
            )
        return spans

    async def layout(self, document_id: UUID, access_ids: Sequence[int]) -> TextLayout | None:
        rows = await self._connection.fetch(LAYOUT, *self._key, access_ids, self._version, document_id)
        if not rows or not rows[0]["are_readable"]:
            return None
        row = rows[0]
        spans = zip(row["page_numbers"], row["page_starts"], row["page_ends"], strict=True)
        sections = zip(row["heading_paths"], row["starts"], strict=True)
        return TextLayout(
            row["revision_id"],
            row["characters"],
            tuple(PageSpan(*span) for span in spans),
            outline_of((tuple(path), start) for path, start in sections),
        )

    async def find_documents(self, name: str, access_ids: Sequence[int], limit: int) -> list[Document]:
        rows = await self._connection.fetch(FIND_DOCUMENTS, *self._key, access_ids, name, limit)
        return [document_from(self._workspace, row) for row in rows]

    async def _chunks(self, statement: str, access_ids: Sequence[int], *asked: Sequence[object]) -> list[Chunk]:
        """The readable chunks among the asked, in their order; `asked` are columns of equal length."""
        if not asked[0]:
            return []
        rows = await self._connection.fetch(statement, *self._key, access_ids, self._version, *asked)
        return [value_from(Chunk, row) for row in rows]
