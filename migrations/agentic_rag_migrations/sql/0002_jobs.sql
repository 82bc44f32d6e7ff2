-- Work that explains itself: upkeep, replays, audit, payloads nobody could read.
-- Run as rag_owner; run_sql puts new tables behind row level security.

-- What upkeep looks at, over all tenants. The functions run as the owner, who may read these tables and write none of them.
CREATE POLICY owner_reads ON rag_runs FOR SELECT TO rag_owner USING (true);
CREATE POLICY owner_reads ON rag_revisions FOR SELECT TO rag_owner USING (true);
CREATE INDEX rag_revisions_superseded ON rag_revisions (org_id, workspace_id, superseded_at) WHERE superseded_at IS NOT NULL;

CREATE FUNCTION rag_upkeep_retention() RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT w.org_id, w.workspace_id, 'expired'
    FROM rag_workspaces w
    WHERE EXISTS (
            SELECT FROM rag_runs r
            WHERE r.org_id = w.org_id AND r.workspace_id = w.workspace_id
              AND r.created_at <= now() - make_interval(days => w.runs_days)
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
$$;
REVOKE ALL ON FUNCTION rag_upkeep_retention() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_retention() TO rag_dispatcher;
