"""SQL of an inspection. $1 organisation, $2 workspace."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agentic_rag.adapters.postgres.retrieval.segments import SEGMENT_COLUMNS
from agentic_rag.operations.findings import CHUNK_ACCESS, MENTION_ACCESS, VECTOR_ACCESS

# What is read of a large workspace is computed anew between two statements.
BE_PATIENT = "SET LOCAL idle_in_transaction_session_timeout = '10min'"

HEAD = """
SELECT w.corpus_version, w.graph_version, s.space_id, s.provider, s.model, s.dimensions, s.precision,
       (SELECT count(*) FROM rag_chunks c
        WHERE c.org_id = w.org_id AND c.workspace_id = w.workspace_id AND c.visible_to IS NULL) AS chunks
FROM rag_workspaces w
LEFT JOIN rag_embedding_spaces s
  ON s.org_id = w.org_id AND s.workspace_id = w.workspace_id AND s.space_id = w.active_space
WHERE w.org_id = $1 AND w.workspace_id = $2
"""

# $3: the last document of the previous page, $4: the limit.
DOCUMENTS = """
SELECT document_id, source_path, title, status, revision_id, chunk_count, content_hash, access_id
FROM rag_documents
WHERE org_id = $1 AND workspace_id = $2 AND document_id > $3
ORDER BY document_id
LIMIT $4
"""

# $3: documents. The title is that of the first revision with the chunk, under which it was analysed.
CHUNKS = """
SELECT c.document_id, c.revision_id, c.ordinal, c.index, c.text, c.char_start AS start, c.char_end AS end,
       c.content_hash, c.heading_path, r.title
FROM rag_chunks c
CROSS JOIN LATERAL (
    SELECT f.revision_id FROM rag_chunks f
    WHERE f.org_id = $1 AND f.workspace_id = $2 AND f.ordinal = c.ordinal
    ORDER BY f.visible_from LIMIT 1
) first
LEFT JOIN rag_revisions r ON r.org_id = $1 AND r.workspace_id = $2 AND r.revision_id = first.revision_id
WHERE c.org_id = $1 AND c.workspace_id = $2 AND c.document_id = ANY ($3::uuid[]) AND c.visible_to IS NULL
ORDER BY c.document_id, c.index
"""

# $3: revisions.
REVISIONS = """
SELECT revision_id, text, text_hash FROM rag_revisions
WHERE org_id = $1 AND workspace_id = $2 AND revision_id = ANY ($3::uuid[])
"""

# $3: ordinals.
VECTORS = """
SELECT e.ordinal, e.v
FROM rag_embeddings e
JOIN rag_workspaces w ON w.org_id = e.org_id AND w.workspace_id = e.workspace_id AND w.active_space = e.space_id
WHERE e.org_id = $1 AND e.workspace_id = $2 AND e.ordinal = ANY ($3::integer[]) AND e.visible_to IS NULL
"""

# $3: ordinals.
MENTIONS = """
SELECT ordinal, entity_id, count FROM rag_mentions
WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($3::integer[]) AND visible_to IS NULL
"""

# $3: ordinals. Vectors of every space, because a space being filled becomes the active one.
ACCESS_COPIES = f"""
SELECT ordinal, '{CHUNK_ACCESS}' AS kind, access_id FROM rag_chunks
WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($3::integer[]) AND visible_to IS NULL
UNION
SELECT ordinal, '{VECTOR_ACCESS}', access_id FROM rag_embeddings
WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($3::integer[]) AND visible_to IS NULL
  AND space_id IN (SELECT space_id FROM rag_embedding_spaces WHERE org_id = $1 AND workspace_id = $2)
