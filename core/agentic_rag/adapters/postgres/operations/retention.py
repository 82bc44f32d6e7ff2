"""Deletes expired rows in bounded steps."""

from __future__ import annotations

from agentic_rag.adapters.postgres.models.spaces import PostgresSpaceStore
from agentic_rag.adapters.postgres.operations.history import purge_history
from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.tenancy.principals import WorkspaceRef

STEP = 1_000
"""Rows deleted from one table in one transaction."""

DROP_RUNS = """
DELETE FROM rag_runs
WHERE org_id = $1 AND workspace_id = $2 AND run_id IN (
    SELECT r.run_id
    FROM rag_runs r
    JOIN rag_workspaces w USING (org_id, workspace_id)
    WHERE r.org_id = $1 AND r.workspace_id = $2 AND r.created_at <= now() - make_interval(days => w.runs_days)
    LIMIT $3
)
"""

# Kept as long as the runs that an evaluation refers to; the report is deleted with its job.
DROP_EVALUATIONS = """
DELETE FROM rag_jobs
WHERE org_id = $1 AND workspace_id = $2 AND job_id IN (
    SELECT j.job_id
    FROM rag_jobs j
    JOIN rag_workspaces w USING (org_id, workspace_id)
    WHERE j.org_id = $1 AND j.workspace_id = $2 AND j.kind = 'eval' AND j.state IN ('DONE', 'CANCELLED', 'PURGED')
      AND j.updated_at <= now() - make_interval(days => w.runs_days)
    LIMIT $3
)
"""

DROP_CACHED = """
DELETE FROM rag_cache_entries
WHERE org_id = $1 AND workspace_id = $2 AND key IN (
    SELECT key FROM rag_cache_entries
    WHERE org_id = $1 AND workspace_id = $2 AND expires_at <= now()
    LIMIT $3
)
"""

# A week, as in rag_upkeep_retention.
DROP_KEYS = """
DELETE FROM rag_uploads
WHERE org_id = $1 AND workspace_id = $2 AND idempotency_key IN (
    SELECT idempotency_key FROM rag_uploads
    WHERE org_id = $1 AND workspace_id = $2 AND created_at <= now() - interval '7 days'
    LIMIT $3
)
"""

# Every question that uses HyDE creates one, and it is useless once the question is answered.
DROP_HYDE_JOBS = """
DELETE FROM rag_jobs
WHERE org_id = $1 AND workspace_id = $2 AND job_id IN (
    SELECT job_id FROM rag_jobs
    WHERE org_id = $1 AND workspace_id = $2 AND kind = 'hyde' AND state = 'DONE'
      AND updated_at <= now() - interval '1 hour'
    LIMIT $3
)
"""

EXPIRED = (DROP_RUNS, DROP_EVALUATIONS, DROP_CACHED, DROP_KEYS, DROP_HYDE_JOBS)


async def apply_retention(connection: PostgresConnection, workspace: WorkspaceRef) -> bool:
    """Delete up to `STEP` each of expired runs, evaluations, cached answers, idempotency keys, HyDE jobs and vectors of
    retired spaces, and purge versions past the history. True when there may be more.
    """
    key = workspace.key
    deleted = [await connection.change(statement, *key, STEP) for statement in EXPIRED]
    await purge_history(connection, workspace)
    more = await PostgresSpaceStore(connection).drop_old_spaces(workspace, STEP)
    return more or STEP in deleted
