-- Run as rag_owner. Days that a workspace does not state are those of rag_kept_days.
CREATE FUNCTION rag_kept_days(settings jsonb, what text) RETURNS integer
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog AS $$
    SELECT coalesce((settings ->> what)::integer, CASE what WHEN 'usage_days' THEN 400 WHEN 'audit_days' THEN NULL ELSE 30 END)
$$;

-- What versions past the history leave.
CREATE INDEX CONCURRENTLY rag_chunks_closed ON rag_chunks (org_id, workspace_id, visible_to) WHERE visible_to IS NOT NULL;
CREATE INDEX CONCURRENTLY rag_embeddings_closed ON rag_embeddings (org_id, workspace_id, visible_to) WHERE visible_to IS NOT NULL;
CREATE INDEX CONCURRENTLY rag_mentions_closed ON rag_mentions (org_id, workspace_id, visible_to) WHERE visible_to IS NOT NULL;

-- Row level security keeps the planner from an index on a condition that is not leakproof, as that on arrays; the owner's
-- policy on runs has no condition.
CREATE INDEX CONCURRENTLY rag_runs_documents ON rag_runs USING gin (document_ids);
CREATE FUNCTION rag_citing_runs(workspace uuid, document uuid) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 10 SET search_path = public, pg_temp AS $$
    SELECT run_id FROM rag_runs
    WHERE org_id = rag_current_org() AND workspace_id = workspace AND document_ids @> ARRAY [document]
$$;
REVOKE ALL ON FUNCTION rag_citing_runs(uuid, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_citing_runs(uuid, uuid) TO rag_app;

-- The application may append to the audit log and read it. What is past its keeping goes by this function alone, of the
-- bound organisation, as its workspace states; a workspace that states nothing keeps all.
CREATE FUNCTION rag_expire_audit(workspace uuid, most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH gone AS (
        DELETE FROM rag_audit WHERE org_id = rag_current_org() AND audit_id IN (
            SELECT a.audit_id
            FROM rag_workspaces w
            JOIN rag_audit a ON a.org_id = w.org_id AND a.workspace_id = w.workspace_id
            WHERE w.org_id = rag_current_org() AND w.workspace_id = workspace
              AND a.created_at <= now() - make_interval(days => rag_kept_days(w.settings, 'audit_days'))
            LIMIT most
        )
        RETURNING 1
    )
    SELECT count(*) FROM gone
$$;
REVOKE ALL ON FUNCTION rag_expire_audit(uuid, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_expire_audit(uuid, integer) TO rag_app;

CREATE INDEX CONCURRENTLY rag_jobs_finished ON rag_jobs (org_id, workspace_id, updated_at) WHERE state IN ('DONE', 'CANCELLED', 'PURGED');
-- What the metrics count, without those that are done.
CREATE INDEX CONCURRENTLY rag_jobs_open ON rag_jobs (state, kind) WHERE state IN ('QUEUED', 'RUNNING', 'DEAD');
CREATE POLICY owner_reads ON rag_jobs FOR SELECT TO rag_owner USING (true);
CREATE POLICY owner_reads ON rag_documents FOR SELECT TO rag_owner USING (true);
CREATE POLICY owner_reads ON rag_usage FOR SELECT TO rag_owner USING (true);
CREATE POLICY owner_reads ON rag_audit FOR SELECT TO rag_owner USING (true);
CREATE OR REPLACE FUNCTION rag_upkeep_retention() RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT w.org_id, w.workspace_id, 'expired'
    FROM rag_workspaces w
    WHERE EXISTS (
            SELECT FROM rag_runs r
            WHERE r.org_id = w.org_id AND r.workspace_id = w.workspace_id
              AND r.created_at <= now() - make_interval(days => coalesce((w.settings ->> 'runs_days')::integer, w.runs_days))
        )
       OR EXISTS (
            SELECT FROM rag_jobs j
            WHERE j.org_id = w.org_id AND j.workspace_id = w.workspace_id AND j.state IN ('DONE', 'CANCELLED', 'PURGED')
              AND j.updated_at <= now() - make_interval(days => rag_kept_days(w.settings, 'jobs_days'))
              AND NOT EXISTS (
                  SELECT FROM rag_documents d
                  WHERE d.org_id = w.org_id AND d.workspace_id = w.workspace_id AND d.document_id = j.document_id
                    AND d.status = 'FAILED'
              )
        )
       OR EXISTS (
            SELECT FROM rag_usage u
            WHERE u.org_id = w.org_id AND u.workspace_id = w.workspace_id
              AND u.day < current_date - rag_kept_days(w.settings, 'usage_days')
        )
       OR w.settings ->> 'audit_days' IS NOT NULL AND EXISTS (
            SELECT FROM rag_audit a
            WHERE a.org_id = w.org_id AND a.workspace_id = w.workspace_id
              AND a.created_at <= now() - make_interval(days => rag_kept_days(w.settings, 'audit_days'))
        )
       OR EXISTS (
            SELECT FROM rag_cache_entries c
            WHERE c.org_id = w.org_id AND c.workspace_id = w.workspace_id AND c.expires_at <= now() - interval '1 hour'
        )
       OR EXISTS (
            SELECT FROM rag_revisions v
            WHERE v.org_id = w.org_id AND v.workspace_id = w.workspace_id AND v.published_to > w.oldest_version
              AND v.superseded_at <= now() - make_interval(days => w.history_days)
        )
       OR EXISTS (
            SELECT FROM rag_doomed_blobs b
            WHERE b.org_id = w.org_id AND b.workspace_id = w.workspace_id AND b.doomed_at <= now() - interval '10 minutes'
        )
       OR EXISTS (
            SELECT FROM rag_uploads u
            WHERE u.org_id = w.org_id AND u.workspace_id = w.workspace_id AND u.created_at <= now() - interval '7 days'
        )
$$;
