-- Run as rag_owner; run_sql puts new tables behind row level security. Conversations of one subject. A thread has the id
-- of the run that began it; without a title it is called like its oldest question, so that it keeps no words of runs.
CREATE TABLE rag_threads (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    thread_id     uuid NOT NULL,
    subject       text NOT NULL,
    title         text,
    began_at      timestamptz NOT NULL,
    last_at       timestamptz NOT NULL,
    PRIMARY KEY (org_id, workspace_id, thread_id),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);
CREATE INDEX rag_threads_newest ON rag_threads (org_id, workspace_id, subject, last_at, thread_id);

-- The runs of a thread. A row goes with its run.
CREATE TABLE rag_thread_turns (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    run_id        uuid NOT NULL,
    thread_id     uuid NOT NULL,
    PRIMARY KEY (org_id, workspace_id, run_id),
    FOREIGN KEY (org_id, workspace_id, run_id) REFERENCES rag_runs ON DELETE CASCADE,
    FOREIGN KEY (org_id, workspace_id, thread_id) REFERENCES rag_threads ON DELETE CASCADE
);
CREATE INDEX rag_thread_turns_thread ON rag_thread_turns (org_id, workspace_id, thread_id);

-- As of their run: a caller sees none of a workspace that he may not enter.
CREATE POLICY entered ON rag_threads AS RESTRICTIVE FOR SELECT TO rag_app
    USING (nullif((SELECT current_setting('rag.caller', true)), '') IS NULL OR EXISTS (
        SELECT FROM rag_workspaces w
        WHERE w.org_id = rag_threads.org_id AND w.workspace_id = rag_threads.workspace_id
    ));
CREATE POLICY entered ON rag_thread_turns AS RESTRICTIVE FOR SELECT TO rag_app
    USING (nullif((SELECT current_setting('rag.caller', true)), '') IS NULL OR EXISTS (
        SELECT FROM rag_workspaces w
        WHERE w.org_id = rag_thread_turns.org_id AND w.workspace_id = rag_thread_turns.workspace_id
    ));
