"""SQL of publishing. Rows are passed as columns: COPY is refused on tables with row level security."""

from __future__ import annotations

from agentic_rag.adapters.postgres.documents.document_rows import HEADING_SEPARATOR
from agentic_rag.adapters.postgres.session.version_times import noting

SPACE = """
SELECT w.active_space, s.dimensions
FROM rag_workspaces w
LEFT JOIN rag_embedding_spaces s
  ON s.org_id = w.org_id AND s.workspace_id = w.workspace_id AND s.space_id = $3
WHERE w.org_id = $1 AND w.workspace_id = $2
"""

LOCK_DOCUMENTS = """
SELECT document_id, revision_id, access_id
FROM rag_documents
WHERE org_id = $1 AND workspace_id = $2 AND document_id = ANY ($3::uuid[])
ORDER BY document_id
FOR NO KEY UPDATE
"""

LOCK_JOBS = """
SELECT job_id, fence
FROM rag_jobs
WHERE org_id = $1 AND workspace_id = $2 AND job_id = ANY ($3::uuid[]) AND state = 'RUNNING'
ORDER BY job_id
FOR NO KEY UPDATE
"""

# Locked, because retention must not purge a revision that is about to be published again.
HOLD_REVISIONS = """
SELECT revision_id
FROM rag_revisions
WHERE org_id = $1 AND workspace_id = $2 AND revision_id = ANY ($3::uuid[])
FOR KEY SHARE
"""

# The embedded graph is published in the same transaction, so its watermark is the version. A graph outside Postgres
# ($5) moves its own watermark. Without one `graph_home` is cleared, so a graph that is connected again is filled anew.
NEXT_VERSION = noting(
    """
UPDATE rag_workspaces
SET corpus_version = corpus_version + 1, next_ordinal = next_ordinal + $3,
    graph_version = CASE WHEN $5 THEN graph_version ELSE corpus_version + 1 END,
    graph_home = CASE WHEN $5 THEN graph_home ELSE '' END,
    active_space = coalesce(active_space, $4)
WHERE org_id = $1 AND workspace_id = $2 AND (active_space IS NULL OR active_space = $4)
RETURNING corpus_version AS version, next_ordinal - $3 AS first_ordinal
""",
    "version",
)

# $4: removed ordinals; $5: ordinals whose chunk moved and gets a new row.
CLOSE = """
WITH chunks AS (
    UPDATE rag_chunks SET visible_to = $3
    WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($4::integer[] || $5::integer[]) AND visible_to IS NULL
), vectors AS (
    UPDATE rag_embeddings SET visible_to = $3
    WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($4) AND visible_to IS NULL
      AND space_id IN (SELECT space_id FROM rag_embedding_spaces WHERE org_id = $1 AND workspace_id = $2)
), mentions AS (
    UPDATE rag_mentions SET visible_to = $3
    WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($4) AND visible_to IS NULL
)
INSERT INTO rag_closed_ordinals (org_id, workspace_id, ordinal, closed_at)
SELECT $1, $2, unnest($4), $3
"""

ADD_CHUNKS = f"""
INSERT INTO rag_chunks (org_id, workspace_id, visible_from, ordinal, document_id, revision_id, access_id, chunk_id,
                        index, char_start, char_end, page, line_start, line_end, heading_path, content_hash, text)
SELECT $1, $2, $3, c.ordinal, c.document_id, c.revision_id, c.access_id, c.chunk_id, c.index, c.char_start, c.char_end,
       c.page, c.line_start, c.line_end, string_to_array(c.headings, '{HEADING_SEPARATOR}'), c.content_hash, c.text
FROM unnest($4::integer[], $5::uuid[], $6::uuid[], $7::integer[], $8::uuid[], $9::integer[], $10::integer[],
            $11::integer[], $12::integer[], $13::integer[], $14::integer[], $15::text[], $16::bytea[], $17::text[])
    AS c(ordinal, document_id, revision_id, access_id, chunk_id, index, char_start, char_end, page, line_start,
         line_end, headings, content_hash, text)
"""  # noqa: S608 - a constant separator

ADD_EMBEDDINGS = """
INSERT INTO rag_embeddings (org_id, workspace_id, visible_from, space_id, ordinal, access_id, v)
SELECT $1, $2, $3, $4, e.ordinal, e.access_id, e.v
FROM unnest($5::integer[], $6::integer[], $7::halfvec[]) AS e(ordinal, access_id, v)
"""

ADD_ENTITIES = """
INSERT INTO rag_entities (org_id, workspace_id, entity_id, key, name, kind, source_id)
SELECT $1, $2, e.entity_id, e.key, e.name, e.kind, e.source_id
FROM unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::uuid[]) AS e(entity_id, key, name, kind, source_id)
ON CONFLICT (org_id, workspace_id, entity_id) DO NOTHING
"""

# The driver's cost grows with the number of array elements. So the relations of all rows share one flat array each ($9,
# $10), of which each row takes a slice, and per-chunk values are sent once per chunk ($12, $13; $11 is the first
# ordinal).
ADD_MENTIONS = """
INSERT INTO rag_mentions (org_id, workspace_id, visible_from, entity_id, ordinal, document_id, count, access_id,
                          related, weights)
SELECT $1, $2, $3, m.entity_id, $11::integer + m.place, ($12::uuid[])[m.place + 1], m.count,
       ($13::integer[])[m.place + 1], ($9::uuid[])[m.first:m.last], ($10::integer[])[m.first:m.last]
FROM unnest($4::uuid[], $5::integer[], $6::integer[], $7::integer[], $8::integer[])
    AS m(entity_id, place, count, first, last)
"""

# A text that returns to an earlier state revives its old revision.
SET_READY = """
WITH published AS (
    SELECT *
    FROM unnest($4::uuid[], $5::uuid[], $6::bytea[], $7::integer[], $8::text[], $9::text[], $10::uuid[], $11::text[],
                $12::text[])
        AS p(document_id, revision_id, content_hash, chunk_count, title, media_type, superseded, provenance, metadata)
), changed AS (
    -- Two plain rows instead of `IN (revision_id, superseded)`, which can only be joined row by row.
    SELECT revision_id, true AS is_published FROM published
    UNION ALL
    SELECT superseded, false FROM published WHERE superseded <> revision_id
), revisions AS (
    UPDATE rag_revisions r
    SET published_from = CASE WHEN c.is_published AND (r.published_from IS NULL OR r.published_to IS NOT NULL) THEN $3
                              ELSE r.published_from END,
        published_to = CASE WHEN c.is_published THEN NULL ELSE $3 END,
        superseded_at = CASE WHEN c.is_published THEN NULL ELSE clock_timestamp() END
    FROM changed c
    WHERE r.org_id = $1 AND r.workspace_id = $2 AND r.revision_id = c.revision_id
), staged AS (
    DELETE FROM rag_staged_chunks
    WHERE org_id = $1 AND workspace_id = $2 AND revision_id = ANY ($5)
)
UPDATE rag_documents d
SET status = 'READY', revision_id = p.revision_id, content_hash = p.content_hash, corpus_version = $3,
    chunk_count = p.chunk_count, chunks_done = p.chunk_count,
    title = coalesce(d.given_metadata ->> 'title', p.title, d.title), found_metadata = p.metadata::jsonb,
    media_type = coalesce(p.media_type, d.media_type), provenance = d.provenance || p.provenance::jsonb,
    error_code = NULL, error_message = NULL, error_attempts = 0, error_retryable = false, updated_at = now()
FROM published p
WHERE d.org_id = $1 AND d.workspace_id = $2 AND d.document_id = p.document_id
"""
