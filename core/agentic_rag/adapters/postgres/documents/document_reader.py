"""`documents.ports.DocumentReader` on Postgres: reads of one snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from uuid import UUID

from asyncpg.pgproto.pgproto import UUID as DriverUUID

from agentic_rag.adapters.postgres.documents.document_rows import DOCUMENT_COLUMNS, document_from
from agentic_rag.adapters.postgres.documents.filter_sql import matching_statement
from agentic_rag.adapters.postgres.retrieval.resident import ResidentCorpus
from agentic_rag.adapters.postgres.retrieval.segments import ORDINAL_BYTES, SegmentCache
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, value_from
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
from agentic_rag.tenancy.principals import WorkspaceRef

_CHUNK = """
    c.ordinal, c.chunk_id, c.document_id, c.revision_id, c.index, c.text, c.char_start AS start, c.char_end AS end,
    c.page, c.line_start, c.line_end, c.heading_path, d.title AS document_title, d.source_path, d.url, d.media_type
"""

READ_BESIDE = 3
"""Of so many chunks, the first that are asked for, an answer asks next for the ones beside them
(`answering.evidence.expand_context`), so that these are read along.
"""

# Laterals keep both look-ups by key while a new table has no statistics.
_ASKED_CHUNKS = """
SELECT {columns}
FROM {asked}
CROSS JOIN LATERAL (
    SELECT * FROM rag_chunks
    WHERE org_id = $1 AND workspace_id = $2 AND {chosen}
      AND access_id = ANY ($3::integer[]) AND visible_from <= $4 AND (visible_to IS NULL OR visible_to > $4)
    OFFSET 0
) c
CROSS JOIN LATERAL (
    SELECT title, source_path, url, media_type FROM rag_documents
    WHERE org_id = $1 AND workspace_id = $2 AND document_id = c.document_id
    OFFSET 0
) d
ORDER BY asked.place
"""

_ORDINALS = {
    "asked": "unnest($5::integer[]) WITH ORDINALITY AS asked(ordinal, place)",
    "chosen": "ordinal = asked.ordinal",
}

TEXTS = _ASKED_CHUNKS.format(columns=_CHUNK, **_ORDINALS)

# {count}: of how many of the first that are found.
TEXTS_WITH_BESIDE = """
WITH found AS MATERIALIZED ({asked}), first AS (
    SELECT document_id, revision_id, index FROM found ORDER BY place LIMIT {count}
)
SELECT found.*, false AS is_beside FROM found
UNION ALL
SELECT 0 AS place, {columns}, true AS is_beside
FROM first
CROSS JOIN LATERAL (
    SELECT * FROM rag_chunks
    WHERE org_id = $1 AND workspace_id = $2 AND document_id = first.document_id AND revision_id = first.revision_id
      AND index IN (first.index - 1, first.index + 1)
      AND access_id = ANY ($3::integer[]) AND visible_from <= $4 AND (visible_to IS NULL OR visible_to > $4)
    OFFSET 0
) c
CROSS JOIN LATERAL (
    SELECT title, source_path, url, media_type FROM rag_documents
    WHERE org_id = $1 AND workspace_id = $2 AND document_id = c.document_id
    OFFSET 0
) d
ORDER BY is_beside, place
""".format(  # noqa: S608 - constants
    asked=_ASKED_CHUNKS.format(columns=f"asked.place, {_CHUNK}", **_ORDINALS), columns=_CHUNK, count=READ_BESIDE
)

TITLES = _ASKED_CHUNKS.format(columns="c.ordinal, d.title", **_ORDINALS)

TITLES_OF = """
SELECT document_id, title FROM rag_documents WHERE org_id = $1 AND workspace_id = $2 AND document_id = ANY ($3::uuid[])
"""

# A document has few chunks: they are read by the document's index, whatever condition chooses among them.
CITED = _ASKED_CHUNKS.format(
    columns=_CHUNK,
    asked="unnest($5::uuid[], $6::uuid[]) WITH ORDINALITY AS asked(document_id, chunk_id, place)",
    chosen="document_id = asked.document_id AND chunk_id = asked.chunk_id",
)

PLACED = _ASKED_CHUNKS.format(
    columns=_CHUNK,
    asked="unnest($5::uuid[], $6::uuid[], $7::integer[]) WITH ORDINALITY AS asked(document_id, revision_id, at, place)",
    chosen="document_id = asked.document_id AND revision_id = asked.revision_id AND index = asked.at",
)

VISIBLE = """
SELECT c.ordinal
FROM unnest($3::integer[]) AS asked(ordinal)
CROSS JOIN LATERAL (
    SELECT ordinal FROM rag_chunks
    WHERE org_id = $1 AND workspace_id = $2 AND ordinal = asked.ordinal
      AND visible_from <= $4 AND (visible_to IS NULL OR visible_to > $4) AND access_id = ANY ($5::integer[])
    OFFSET 0
) c
"""

PLACEMENTS = """
SELECT c.chunk_id, c.ordinal, c.document_id, d.title AS document_title, c.visible_from, c.visible_to
FROM rag_chunks c
JOIN rag_documents d
  ON d.org_id = c.org_id AND d.workspace_id = c.workspace_id AND d.document_id = c.document_id
