-- Approximate indexes of large workspaces. Run as rag_owner; run_sql puts new tables behind row level security.

-- One row per space of a workspace that was ever above the exact-scan limit. No foreign key to the space: an index outlives its space
-- until a job has dropped it.
CREATE TABLE rag_vector_indexes (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    space_id      smallint NOT NULL,
    state         text NOT NULL CHECK (state IN ('BUILDING', 'READY', 'REJECTED', 'FAILED')),
    rows_seen     integer NOT NULL,
    recall        double precision,
    reason        text,
    checked_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, workspace_id, space_id),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);
CREATE POLICY owner_reads ON rag_vector_indexes FOR SELECT TO rag_owner USING (true);
CREATE POLICY owner_reads ON rag_segments FOR SELECT TO rag_owner USING (true);

-- Postings segments count a workspace's passages without a look at its vectors. `exact_bytes`: what is scanned exactly.
CREATE FUNCTION rag_upkeep_indexes(exact_bytes bigint) RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT w.org_id, w.workspace_id, 'vectors'
    FROM rag_workspaces w
    JOIN rag_embedding_spaces s
      ON s.org_id = w.org_id AND s.workspace_id = w.workspace_id AND s.space_id = w.active_space
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(g.chunk_count), 0) AS chunks FROM rag_segments g
        WHERE g.org_id = w.org_id AND g.workspace_id = w.workspace_id
    ) held
    LEFT JOIN rag_vector_indexes i
      ON i.org_id = w.org_id AND i.workspace_id = w.workspace_id AND i.space_id = w.active_space
    WHERE held.chunks * s.dimensions * 2 > exact_bytes
          AND (i.state IS NULL OR i.state = 'BUILDING'
               OR (held.chunks >= 2 * i.rows_seen AND i.checked_at < now() - interval '10 minutes')
               OR (i.state <> 'READY' AND i.reason IS NOT NULL AND i.checked_at < now() - interval '1 day'))
       OR i.state = 'READY' AND held.chunks * s.dimensions * 2 < exact_bytes / 2 AND i.checked_at < now() - interval '10 minutes'
    UNION
    SELECT i.org_id, i.workspace_id, 'vectors'
    FROM rag_vector_indexes i
    WHERE NOT EXISTS (
        SELECT FROM rag_embedding_spaces s
        WHERE s.org_id = i.org_id AND s.workspace_id = i.workspace_id AND s.space_id = i.space_id
          AND s.state <> 'ABANDONED'
    )
$$;
REVOKE ALL ON FUNCTION rag_upkeep_indexes(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_indexes(bigint) TO rag_dispatcher;

-- Each publish adds a segment: many, or much in small ones, slow every search.
CREATE FUNCTION rag_upkeep_segments() RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT g.org_id, g.workspace_id, 'segments'
    FROM rag_segments g
    GROUP BY g.org_id, g.workspace_id
    HAVING count(*) > 64
        OR (count(*) FILTER (WHERE g.chunk_count <= 500) > 1 AND sum(g.chunk_count) FILTER (WHERE g.chunk_count <= 500) > 2000)
$$;
REVOKE ALL ON FUNCTION rag_upkeep_segments() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_segments() TO rag_dispatcher;

-- A search by the index of one workspace and space. Literals, so that the planner sees that the partial index applies; no sorting, so
-- that the index is what orders; both end with the function. Acts as the caller: row level security holds.
CREATE FUNCTION rag_nearest_by_index(org uuid, workspace uuid, space smallint, dimensions integer, query halfvec, access integer[],
                                     at_version integer, wanted integer, ef integer)
    RETURNS TABLE (ordinal integer, v halfvec)
    LANGUAGE plpgsql SET enable_sort = off SET enable_seqscan = off SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM set_config('hnsw.ef_search', ef::text, true), set_config('hnsw.iterative_scan', 'relaxed_order', true);
    RETURN QUERY EXECUTE format(
        'SELECT e.ordinal, e.v FROM rag_embeddings e '
        'WHERE e.org_id = %L::uuid AND e.workspace_id = %L::uuid AND e.space_id = %s::smallint AND e.access_id = ANY ($1) '
        'AND e.visible_from <= $2 AND (e.visible_to IS NULL OR e.visible_to > $2) '
        'ORDER BY e.v::halfvec(%s) <#> $3::halfvec(%s) LIMIT $4', org, workspace, space, dimensions, dimensions)
        USING access, at_version, query, wanted;
END $$;
REVOKE ALL ON FUNCTION rag_nearest_by_index(uuid, uuid, smallint, integer, halfvec, integer[], integer, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_nearest_by_index(uuid, uuid, smallint, integer, halfvec, integer[], integer, integer, integer) TO rag_app;
