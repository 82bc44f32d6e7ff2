-- Since when each corpus version is the newest one: questions are asked as of an instant. A row goes with the history.
CREATE TABLE rag_version_times (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    version       integer NOT NULL,
    since         timestamptz NOT NULL,
    PRIMARY KEY (org_id, workspace_id, version),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);

-- When earlier versions came is not known.
INSERT INTO rag_version_times (org_id, workspace_id, version, since)
SELECT org_id, workspace_id, corpus_version, now() FROM rag_workspaces;

-- As of their workspace: a caller sees none of one that he may not enter.
CREATE POLICY entered ON rag_version_times AS RESTRICTIVE FOR SELECT TO rag_app
    USING (nullif((SELECT current_setting('rag.caller', true)), '') IS NULL OR EXISTS (
        SELECT FROM rag_workspaces w
        WHERE w.org_id = rag_version_times.org_id AND w.workspace_id = rag_version_times.workspace_id
    ));
