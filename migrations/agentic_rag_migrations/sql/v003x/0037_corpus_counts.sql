-- Run as rag_owner. For the metrics of the leading worker: no id of a tenant, only counts to be added up. The policies
-- hide a tenant's documents from the owner too, so that it looks into one organisation after the other.
CREATE FUNCTION rag_upkeep_corpus_counts() RETURNS TABLE (status text, documents bigint, graph_lag integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    tenant uuid;
    before text := coalesce(current_setting('rag.org_id', true), '');
BEGIN
    FOR tenant IN SELECT o.org_id FROM rag_organizations o LOOP
        PERFORM set_config('rag.org_id', tenant::text, true);
        RETURN QUERY SELECT d.status::text, count(*), 0 FROM rag_documents d WHERE d.org_id = tenant GROUP BY d.status;
    END LOOP;
    PERFORM set_config('rag.org_id', before, true);
    RETURN QUERY SELECT NULL::text, 0::bigint, coalesce(max(w.corpus_version - w.graph_version), 0)::integer
                 FROM rag_workspaces w;
END
$$;
REVOKE ALL ON FUNCTION rag_upkeep_corpus_counts() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_corpus_counts() TO rag_dispatcher;