UNION
SELECT ordinal, '{MENTION_ACCESS}', access_id FROM rag_mentions
WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($3::integer[]) AND visible_to IS NULL
"""  # noqa: S608 - constant names

SEGMENT_IDS = "SELECT segment_id FROM rag_segments WHERE org_id = $1 AND workspace_id = $2 ORDER BY segment_id"

SEGMENT = f"""
SELECT {SEGMENT_COLUMNS} FROM rag_segments WHERE org_id = $1 AND workspace_id = $2 AND segment_id = $3
"""  # noqa: S608 - a constant list of columns

CLOSED = "SELECT ordinal FROM rag_closed_ordinals WHERE org_id = $1 AND workspace_id = $2"

# $3: the last key of the previous page, $4: the limit.
ORIGINALS = """
SELECT document_id, blob_key AS key, content_hash, size FROM rag_originals
WHERE org_id = $1 AND workspace_id = $2 AND blob_key > $3
ORDER BY blob_key
LIMIT $4
"""

UNFINISHED = """
SELECT kind, count(*) AS jobs FROM rag_jobs
WHERE org_id = $1 AND workspace_id = $2 AND state IN ('QUEUED', 'RUNNING')
GROUP BY kind
ORDER BY kind
"""

DOOMED = "SELECT blob_key FROM rag_doomed_blobs WHERE org_id = $1 AND workspace_id = $2"

# $3: at most this many pairs.
DUPLICATE_CHUNKS = """
WITH shared AS (
    SELECT content_hash, array_agg(DISTINCT document_id ORDER BY document_id) AS documents
    FROM rag_chunks
    WHERE org_id = $1 AND workspace_id = $2 AND visible_to IS NULL
    GROUP BY content_hash
    HAVING count(DISTINCT document_id) > 1
)
SELECT a.source_path AS one, b.source_path AS other, count(*) AS chunks
FROM shared
JOIN rag_documents a ON a.org_id = $1 AND a.workspace_id = $2 AND a.document_id = shared.documents[1]
JOIN rag_documents b ON b.org_id = $1 AND b.workspace_id = $2 AND b.document_id = shared.documents[2]
GROUP BY a.source_path, b.source_path
ORDER BY count(*) DESC, a.source_path, b.source_path
LIMIT $3
"""

# Each selects inconsistent rows, named as text.
ANOMALIES: Mapping[str, str] = MappingProxyType(
    {
        "TEXT_PIECES_DIFFER": """
