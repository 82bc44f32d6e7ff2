-- Whose watermark graph_version is, what a graph outside Postgres lost by an erasure, and how long keys and payloads are kept.

-- The graph that graph_version speaks of: '' is the one in these tables, else the address of the one outside. A workspace whose graph is
-- not the one that the workers write to is filled anew.
ALTER TABLE rag_workspaces ADD COLUMN graph_home text NOT NULL DEFAULT '';

-- How many nodes the graph held of the document, for the erasure's certificate.
ALTER TABLE rag_graph_erasures ADD COLUMN nodes integer NOT NULL DEFAULT 0;

-- home: where the workers keep the graph.
DROP FUNCTION rag_upkeep_graph();
CREATE FUNCTION rag_upkeep_graph(home text) RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT w.org_id, w.workspace_id, 'graph' FROM rag_workspaces w
    WHERE w.graph_version < w.corpus_version OR (w.graph_home <> home AND w.corpus_version > 0)
$$;
REVOKE ALL ON FUNCTION rag_upkeep_graph(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_graph(text) TO rag_dispatcher;

-- Idempotency keys answer for a week.
CREATE INDEX rag_uploads_oldest ON rag_uploads (org_id, workspace_id, created_at);
CREATE POLICY owner_reads ON rag_uploads FOR SELECT TO rag_owner USING (true);
CREATE OR REPLACE FUNCTION rag_upkeep_retention() RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
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
       OR EXISTS (
            SELECT FROM rag_doomed_blobs b
            WHERE b.org_id = w.org_id AND b.workspace_id = w.workspace_id AND b.doomed_at <= now() - interval '10 minutes'
        )
       OR EXISTS (
            SELECT FROM rag_uploads u
            WHERE u.org_id = w.org_id AND u.workspace_id = w.workspace_id AND u.created_at <= now() - interval '7 days'
        )
$$;
