-- Embedding spaces that are being filled or retired. Run as rag_owner; run_sql puts new tables behind row level security.

-- Until now a workspace had one space, the one that answers.
ALTER TABLE rag_embedding_spaces
    ADD COLUMN state       text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('FILLING', 'ACTIVE', 'RETIRED', 'ABANDONED')),
    ADD COLUMN since       timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN drop_after  timestamptz,
    ADD COLUMN gate        jsonb,
    ADD COLUMN verdict     jsonb;
ALTER TABLE rag_embedding_spaces ALTER COLUMN state DROP DEFAULT;

-- The highest number ever given: numbers of dropped spaces do not come back, so nothing old is mistaken for new.
ALTER TABLE rag_workspaces ADD COLUMN last_space smallint NOT NULL DEFAULT 0;
ALTER TABLE rag_workspaces NO FORCE ROW LEVEL SECURITY;
ALTER TABLE rag_embedding_spaces NO FORCE ROW LEVEL SECURITY;
UPDATE rag_workspaces w
SET last_space = coalesce((
    SELECT max(s.space_id) FROM rag_embedding_spaces s WHERE s.org_id = w.org_id AND s.workspace_id = w.workspace_id
), 0);
UPDATE rag_embedding_spaces s SET state = 'ABANDONED', drop_after = now()
FROM rag_workspaces w
WHERE w.org_id = s.org_id AND w.workspace_id = s.workspace_id AND s.space_id IS DISTINCT FROM w.active_space;
CREATE UNIQUE INDEX rag_embedding_spaces_active ON rag_embedding_spaces (org_id, workspace_id) WHERE state = 'ACTIVE';
ALTER TABLE rag_workspaces FORCE ROW LEVEL SECURITY;
ALTER TABLE rag_embedding_spaces FORCE ROW LEVEL SECURITY;

-- Read before a tenant transaction: the version, and in which space a question must be embedded for it.
CREATE POLICY owner_reads ON rag_embedding_spaces FOR SELECT TO rag_owner USING (true);

CREATE FUNCTION rag_corpus_head(org uuid, workspace uuid, OUT corpus_version integer, OUT space_id smallint,
                                OUT provider text, OUT model text, OUT dimensions integer, OUT "precision" text)
    RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT w.corpus_version, s.space_id, s.provider, s.model, s.dimensions, s.precision
    FROM rag_workspaces w
    LEFT JOIN rag_embedding_spaces s
      ON s.org_id = w.org_id AND s.workspace_id = w.workspace_id AND s.space_id = w.active_space
    WHERE w.org_id = org AND w.workspace_id = workspace
$$;
REVOKE ALL ON FUNCTION rag_corpus_head(uuid, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_corpus_head(uuid, uuid) TO rag_app;

CREATE FUNCTION rag_upkeep_spaces() RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT DISTINCT s.org_id, s.workspace_id, 'expired'
    FROM rag_embedding_spaces s
    WHERE s.state IN ('RETIRED', 'ABANDONED') AND s.drop_after <= now()
$$;
REVOKE ALL ON FUNCTION rag_upkeep_spaces() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_spaces() TO rag_dispatcher;