WHERE c.org_id = $1 AND c.workspace_id = $2 AND c.chunk_id = ANY ($3::uuid[]) AND c.access_id = ANY ($4::integer[])
ORDER BY c.ordinal, c.visible_from
"""

# `substr` counts characters from the start of a text: of a long one that is in pieces only those that the span lies in
# are read. The page of a span is the last one that starts at or before its first character.
REVISION_SPANS = """
SELECT asked.place,
       coalesce(
           (SELECT substr(string_agg(p.text, '' ORDER BY p.start), asked.first - min(p.start) + 1,
                          greatest(asked.last - asked.first, 0))
            FROM rag_text_pieces p
            WHERE p.org_id = $1 AND p.workspace_id = $2 AND p.revision_id = asked.revision_id
              AND p.start >= (
                  SELECT max(f.start) FROM rag_text_pieces f
                  WHERE f.org_id = $1 AND f.workspace_id = $2 AND f.revision_id = asked.revision_id
                    AND f.start <= greatest(asked.first, 0)
              )
              AND p.start < greatest(asked.last, asked.first + 1)),
           substr(r.text, asked.first + 1, greatest(asked.last - asked.first, 0))
       ) AS text,
       nullif(width_bucket(asked.first, r.page_starts), 0) AS page_place,
       r.page_numbers,
       CASE WHEN d.revision_id = r.revision_id THEN coalesce((d.provenance ->> 'fetched_at')::timestamptz, r.created_at)
            ELSE r.created_at END AS created_at,
       d.provenance ->> 'web_origin' AS web_origin,
       CASE WHEN d.revision_id = r.revision_id THEN d.provenance ->> 'published' END AS published
FROM unnest($3::uuid[], $4::integer[], $5::integer[]) WITH ORDINALITY AS asked(revision_id, first, last, place)
JOIN rag_revisions r ON r.org_id = $1 AND r.workspace_id = $2 AND r.revision_id = asked.revision_id
JOIN rag_documents d ON d.org_id = $1 AND d.workspace_id = $2 AND d.document_id = r.document_id
"""

LAYOUT = """
SELECT r.revision_id,
       coalesce(
           (SELECT p.start + length(p.text) FROM rag_text_pieces p
            WHERE p.org_id = $1 AND p.workspace_id = $2 AND p.revision_id = r.revision_id
            ORDER BY p.start DESC LIMIT 1),
           length(r.text)
       ) AS characters,
       r.page_numbers, r.page_starts, r.page_ends,
       c.heading_paths, c.starts, c.are_readable
FROM rag_revisions r
CROSS JOIN LATERAL (
    SELECT jsonb_agg(to_jsonb(heading_path) ORDER BY index) AS heading_paths,
           array_agg(char_start ORDER BY index) AS starts,
           bool_and(access_id = ANY ($3::integer[])) AS are_readable
    FROM rag_chunks
    WHERE org_id = $1 AND workspace_id = $2 AND document_id = $5
      AND visible_from <= $4 AND (visible_to IS NULL OR visible_to > $4)
) c
WHERE r.org_id = $1 AND r.workspace_id = $2 AND r.document_id = $5
  AND r.published_from <= $4 AND (r.published_to IS NULL OR r.published_to > $4)
