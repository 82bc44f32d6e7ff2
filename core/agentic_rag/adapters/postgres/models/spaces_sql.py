"""SQL of embedding spaces. $1 organisation, $2 workspace, $3 space unless said otherwise."""

from __future__ import annotations

from agentic_rag.adapters.postgres.session.version_times import noting

# Taken before a space's row changes; publishes, erasures and other switches wait for it.
LOCK_WORKSPACE = """
SELECT active_space FROM rag_workspaces WHERE org_id = $1 AND workspace_id = $2 FOR NO KEY UPDATE
"""

# Every stored row counts: rows past the history are purged.
ALL = """
SELECT s.space_id, s.provider, s.model, s.dimensions, s.precision, s.state, s.since, s.drop_after, s.verdict,
       (SELECT count(*) FROM rag_embeddings e
        WHERE e.org_id = $1 AND e.workspace_id = $2 AND e.space_id = s.space_id) AS done,
       (SELECT count(DISTINCT ordinal) FROM rag_chunks c WHERE c.org_id = $1 AND c.workspace_id = $2) AS total
FROM rag_embedding_spaces s
WHERE s.org_id = $1 AND s.workspace_id = $2
ORDER BY s.space_id
"""

# $4: the recall gate.
BEGIN = """
UPDATE rag_embedding_spaces
SET state = 'FILLING', since = CASE WHEN state = 'FILLING' THEN since ELSE now() END, drop_after = NULL, gate = $4,
    verdict = NULL
WHERE org_id = $1 AND workspace_id = $2 AND space_id = $3
"""

GATE = "SELECT gate FROM rag_embedding_spaces WHERE org_id = $1 AND workspace_id = $2 AND space_id = $3"

# DISTINCT: a chunk whose text moved has several rows of one ordinal. $4: the last ordinal of the previous page; $5: the
# limit.
MISSING = """
SELECT DISTINCT ON (c.ordinal) c.ordinal, c.text
FROM rag_chunks c
WHERE c.org_id = $1 AND c.workspace_id = $2 AND c.ordinal > $4
  AND NOT EXISTS (
      SELECT FROM rag_embeddings e
      WHERE e.org_id = $1 AND e.workspace_id = $2 AND e.space_id = $3 AND e.ordinal = c.ordinal
  )
ORDER BY c.ordinal
LIMIT $5
"""

STATE = """
SELECT state, dimensions FROM rag_embedding_spaces WHERE org_id = $1 AND workspace_id = $2 AND space_id = $3
FOR NO KEY UPDATE
"""

# A vector is visible while any row of its chunk is. $4 ordinals, $5 vectors.
FILL = """
INSERT INTO rag_embeddings (org_id, workspace_id, space_id, ordinal, access_id, visible_from, visible_to, v)
SELECT $1, $2, $3, n.ordinal, c.access_id, c.visible_from, c.visible_to, n.v
FROM unnest($4::integer[], $5::halfvec[]) AS n(ordinal, v)
CROSS JOIN LATERAL (
    SELECT min(access_id) AS access_id, min(visible_from) AS visible_from,
           CASE WHEN bool_or(visible_to IS NULL) THEN NULL ELSE max(visible_to) END AS visible_to
    FROM rag_chunks
    WHERE org_id = $1 AND workspace_id = $2 AND ordinal = n.ordinal
    HAVING count(*) > 0
) c
ON CONFLICT DO NOTHING
"""

# $4: the grace period of the space that was active until now.
RETIRE = """
UPDATE rag_embedding_spaces SET state = 'RETIRED', since = now(), drop_after = now() + $4
WHERE org_id = $1 AND workspace_id = $2 AND state = 'ACTIVE' AND space_id <> $3
"""

ACTIVATE = """
UPDATE rag_embedding_spaces SET state = 'ACTIVE', since = now(), drop_after = NULL, gate = NULL
WHERE org_id = $1 AND workspace_id = $2 AND space_id = $3
"""

# A switch does not change the graph, but a graph outside Postgres ($4) moves its own watermark.
NEXT_VERSION = noting("""
UPDATE rag_workspaces
SET corpus_version = corpus_version + 1, active_space = $3,
    graph_version = CASE WHEN $4 THEN graph_version ELSE corpus_version + 1 END
WHERE org_id = $1 AND workspace_id = $2
RETURNING corpus_version
""")

RECORD_VERDICT = """
UPDATE rag_embedding_spaces SET verdict = $4 WHERE org_id = $1 AND workspace_id = $2 AND space_id = $3
"""

CALIBRATION = "SELECT calibration FROM rag_embedding_spaces WHERE org_id = $1 AND workspace_id = $2 AND space_id = $3"

# $4: the pooled threshold in force, $5: the whole record.
SET_CALIBRATION = """
UPDATE rag_embedding_spaces SET support_threshold = $4, calibration = $5
WHERE org_id = $1 AND workspace_id = $2 AND space_id = $3
"""

ABANDON = """
UPDATE rag_embedding_spaces SET state = 'ABANDONED', since = now(), drop_after = now() + $4, gate = NULL
WHERE org_id = $1 AND workspace_id = $2 AND space_id = $3 AND state = 'FILLING'
"""

# $1 organisation, $2 workspace.
EXPIRED = """
SELECT space_id FROM rag_embedding_spaces
WHERE org_id = $1 AND workspace_id = $2 AND state IN ('RETIRED', 'ABANDONED') AND drop_after <= now()
ORDER BY space_id
FOR UPDATE
"""

# $4: the limit.
DROP_VECTORS = """
DELETE FROM rag_embeddings
WHERE org_id = $1 AND workspace_id = $2 AND space_id = $3 AND ordinal IN (
    SELECT ordinal FROM rag_embeddings
    WHERE org_id = $1 AND workspace_id = $2 AND space_id = $3
    LIMIT $4
)
"""

DROP_STAGED_VECTORS = """
UPDATE rag_staged_chunks SET space_id = NULL, vector = NULL
WHERE org_id = $1 AND workspace_id = $2 AND space_id = $3
"""

DROP_SPACE = "DELETE FROM rag_embedding_spaces WHERE org_id = $1 AND workspace_id = $2 AND space_id = $3"
