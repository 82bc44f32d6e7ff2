-- Run as rag_owner. A segment says by which rules its terms were made; a worker makes those of earlier rules again.
ALTER TABLE rag_segments ADD COLUMN terms_version smallint NOT NULL DEFAULT 1;

CREATE FUNCTION rag_upkeep_segments(newest integer) RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT * FROM rag_upkeep_segments()
    UNION
    SELECT g.org_id, g.workspace_id, 'segments' FROM rag_segments g WHERE g.terms_version < newest
$$;
REVOKE ALL ON FUNCTION rag_upkeep_segments(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_segments(integer) TO rag_dispatcher;
