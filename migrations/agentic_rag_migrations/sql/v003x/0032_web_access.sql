-- Run as rag_owner. The head of a corpus tells whether its workspace and its organisation allow the web, and how readily
-- the gate looks there.
DROP FUNCTION rag_corpus_head(uuid, uuid, text[]);
CREATE FUNCTION rag_corpus_head(org uuid, workspace uuid, readers text[], OUT corpus_version integer,
                                OUT space_id smallint, OUT provider text, OUT model text, OUT dimensions integer,
                                OUT "precision" text, OUT support_threshold double precision,
                                OUT calibrated_kinds jsonb, OUT access_version integer, OUT access_ids integer[],
                                OUT access_sets integer, OUT kind text, OUT rag_config jsonb,
                                OUT similarity_exponent double precision, OUT web jsonb,
                                OUT organisation_allows_web boolean)
    RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT w.corpus_version, s.space_id, s.provider, s.model, s.dimensions, s.precision, s.support_threshold,
           s.calibration #> '{in_force,kinds}', w.access_version, a.ids, a.sets, w.kind, w.settings -> 'rag_config',
           (s.calibration #>> '{similarity,exponent}')::double precision, w.settings -> 'web',
           coalesce((o.settings #>> '{flags,webAccess}')::boolean, false)
    FROM rag_workspaces w
    JOIN rag_organizations o ON o.org_id = w.org_id
    LEFT JOIN rag_embedding_spaces s
      ON s.org_id = w.org_id AND s.workspace_id = w.workspace_id AND s.space_id = w.active_space
    CROSS JOIN LATERAL (
        SELECT array_agg(g.access_id) FILTER (WHERE g.access_id = 0 OR readers IS NULL OR g.principals && readers) AS ids,
               count(*)::integer AS sets
        FROM rag_access_sets g
        WHERE g.org_id = w.org_id AND g.workspace_id = w.workspace_id AND (readers IS NULL OR cardinality(readers) > 0)
    ) a
    WHERE w.org_id = org AND w.org_id = rag_current_org() AND w.workspace_id = workspace
$$;
REVOKE ALL ON FUNCTION rag_corpus_head(uuid, uuid, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_corpus_head(uuid, uuid, text[]) TO rag_app;
