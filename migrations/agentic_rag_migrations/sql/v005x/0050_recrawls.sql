-- Run as rag_owner. Workspaces that may ask the web, want their pages asked for again, and hold some: one job an hour,
-- which finds the pages that are due. Each organisation is bound while it is read: the owner sees these tables of no
-- other.
CREATE FUNCTION rag_upkeep_recrawls() RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    before text := coalesce(current_setting('rag.org_id', true), '');
    tenant uuid;
BEGIN
    FOR tenant IN
        SELECT o.org_id FROM rag_organizations o WHERE coalesce((o.settings #>> '{flags,webAccess}')::boolean, false)
    LOOP
        PERFORM set_config('rag.org_id', tenant::text, true);
        RETURN QUERY
        SELECT w.org_id, w.workspace_id, 'recrawl'
        FROM rag_workspaces w
        WHERE w.org_id = tenant AND w.leaving_at IS NULL
          AND coalesce((w.settings #>> '{web,allow}')::boolean, false)
          AND coalesce((w.settings #>> '{web,recrawl_hours}')::integer, 0) > 0
          AND NOT EXISTS (
              SELECT FROM rag_jobs j
              WHERE j.org_id = tenant AND j.workspace_id = w.workspace_id AND j.kind = 'crawl' AND j.key = 'recrawl'
                AND j.updated_at > now() - interval '1 hour'
          )
          AND EXISTS (
              SELECT FROM rag_documents d
              WHERE d.org_id = tenant AND d.workspace_id = w.workspace_id AND d.provenance ->> 'source' = 'web'
          );
    END LOOP;
    PERFORM set_config('rag.org_id', before, true);
END
$$;
REVOKE ALL ON FUNCTION rag_upkeep_recrawls() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_recrawls() TO rag_dispatcher;
