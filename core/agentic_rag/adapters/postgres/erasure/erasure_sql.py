"""The statements of an erasure. $1 organisation, $2 workspace, $3 document unless said otherwise."""

from __future__ import annotations

from agentic_rag.adapters.postgres.answering.stored_answers import ANSWER_COLUMNS

LOCK_DOCUMENT = """
SELECT access_id FROM rag_documents WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3 FOR UPDATE
"""

LOCK_JOB = """
SELECT fence FROM rag_jobs
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND state = 'RUNNING'
FOR NO KEY UPDATE
"""

# Cancels unfinished ingestion, which raises its fence. Jobs lose their arguments, their error text, and their key,
# which names the hash of the content.
# $4: the erasing job.
CANCEL_JOBS = """
WITH jobs AS (
    UPDATE rag_jobs
    SET key = document_id::text,
        state = CASE WHEN state IN ('QUEUED', 'RUNNING') THEN 'CANCELLED' ELSE state END,
        fence = fence + 1, lease_until = NULL, leased_by = NULL, updated_at = now(),
        arguments = '{}', error_message = CASE WHEN error_message IS NOT NULL THEN 'source erased' END
    WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3 AND job_id IS DISTINCT FROM $4
      AND NOT (kind <> 'ingest' AND state IN ('QUEUED', 'RUNNING'))
    RETURNING job_id
), attempts AS (
    -- One that still runs has lost its job, as when a lease lapses.
    UPDATE rag_job_attempts a
    SET error_chain = '{}', ended_at = coalesce(ended_at, clock_timestamp()), outcome = coalesce(outcome, 'LAPSED'),
        error_code = CASE WHEN ended_at IS NULL THEN 'LEASE_LOST' ELSE error_code END
    FROM jobs
    WHERE a.org_id = $1 AND a.workspace_id = $2 AND a.job_id = jobs.job_id
)
SELECT count(*) FROM jobs
"""

ORDINALS = """
SELECT DISTINCT ordinal FROM rag_chunks WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3 ORDER BY ordinal
"""

# Chunks that retention purged. Their rows are gone, but segments hold their postings until compaction, and the document
# they belonged to is no longer known. $1 organisation, $2 workspace.
PURGED = """
SELECT c.ordinal
FROM rag_closed_ordinals c
JOIN rag_workspaces w USING (org_id, workspace_id)
WHERE c.org_id = $1 AND c.workspace_id = $2 AND c.closed_at <= w.oldest_version
"""

# $1 organisation, $2 workspace, $3 ordinals.
DROP_CLOSED = (
    "DELETE FROM rag_closed_ordinals WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($3::integer[])"
)

ENTITIES = """
SELECT DISTINCT entity_id FROM rag_mentions
WHERE org_id = $1 AND workspace_id = $2 AND ordinal IN (
    SELECT ordinal FROM rag_chunks WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
)
"""

# $4: the document's ordinals. All cached answers of the workspace go, because a cache entry does not say which
# documents it used.
DROP_ROWS = """
WITH mentions AS (
    DELETE FROM rag_mentions WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($4::integer[]) RETURNING 1
), vectors AS (
    DELETE FROM rag_embeddings
    WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($4)
      AND space_id IN (SELECT space_id FROM rag_embedding_spaces WHERE org_id = $1 AND workspace_id = $2)
    RETURNING 1
), chunks AS (
    DELETE FROM rag_chunks WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3 RETURNING 1
), closed AS (
    DELETE FROM rag_closed_ordinals WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($4)
), moved AS (
    DELETE FROM rag_moved_ordinals WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($4)
), staged AS (
    DELETE FROM rag_staged_chunks WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3 RETURNING 1
), cached AS (
    DELETE FROM rag_cache_entries WHERE org_id = $1 AND workspace_id = $2 RETURNING 1
)
SELECT (SELECT count(*) FROM mentions) AS mentions,
       (SELECT count(*) FROM vectors) AS vectors,
       (SELECT count(*) FROM chunks) AS chunks,
       (SELECT count(*) FROM staged) AS staged,
       (SELECT count(*) FROM cached) AS cache_entries
"""

