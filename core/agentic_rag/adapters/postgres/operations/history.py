"""Retention of superseded revisions: `history_days` of the workspace (default 7; 0 keeps none)."""

from __future__ import annotations

from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.tenancy.principals import WorkspaceRef

# The newest expired version. Versions grow with time under the workspace's lock, so everything closed up to it has
# expired too.
HORIZON = """
SELECT max(r.published_to)
FROM rag_revisions r
JOIN rag_workspaces w USING (org_id, workspace_id)
WHERE r.org_id = $1 AND r.workspace_id = $2 AND r.published_to > w.oldest_version
  AND r.superseded_at <= now() - make_interval(days => w.history_days)
"""

# Locks the row first: a publish in flight holds the lock and may revive a revision.
RAISE_OLDEST = """
UPDATE rag_workspaces SET oldest_version = greatest(oldest_version, $3) WHERE org_id = $1 AND workspace_id = $2
"""

# A chunk that later revisions kept in place has the same offsets in the current one.
REHOME_CHUNKS = """
UPDATE rag_chunks c SET revision_id = d.revision_id
FROM rag_documents d, rag_revisions r
WHERE c.org_id = $1 AND c.workspace_id = $2 AND c.visible_to IS NULL
  AND d.org_id = $1 AND d.workspace_id = $2 AND d.document_id = c.document_id AND d.revision_id <> c.revision_id
  AND r.org_id = $1 AND r.workspace_id = $2 AND r.revision_id = c.revision_id AND r.published_to <= $3
"""

PURGE_ROWS = """
WITH vectors AS (
    DELETE FROM rag_embeddings WHERE org_id = $1 AND workspace_id = $2 AND visible_to <= $3
), mentions AS (
    DELETE FROM rag_mentions WHERE org_id = $1 AND workspace_id = $2 AND visible_to <= $3
)
DELETE FROM rag_chunks WHERE org_id = $1 AND workspace_id = $2 AND visible_to <= $3
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
          SELECT FROM rag_chunks c WHERE c.org_id = $1 AND c.workspace_id = $2 AND c.revision_id = r.revision_id
      )
    FOR UPDATE SKIP LOCKED
)
"""

PURGE_ENTITIES = """
DELETE FROM rag_entities e
WHERE e.org_id = $1 AND e.workspace_id = $2
  AND NOT EXISTS (
      SELECT FROM rag_mentions m WHERE m.org_id = $1 AND m.workspace_id = $2 AND m.entity_id = e.entity_id
  )
"""


async def purge_history(connection: PostgresConnection, workspace: WorkspaceRef) -> int:
    """Delete rows that only versions past the retention show, and refuse those versions from now on (`oldest_version`).
    Returns the number of chunk rows. The next compaction removes the postings.
    """
    key = workspace.key
    horizon = await connection.fetchval(HORIZON, *key)
    if horizon is None:
        return 0
    await connection.execute(RAISE_OLDEST, *key, horizon)
    await connection.execute(REHOME_CHUNKS, *key, horizon)
    purged = await connection.change(PURGE_ROWS, *key, horizon)
    await connection.execute(PURGE_REVISIONS, *key, horizon)
    await connection.execute(PURGE_ENTITIES, *key)
    return purged
