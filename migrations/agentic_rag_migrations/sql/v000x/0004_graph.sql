-- What a graph outside Postgres needs to follow it.

-- The newest writer's token: every write to the graph carries it, and one that is not the newest is refused there.
ALTER TABLE rag_workspaces ADD COLUMN graph_fence bigint NOT NULL DEFAULT 0;

-- Documents that were erased at a version that the graph has not reached yet. A tombstone will not do: registering again lifts it.
CREATE TABLE rag_graph_erasures (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    document_id   uuid NOT NULL,
    version       integer NOT NULL,
    PRIMARY KEY (org_id, workspace_id, document_id),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);

-- Workspaces whose graph is behind: after an outage nobody else asks for them.
CREATE FUNCTION rag_upkeep_graph() RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT w.org_id, w.workspace_id, 'graph' FROM rag_workspaces w WHERE w.graph_version < w.corpus_version
$$;
REVOKE ALL ON FUNCTION rag_upkeep_graph() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_graph() TO rag_dispatcher;
