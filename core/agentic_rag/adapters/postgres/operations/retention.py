"""Deletes expired rows in bounded steps."""

from __future__ import annotations

from agentic_rag.adapters.postgres.models.spaces import PostgresSpaceStore
from agentic_rag.adapters.postgres.operations.history import STEP, purge_history
from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.tenancy.principals import WorkspaceRef

DROP_RUNS = """
DELETE FROM rag_runs
WHERE org_id = $1 AND workspace_id = $2 AND run_id IN (
    SELECT r.run_id
    FROM rag_runs r
    JOIN rag_workspaces w USING (org_id, workspace_id)
    WHERE r.org_id = $1 AND r.workspace_id = $2
      AND r.created_at <= now() - make_interval(days => coalesce((w.settings ->> 'runs_days')::integer, w.runs_days))
    LIMIT $3
)
"""

# A thread goes when its last run is gone.
DROP_THREADS = """
DELETE FROM rag_threads
WHERE org_id = $1 AND workspace_id = $2 AND thread_id IN (
    SELECT h.thread_id
    FROM rag_threads h
    JOIN rag_workspaces w USING (org_id, workspace_id)
    WHERE h.org_id = $1 AND h.workspace_id = $2
      AND h.last_at <= now() - make_interval(days => coalesce((w.settings ->> 'runs_days')::integer, w.runs_days))
      AND NOT EXISTS (
          SELECT FROM rag_thread_turns t
          WHERE t.org_id = $1 AND t.workspace_id = $2 AND t.thread_id = h.thread_id
      )
    LIMIT $3
)
"""

# With their attempts, and the report of an evaluation. The last job of a failed document stays: it says what to try
# again, and each synchronisation of its source tries it.
DROP_JOBS = """
WITH last AS MATERIALIZED (
    SELECT DISTINCT ON (n.document_id) n.job_id
    FROM rag_documents d
    JOIN rag_jobs n USING (org_id, workspace_id, document_id)
    WHERE d.org_id = $1 AND d.workspace_id = $2 AND d.status = 'FAILED' AND n.kind = 'ingest'
    ORDER BY n.document_id, n.created_at DESC, n.job_id DESC
)
DELETE FROM rag_jobs
WHERE org_id = $1 AND workspace_id = $2 AND job_id IN (
    SELECT j.job_id
    FROM rag_jobs j
    JOIN rag_workspaces w USING (org_id, workspace_id)
    WHERE j.org_id = $1 AND j.workspace_id = $2 AND j.state IN ('DONE', 'CANCELLED', 'PURGED')
      AND j.updated_at <= now() - make_interval(days => rag_kept_days(w.settings, 'jobs_days'))
      AND j.job_id NOT IN (SELECT job_id FROM last)
    LIMIT $3
)
"""

# A day has one row for each model.
DROP_USAGE = """
DELETE FROM rag_usage u USING rag_workspaces w
WHERE u.org_id = $1 AND u.workspace_id = $2 AND w.org_id = $1 AND w.workspace_id = $2
  AND u.day < current_date - rag_kept_days(w.settings, 'usage_days')
"""

EXPIRE_AUDIT = "SELECT rag_expire_audit($1, $2)"

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

EXPIRED = (DROP_RUNS, DROP_THREADS, DROP_JOBS, DROP_CACHED, DROP_KEYS, DROP_HYDE_JOBS)


async def apply_retention(connection: PostgresConnection, workspace: WorkspaceRef) -> bool:
    """Delete up to `STEP` each of expired runs, threads without runs, finished jobs, audit entries, cached answers,
    idempotency keys, HyDE jobs, vectors of retired spaces and rows of versions past the history, and all expired usage.
    True when there may be more.
    """
    key = workspace.key
    deleted = [await connection.change(statement, *key, STEP) for statement in EXPIRED]
    deleted.append(await connection.fetchval(EXPIRE_AUDIT, workspace.workspace_id, STEP))
    await connection.execute(DROP_USAGE, *key)
    history = await purge_history(connection, workspace)
    more = await PostgresSpaceStore(connection).drop_old_spaces(workspace, STEP)
    return history or more or STEP in deleted
