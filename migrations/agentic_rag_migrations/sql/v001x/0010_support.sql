-- The support below which a workspace abstains, as `rag eval calibrate` set it. Supports of different embedding models
-- differ in scale, so it belongs to the space: a switch to another one leaves it behind.
ALTER TABLE rag_embedding_spaces
    ADD COLUMN support_threshold double precision CHECK (support_threshold BETWEEN 0 AND 1);

DROP FUNCTION rag_corpus_head(uuid, uuid);
CREATE FUNCTION rag_corpus_head(org uuid, workspace uuid, OUT corpus_version integer, OUT space_id smallint,
                                OUT provider text, OUT model text, OUT dimensions integer, OUT "precision" text,
                                OUT support_threshold double precision)
    RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT w.corpus_version, s.space_id, s.provider, s.model, s.dimensions, s.precision, s.support_threshold
    FROM rag_workspaces w
    LEFT JOIN rag_embedding_spaces s
      ON s.org_id = w.org_id AND s.workspace_id = w.workspace_id AND s.space_id = w.active_space
    WHERE w.org_id = org AND w.workspace_id = workspace
$$;
REVOKE ALL ON FUNCTION rag_corpus_head(uuid, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_corpus_head(uuid, uuid) TO rag_app;
