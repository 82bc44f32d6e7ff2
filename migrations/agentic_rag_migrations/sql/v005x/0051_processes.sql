-- Run as rag_owner; run_sql puts new tables of tenants behind row level security. Processes that hold what they read of
-- documents, of no tenant: each renews its row for as long as it lives, and names the orders to drop that it followed.
CREATE TABLE rag_processes (
    process     uuid PRIMARY KEY,
    program     text NOT NULL,
    host        text NOT NULL,
    pid         integer NOT NULL,
    started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at    timestamptz,
    followed    uuid[] NOT NULL DEFAULT '{}'
);
GRANT SELECT, INSERT, UPDATE, DELETE ON rag_processes TO rag_app;

-- Certificates that wait for processes.
CREATE INDEX CONCURRENTLY rag_tombstones_held ON rag_tombstones (org_id, workspace_id)
    WHERE certificate @> '{"stores": [{"store": "processes", "done": false}]}';
CREATE INDEX CONCURRENTLY rag_past_erasures_held ON rag_past_erasures (org_id, workspace_id)
    WHERE certificate @> '{"stores": [{"store": "processes", "done": false}]}';

-- Each organisation is bound while it is read: the owner sees these tables of no other.
CREATE FUNCTION rag_upkeep_held() RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    before text := coalesce(current_setting('rag.org_id', true), '');
    tenant uuid;
BEGIN
    FOR tenant IN SELECT o.org_id FROM rag_organizations o LOOP
        PERFORM set_config('rag.org_id', tenant::text, true);
        RETURN QUERY
        SELECT w.org_id, w.workspace_id, 'processes'
        FROM rag_workspaces w
        JOIN (
            SELECT t.workspace_id FROM rag_tombstones t
            WHERE t.org_id = tenant AND t.certificate @> '{"stores": [{"store": "processes", "done": false}]}'
            UNION
            SELECT p.workspace_id FROM rag_past_erasures p
            WHERE p.org_id = tenant AND p.certificate @> '{"stores": [{"store": "processes", "done": false}]}'
        ) held USING (workspace_id)
        WHERE w.org_id = tenant AND w.leaving_at IS NULL;
    END LOOP;
    PERFORM set_config('rag.org_id', before, true);
END
$$;
REVOKE ALL ON FUNCTION rag_upkeep_held() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_held() TO rag_dispatcher;
