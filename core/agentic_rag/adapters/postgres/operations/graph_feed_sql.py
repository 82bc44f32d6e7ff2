"""SQL of the graph feed. $1 organisation, $2 workspace."""

POSITION = "SELECT corpus_version, graph_version FROM rag_workspaces WHERE org_id = $1 AND workspace_id = $2"

# $3: the highest fence that the graph has seen, because a restored database may be behind it. $4: the graph's name;
# under a new name the watermark starts at 0.
CLAIM = """
UPDATE rag_workspaces
SET graph_fence = greatest(graph_fence, $3) + 1, graph_home = $4,
    graph_version = CASE WHEN graph_home = $4 THEN graph_version ELSE 0 END
WHERE org_id = $1 AND workspace_id = $2
RETURNING graph_fence
"""

# One statement reads one instant. $3, $4: the cursor; $5: the limit.
CHANGED = """
SELECT w.corpus_version, c.version, c.document_id, d.title, d.revision_id, d.access_id, held.ordinals, held.chunk_ids
FROM rag_workspaces w
LEFT JOIN LATERAL (
    SELECT corpus_version AS version, document_id FROM rag_documents
    WHERE org_id = $1 AND workspace_id = $2 AND revision_id IS NOT NULL
      AND (corpus_version > $3 OR (corpus_version = $3 AND document_id > $4))
    UNION
    SELECT version, document_id FROM rag_graph_erasures
    WHERE org_id = $1 AND workspace_id = $2 AND (version > $3 OR (version = $3 AND document_id > $4))
    ORDER BY version, document_id
    LIMIT $5
) c ON true
LEFT JOIN rag_documents d
  ON d.org_id = $1 AND d.workspace_id = $2 AND d.document_id = c.document_id AND d.revision_id IS NOT NULL
LEFT JOIN LATERAL (
    SELECT array_agg(ordinal ORDER BY ordinal) AS ordinals, array_agg(chunk_id ORDER BY ordinal) AS chunk_ids
    FROM rag_chunks
    WHERE org_id = $1 AND workspace_id = $2 AND document_id = d.document_id AND visible_to IS NULL
) held ON true
WHERE w.org_id = $1 AND w.workspace_id = $2
ORDER BY c.version, c.document_id
"""

# Rows of an ordinal never change, so closed rows serve as well as visible ones.
MENTIONS = """
SELECT ordinal, entity_id, count, related, weights
FROM rag_mentions
WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($3::integer[])
ORDER BY ordinal, entity_id
"""

ENTITIES = """
SELECT entity_id, name, kind, source_id FROM rag_entities
WHERE org_id = $1 AND workspace_id = $2 AND entity_id = ANY ($3::uuid[])
"""

# $3: the fence, $4: the version.
REACHED = """
UPDATE rag_workspaces SET graph_version = $4
WHERE org_id = $1 AND workspace_id = $2 AND graph_fence = $3
RETURNING corpus_version
"""

# Counts a document's nodes before any is deleted; `greatest` keeps the first count when an interrupted job counts
# again. $3: documents, $4: their nodes.
COUNT_ERASURES = """
UPDATE rag_graph_erasures e SET nodes = greatest(e.nodes, held.nodes)
FROM unnest($3::uuid[], $4::integer[]) AS held(document_id, nodes)
WHERE e.org_id = $1 AND e.workspace_id = $2 AND e.document_id = held.document_id
"""

# Records the erasures in their certificates. $3: the version, $4: the store's name.
FORGET_ERASURES = """
WITH gone AS (
    DELETE FROM rag_graph_erasures WHERE org_id = $1 AND workspace_id = $2 AND version <= $3
    RETURNING document_id, nodes
)
UPDATE rag_tombstones t
SET certificate = jsonb_set(t.certificate, '{stores}', (
    SELECT jsonb_agg(
        CASE WHEN s ->> 'store' = $4::text
             THEN s || jsonb_build_object('done', true, 'count', (s ->> 'count')::integer + gone.nodes)
             ELSE s END ORDER BY place)
    FROM jsonb_array_elements(t.certificate -> 'stores') WITH ORDINALITY AS held(s, place)))
FROM gone
WHERE t.org_id = $1 AND t.workspace_id = $2 AND t.document_id = gone.document_id
"""

RESTART = """
UPDATE rag_workspaces SET graph_version = 0, graph_fence = graph_fence + 1
WHERE org_id = $1 AND workspace_id = $2
RETURNING graph_fence
"""

SETTLE = """
UPDATE rag_workspaces SET graph_version = corpus_version, graph_fence = graph_fence + 1, graph_home = ''
WHERE org_id = $1 AND workspace_id = $2
"""

COUNTS = """
SELECT (SELECT count(*) FROM rag_documents
        WHERE org_id = $1 AND workspace_id = $2 AND revision_id IS NOT NULL) AS sources,
       (SELECT count(*) FROM rag_chunks
        WHERE org_id = $1 AND workspace_id = $2 AND visible_to IS NULL) AS chunks,
       (SELECT count(DISTINCT entity_id) FROM rag_mentions
        WHERE org_id = $1 AND workspace_id = $2 AND visible_to IS NULL) AS entities,
       (SELECT count(*) FROM rag_mentions
        WHERE org_id = $1 AND workspace_id = $2 AND visible_to IS NULL) AS mentions,
       (SELECT count(DISTINCT (m.entity_id, r.related))
        FROM rag_mentions m CROSS JOIN LATERAL unnest(m.related) AS r(related)
        WHERE m.org_id = $1 AND m.workspace_id = $2 AND m.visible_to IS NULL
          AND m.entity_id < r.related) AS related
"""
