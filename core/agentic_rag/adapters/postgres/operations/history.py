"""Retention of superseded revisions: `history_days` of the workspace (default 7; 0 keeps none)."""

from __future__ import annotations

from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.tenancy.principals import WorkspaceRef

STEP = 1_000
"""Rows deleted from one table in one transaction."""

# The newest expired version, or the oldest that is kept where an earlier purge left revisions behind it. Versions grow
# with time under the workspace's lock, so everything closed up to it has expired too.
HORIZON = """
SELECT max(greatest(r.published_to, w.oldest_version))
FROM rag_revisions r
JOIN rag_workspaces w USING (org_id, workspace_id)
WHERE r.org_id = $1 AND r.workspace_id = $2 AND r.published_to IS NOT NULL
  AND (r.published_to <= w.oldest_version OR r.superseded_at <= now() - make_interval(days => w.history_days))
"""

# Locks the row first: a publish in flight holds the lock and may revive a revision.
RAISE_OLDEST = """
UPDATE rag_workspaces SET oldest_version = greatest(oldest_version, $3) WHERE org_id = $1 AND workspace_id = $2
"""

# In what follows $3 is the horizon and $4 the most rows. A chunk that later revisions kept in place has the same
# offsets in the current one.
REHOME_CHUNKS = """
UPDATE rag_chunks c SET revision_id = d.revision_id
FROM rag_documents d
WHERE c.org_id = $1 AND c.workspace_id = $2 AND c.visible_to IS NULL
  AND d.org_id = $1 AND d.workspace_id = $2 AND d.document_id = c.document_id
  AND c.ordinal IN (
      SELECT k.ordinal
      FROM rag_revisions r
      JOIN rag_documents o ON o.org_id = $1 AND o.workspace_id = $2 AND o.document_id = r.document_id
      JOIN rag_chunks k
        ON k.org_id = $1 AND k.workspace_id = $2 AND k.document_id = r.document_id AND k.revision_id = r.revision_id
      WHERE r.org_id = $1 AND r.workspace_id = $2 AND r.published_to <= $3
        AND o.revision_id <> r.revision_id AND k.visible_to IS NULL
      LIMIT $4
  )
"""

PURGE_VECTORS = """
DELETE FROM rag_embeddings
WHERE org_id = $1 AND workspace_id = $2 AND (space_id, ordinal) IN (
    SELECT space_id, ordinal FROM rag_embeddings
    WHERE org_id = $1 AND workspace_id = $2 AND visible_to <= $3
    LIMIT $4
)
"""

PURGE_MENTIONS = """
DELETE FROM rag_mentions
WHERE org_id = $1 AND workspace_id = $2 AND (entity_id, ordinal) IN (
    SELECT entity_id, ordinal FROM rag_mentions
    WHERE org_id = $1 AND workspace_id = $2 AND visible_to <= $3
    LIMIT $4
)
RETURNING entity_id
"""

# A chunk goes after its vectors and mentions, and a revision after its chunks: what is left of it shows what is left.
# NOT IN is hashed, whatever the planner knows; NOT EXISTS looks through all vectors for each chunk of a new table.
PURGE_CHUNKS = """
DELETE FROM rag_chunks
WHERE org_id = $1 AND workspace_id = $2 AND (ordinal, visible_from) IN (
    SELECT c.ordinal, c.visible_from
    FROM rag_chunks c
    WHERE c.org_id = $1 AND c.workspace_id = $2 AND c.visible_to <= $3
      AND c.ordinal NOT IN (
          SELECT v.ordinal FROM rag_embeddings v
          WHERE v.org_id = $1 AND v.workspace_id = $2 AND v.visible_to <= $3
      )
      AND c.ordinal NOT IN (
          SELECT m.ordinal FROM rag_mentions m
          WHERE m.org_id = $1 AND m.workspace_id = $2 AND m.visible_to <= $3
      )
    LIMIT $4
)
"""

# Skips revisions that a publish has locked to revive them (`publication_sql.HOLD_REVISIONS`). Waiting would deadlock:
# that publish waits for the workspace's row, which this transaction holds.
PURGE_REVISIONS = """
DELETE FROM rag_revisions
WHERE org_id = $1 AND workspace_id = $2 AND revision_id IN (
    SELECT r.revision_id
    FROM rag_revisions r
    WHERE r.org_id = $1 AND r.workspace_id = $2 AND r.published_to <= $3
      AND NOT EXISTS (
          SELECT FROM rag_chunks c
          WHERE c.org_id = $1 AND c.workspace_id = $2
            AND c.document_id = r.document_id AND c.revision_id = r.revision_id
      )
    LIMIT $4
    FOR UPDATE SKIP LOCKED
)
"""

# The oldest version that is kept has been the newest one since before.
PURGE_TIMES = """
DELETE FROM rag_version_times
WHERE org_id = $1 AND workspace_id = $2 AND version IN (
    SELECT version FROM rag_version_times WHERE org_id = $1 AND workspace_id = $2 AND version < $3 LIMIT $4
)
"""

# $3: entities that lost a mention.
PURGE_ENTITIES = """
DELETE FROM rag_entities e
WHERE e.org_id = $1 AND e.workspace_id = $2 AND e.entity_id = ANY ($3::uuid[])
  AND NOT EXISTS (
      SELECT FROM rag_mentions m WHERE m.org_id = $1 AND m.workspace_id = $2 AND m.entity_id = e.entity_id
  )
"""


async def purge_history(connection: PostgresConnection, workspace: WorkspaceRef, most: int = STEP) -> bool:
    """Delete rows that only versions past the retention show, up to `most` of each table, and refuse those versions
    from now on (`oldest_version`). True when there may be more. The next compaction removes the postings.
    """
    key = workspace.key
    horizon = await connection.fetchval(HORIZON, *key)
    if horizon is None:
        return False
    await connection.execute(RAISE_OLDEST, *key, horizon)
    mentions = await connection.fetch(PURGE_MENTIONS, *key, horizon, most)
    await connection.execute(PURGE_ENTITIES, *key, sorted({row["entity_id"] for row in mentions}))
    changed = [
        await connection.change(statement, *key, horizon, most)
        for statement in (REHOME_CHUNKS, PURGE_VECTORS, PURGE_CHUNKS, PURGE_REVISIONS, PURGE_TIMES)
    ]
    return most in (*changed, len(mentions))
