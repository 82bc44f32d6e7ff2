-- As of 0012, but for segments that are at least half full (10,000 of 20,000 chunks), which merges leave alone, and for
-- those of before the bound that are longer than two full ones, which a merge splits.
CREATE OR REPLACE FUNCTION rag_upkeep_segments() RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT g.org_id, g.workspace_id, 'segments'
    FROM rag_segments g
    GROUP BY g.org_id, g.workspace_id
    HAVING count(*) FILTER (WHERE g.chunk_count < 10000) > 64
        OR (count(*) FILTER (WHERE g.chunk_count <= 500) > 1 AND sum(g.chunk_count) FILTER (WHERE g.chunk_count <= 500) > 2000)
        OR max(g.chunk_count) > 40000
    UNION
    SELECT m.org_id, m.workspace_id, 'segments'
    FROM rag_moved_ordinals m
    GROUP BY m.org_id, m.workspace_id
    HAVING count(*) > 2000
$$;