SELECT 'revision ' || r.revision_id AS subject
FROM (
    SELECT revision_id, string_agg(text, '' ORDER BY start) AS text, bool_and(start = before) AS are_in_place
    FROM (
        SELECT revision_id, start, text, coalesce(
            sum(length(text)) OVER (
                PARTITION BY revision_id ORDER BY start ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 0
        ) AS before
        FROM rag_text_pieces WHERE org_id = $1 AND workspace_id = $2
    ) placed
    GROUP BY revision_id
) p
JOIN rag_revisions r ON r.org_id = $1 AND r.workspace_id = $2 AND r.revision_id = p.revision_id
WHERE p.text <> r.text OR NOT p.are_in_place
""",
        "VECTOR_ORPHAN": """
SELECT 'space ' || e.space_id || ' ordinal ' || e.ordinal AS subject
FROM rag_embeddings e
WHERE e.org_id = $1 AND e.workspace_id = $2 AND NOT EXISTS (
    SELECT FROM rag_chunks c WHERE c.org_id = $1 AND c.workspace_id = $2 AND c.ordinal = e.ordinal
)
""",
        "MENTION_ORPHAN": """
SELECT 'ordinal ' || m.ordinal AS subject
FROM rag_mentions m
WHERE m.org_id = $1 AND m.workspace_id = $2 AND NOT EXISTS (
    SELECT FROM rag_chunks c WHERE c.org_id = $1 AND c.workspace_id = $2 AND c.ordinal = m.ordinal
)
""",
        "ENTITY_MISSING": """
SELECT 'entity ' || m.entity_id AS subject
FROM rag_mentions m
WHERE m.org_id = $1 AND m.workspace_id = $2 AND NOT EXISTS (
    SELECT FROM rag_entities e WHERE e.org_id = $1 AND e.workspace_id = $2 AND e.entity_id = m.entity_id
)
""",
        "ENTITY_ORPHAN": """
SELECT e.name AS subject
FROM rag_entities e
WHERE e.org_id = $1 AND e.workspace_id = $2 AND NOT EXISTS (
    SELECT FROM rag_mentions m WHERE m.org_id = $1 AND m.workspace_id = $2 AND m.entity_id = e.entity_id
)
""",
        "ENTITY_SOURCE_GONE": """
SELECT e.name AS subject
FROM rag_entities e
WHERE e.org_id = $1 AND e.workspace_id = $2 AND NOT EXISTS (
    SELECT FROM rag_documents d WHERE d.org_id = $1 AND d.workspace_id = $2 AND d.document_id = e.source_id
)
""",
        "CLOSED_BUT_VISIBLE": """
SELECT 'ordinal ' || o.ordinal AS subject
FROM rag_closed_ordinals o
WHERE o.org_id = $1 AND o.workspace_id = $2 AND EXISTS (
    SELECT FROM rag_chunks c
    WHERE c.org_id = $1 AND c.workspace_id = $2 AND c.ordinal = o.ordinal AND c.visible_to IS NULL
)
""",
        "CLOSED_UNMARKED": """
SELECT 'ordinal ' || c.ordinal AS subject
FROM rag_chunks c
WHERE c.org_id = $1 AND c.workspace_id = $2
GROUP BY c.ordinal
HAVING bool_and(c.visible_to IS NOT NULL) AND NOT EXISTS (
    SELECT FROM rag_closed_ordinals o WHERE o.org_id = $1 AND o.workspace_id = $2 AND o.ordinal = c.ordinal
)
""",
        "VISIBILITY_DRIFT": """
WITH seen AS (
    SELECT ordinal, bool_or(visible_to IS NULL) AS visible
    FROM rag_chunks WHERE org_id = $1 AND workspace_id = $2 GROUP BY ordinal
)
SELECT 'ordinal ' || held.ordinal AS subject
FROM (
    SELECT ordinal, visible_to IS NULL AS visible FROM rag_embeddings WHERE org_id = $1 AND workspace_id = $2
    UNION ALL
    SELECT ordinal, visible_to IS NULL FROM rag_mentions WHERE org_id = $1 AND workspace_id = $2
) held
JOIN seen USING (ordinal)
WHERE held.visible <> seen.visible
""",
        "CHUNK_TWICE": """
SELECT 'chunk ' || chunk_id AS subject
FROM rag_chunks
WHERE org_id = $1 AND workspace_id = $2 AND visible_to IS NULL
GROUP BY document_id, chunk_id
HAVING count(*) > 1
""",
        "STAGED_LEFTOVER": """
SELECT 'document ' || s.document_id AS subject
FROM rag_staged_chunks s
WHERE s.org_id = $1 AND s.workspace_id = $2 AND NOT EXISTS (
    SELECT FROM rag_jobs j
    WHERE j.org_id = $1 AND j.workspace_id = $2 AND j.document_id = s.document_id AND j.state IN ('QUEUED', 'RUNNING')
)
""",
        "DOCUMENT_STUCK": """
SELECT d.source_path AS subject
FROM rag_documents d
WHERE d.org_id = $1 AND d.workspace_id = $2 AND d.status IN ('PENDING', 'PROCESSING') AND NOT EXISTS (
    SELECT FROM rag_jobs j
    WHERE j.org_id = $1 AND j.workspace_id = $2 AND j.document_id = d.document_id AND j.state IN ('QUEUED', 'RUNNING')
)
""",
        "TOMBSTONE_LIVE": """
SELECT d.source_path AS subject
FROM rag_tombstones t
JOIN rag_documents d ON d.org_id = $1 AND d.workspace_id = $2 AND d.document_id = t.document_id
WHERE t.org_id = $1 AND t.workspace_id = $2
""",
    }
)


def count_statement(statement: str) -> str:
    """A statement that counts the rows of a statement of `ANOMALIES` and gives one example."""
    return f"SELECT count(*) AS rows, min(subject) AS example FROM ({statement}) AS found"  # noqa: S608 - a constant