# $3: entities that the document mentioned.
DROP_ENTITIES = """
DELETE FROM rag_entities e
WHERE e.org_id = $1 AND e.workspace_id = $2 AND e.entity_id = ANY ($3::uuid[])
  AND NOT EXISTS (
      SELECT FROM rag_mentions m WHERE m.org_id = $1 AND m.workspace_id = $2 AND m.entity_id = e.entity_id
  )
"""

# $4: entities that the document mentioned. The next document that mentions an entity becomes its source.
REHOME_ENTITIES = """
UPDATE rag_entities e
SET source_id = (
    SELECT m.document_id FROM rag_mentions m
    WHERE m.org_id = $1 AND m.workspace_id = $2 AND m.entity_id = e.entity_id
    ORDER BY m.ordinal LIMIT 1
)
WHERE e.org_id = $1 AND e.workspace_id = $2 AND e.entity_id = ANY ($4::uuid[]) AND e.source_id = $3
RETURNING entity_id
"""

# $3: entities. The first passage that mentions each.
FIRST_MENTIONS = """
SELECT m.entity_ids, c.text, c.heading_path, coalesce(r.title, d.title) AS title
FROM (
    SELECT ordinal, array_agg(entity_id) AS entity_ids
    FROM (
        SELECT entity_id, min(ordinal) AS ordinal
        FROM rag_mentions
        WHERE org_id = $1 AND workspace_id = $2 AND entity_id = ANY ($3::uuid[])
        GROUP BY entity_id
    ) first
    GROUP BY ordinal
) m
CROSS JOIN LATERAL (
    SELECT document_id, revision_id, text, heading_path
    FROM rag_chunks
    WHERE org_id = $1 AND workspace_id = $2 AND ordinal = m.ordinal
    ORDER BY visible_from LIMIT 1
) c
JOIN rag_documents d ON d.org_id = $1 AND d.workspace_id = $2 AND d.document_id = c.document_id
LEFT JOIN rag_revisions r ON r.org_id = $1 AND r.workspace_id = $2 AND r.revision_id = c.revision_id
"""

# $3: entities, $4: names, $5: kinds.
RENAME_ENTITIES = """
UPDATE rag_entities e SET name = n.name, kind = n.kind
FROM unnest($3::uuid[], $4::text[], $5::text[]) AS n(entity_id, name, kind)
WHERE e.org_id = $1 AND e.workspace_id = $2 AND e.entity_id = n.entity_id
"""

DROP_REVISIONS = "DELETE FROM rag_revisions WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3"

DROP_DOCUMENT = "DELETE FROM rag_documents WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3"

# Taken last: transactions that store runs hold it shared and wait for no other lock (`runs.SHARE_RUNS`). $1 workspace.
LOCK_RUNS = "SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, 1))"

CITING_RUNS = f"""
SELECT run_id, {ANSWER_COLUMNS}
FROM rag_runs
WHERE org_id = $1 AND workspace_id = $2 AND run_id IN (SELECT rag_citing_runs($2, $3))
ORDER BY run_id
FOR NO KEY UPDATE
"""  # noqa: S608 - a constant list of columns

# $1 organisation, $2 workspace, $3 run, $4 answer.
REDACT_RUN = """
UPDATE rag_runs SET stored_answer = $4, answer = '{}' WHERE org_id = $1 AND workspace_id = $2 AND run_id = $3
"""

# $1 organisation, $2 workspace, $3 runs.
DROP_RUNS = "DELETE FROM rag_runs WHERE org_id = $1 AND workspace_id = $2 AND run_id = ANY ($3::uuid[])"

# For a graph outside Postgres. $4 version.
ADD_GRAPH_ERASURE = """
INSERT INTO rag_graph_erasures (org_id, workspace_id, document_id, version) VALUES ($1, $2, $3, $4)
ON CONFLICT (org_id, workspace_id, document_id) DO UPDATE SET version = excluded.version
"""

ADD_TOMBSTONE = """
INSERT INTO rag_tombstones (org_id, workspace_id, document_id, version, certificate, access_id)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (org_id, workspace_id, document_id) DO UPDATE
SET erased_at = now(), version = excluded.version, certificate = excluded.certificate, access_id = excluded.access_id
"""