"""

FIND_DOCUMENTS = f"""
SELECT {DOCUMENT_COLUMNS}
FROM rag_documents
WHERE org_id = $1 AND workspace_id = $2 AND status = 'READY' AND access_id = ANY ($3::integer[])
  AND (strpos(lower(title), lower($4)) > 0 OR strpos(lower(file_name), lower($4)) > 0)
ORDER BY (lower(title) = lower($4) OR lower(file_name) = lower($4)) DESC, source_path
LIMIT $5
"""  # noqa: S608 - a constant list of columns


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
    ) -> None:
        """`state`: the newest corpus version, the access version and the segments."""
        self._resident = resident
        self._cache = cache.matching
        self._state = state
        self._connection = connection
        self._workspace = workspace
        self._key = workspace.key
        self._version = version
        self._titles: dict[bytes, str | None] = {}
        """By the bytes of the document's id; None for one that is gone."""
        self._beside: dict[tuple[tuple[int, ...], ChunkPosition], Chunk | None] = {}
        """Chunks read along, by access sets and position; None where there is none that they may read."""

    async def chunks(
        self, ordinals: Sequence[int], access_ids: Sequence[int], *, with_beside: bool = False
    ) -> list[Chunk]:
        if not with_beside:
            return await self._chunks(TEXTS, access_ids, ordinals)
        if not ordinals:
            return []
        rows = await self._connection.fetch(TEXTS_WITH_BESIDE, *self._key, access_ids, self._version, ordinals)
        found = [value_from(Chunk, row) for row in rows if not row["is_beside"]]
        beside = [value_from(Chunk, row) for row in rows if row["is_beside"]]
        sets = tuple(access_ids)
        for one in found[:READ_BESIDE]:
            for step in (-1, 1):
                self._beside.setdefault((sets, ChunkPosition(one.document_id, one.revision_id, one.index + step)))
        for one in beside:
            self._beside[sets, ChunkPosition(one.document_id, one.revision_id, one.index)] = one
        return found

    async def chunks_by_citation(self, cited: Sequence[CitedPassage], access_ids: Sequence[int]) -> list[Chunk]:
        documents, chunks = [one.document_id for one in cited], [one.chunk_id for one in cited]
        return await self._chunks(CITED, access_ids, documents, chunks)

    async def chunks_at(self, places: Sequence[ChunkPosition], access_ids: Sequence[int]) -> list[Chunk]:
        sets = tuple(access_ids)
        if all((sets, one) in self._beside for one in places):
            return [found for one in places if (found := self._beside[sets, one]) is not None]
        documents, revisions = [one.document_id for one in places], [one.revision_id for one in places]
        return await self._chunks(PLACED, access_ids, documents, revisions, [one.index for one in places])

    async def titles(self, ordinals: Sequence[int], access_ids: Sequence[int]) -> dict[int, str]:
        if not ordinals:
            return {}
        if self._resident is not None:
            shown, documents = self._resident.documents_of(ordinals, self._version, access_ids)
            titles = await self._titles_of(documents)
            pairs = zip(shown, map(titles.get, documents), strict=True)
            return {ordinal: title for ordinal, title in pairs if title is not None}
        rows = await self._connection.fetch(TITLES, *self._key, access_ids, self._version, list(ordinals))
        return {row["ordinal"]: row["title"] for row in rows}

    async def _titles_of(self, documents: Sequence[bytes]) -> Mapping[bytes, str | None]:
        """Titles by the bytes of the document's id, these documents among them."""
        unknown = set(documents) - self._titles.keys()
        if unknown:
            self._titles |= dict.fromkeys(unknown)
            # The driver's own ids are made and compared in C.
            rows = await self._connection.fetch(TITLES_OF, *self._key, [DriverUUID(one) for one in unknown])
            self._titles |= {row["document_id"].bytes: row["title"] for row in rows}
        return self._titles

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
            place = row["page_place"]
            spans[row["place"] - 1] = RevisionSpan(
                row["text"],
                None if place is None else row["page_numbers"][place - 1],
                row["created_at"],
                row["web_origin"],
                date.fromisoformat(row["published"]) if row["published"] else None,
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
