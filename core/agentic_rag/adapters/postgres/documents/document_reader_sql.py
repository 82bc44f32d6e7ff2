"""Statements of the reads of documents in one snapshot."""

from __future__ import annotations

from agentic_rag.adapters.postgres.documents.document_rows import DOCUMENT_COLUMNS
from agentic_rag.adapters.postgres.session.snapshot_header import TOLD

_CHUNK = """
    c.ordinal, c.chunk_id, c.document_id, c.revision_id, c.index, c.text, c.char_start AS start, c.char_end AS end,
    c.page, c.line_start, c.line_end, c.heading_path, d.title AS document_title, d.source_path, d.url, d.media_type,
    coalesce(d.provenance ->> 'recognised_pages', '') <> '' OR d.revision_id IS DISTINCT FROM c.revision_id
        AS has_recognised_pages
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
    SELECT title, source_path, url, media_type, provenance, revision_id FROM rag_documents
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
_TEXTS_WITH_BESIDE = """
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
    SELECT title, source_path, url, media_type, provenance, revision_id FROM rag_documents
    WHERE org_id = $1 AND workspace_id = $2 AND document_id = c.document_id
    OFFSET 0
) d
ORDER BY is_beside, place
""".format(  # noqa: S608 - constants
    asked=_ASKED_CHUNKS.format(columns=f"asked.place, {_CHUNK}", **_ORDINALS), columns=_CHUNK, count=READ_BESIDE
)

# $6: entities whose names are asked for next. $7: titles that were told from memory, by the document's id; those whose
# title is another come back. Both stand in the first row only. The driver looks at each element of an array, and at
# none of one JSON value.
_CHECKED = """
WITH texts AS MATERIALIZED ({texts}), named AS MATERIALIZED (
    SELECT array_agg(entity_id) AS entity_ids, array_agg(name) AS names
    FROM rag_entities WHERE org_id = $1 AND workspace_id = $2 AND entity_id = ANY ($6::uuid[])
), retitled AS MATERIALIZED (
    SELECT array_agg(told.document_id) AS retitled_ids, array_agg(d.title) AS titles
    FROM (SELECT key::uuid AS document_id, value AS title FROM jsonb_each_text($7::jsonb)) AS told
    LEFT JOIN LATERAL (
        SELECT title FROM rag_documents
        WHERE org_id = $1 AND workspace_id = $2 AND document_id = told.document_id
        OFFSET 0
    ) d ON true
    WHERE d.title IS DISTINCT FROM told.title
), ordered AS (
    SELECT texts.*, row_number() OVER (ORDER BY is_beside, place) AS rank FROM texts
)
SELECT ordered.*, first.*{told}
FROM (SELECT) AS always
LEFT JOIN ordered ON true
LEFT JOIN (SELECT * FROM named CROSS JOIN retitled) AS first ON ordered.rank IS NULL OR ordered.rank = 1
ORDER BY ordered.rank
"""

_TEXTS_ALONE = _ASKED_CHUNKS.format(columns=f"asked.place, {_CHUNK}, false AS is_beside", **_ORDINALS)

# With the header of the snapshot, as text in each row.
_HEADER_TOLD = f", ({TOLD}) AS told"

TEXTS_CHECKED = _CHECKED.format(texts=_TEXTS_ALONE, told="")
TEXTS_TOLD = _CHECKED.format(texts=_TEXTS_ALONE, told=_HEADER_TOLD)
TEXTS_WITH_BESIDE_CHECKED = _CHECKED.format(texts=_TEXTS_WITH_BESIDE, told="")
TEXTS_WITH_BESIDE_TOLD = _CHECKED.format(texts=_TEXTS_WITH_BESIDE, told=_HEADER_TOLD)

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
       nullif(width_bucket(greatest(asked.last - 1, asked.first), r.page_starts), 0) AS last_page_place,
       r.page_numbers,
       CASE WHEN d.revision_id = r.revision_id THEN coalesce((d.provenance ->> 'fetched_at')::timestamptz, r.created_at)
            ELSE r.created_at END AS created_at,
       d.provenance ->> 'web_origin' AS web_origin, r.parser_version,
       CASE WHEN d.revision_id = r.revision_id THEN d.provenance ->> 'published' END AS published,
       CASE WHEN d.revision_id = r.revision_id THEN d.provenance ->> 'recognised_pages'
            ELSE coalesce(r.recognised_pages, d.provenance ->> 'recognised_pages') END AS recognised_pages,
       d.revision_id IS NOT DISTINCT FROM r.revision_id OR r.recognised_pages IS NOT NULL AS is_of_revision
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
