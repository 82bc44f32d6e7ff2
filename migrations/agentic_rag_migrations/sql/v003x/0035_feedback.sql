-- Run as rag_owner; run_sql puts new tables behind row level security. What callers say of runs: codes and ids, no text.
-- A row goes with its run.
CREATE TABLE rag_feedback (
    org_id          uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    run_id          uuid NOT NULL,
    subject         text NOT NULL,
    given_at        timestamptz NOT NULL,
    rating          text NOT NULL,
    reason          text,
    task_outcome    text,
    chunk_ids       uuid[] NOT NULL,
    precision_at_k  double precision,
    PRIMARY KEY (org_id, workspace_id, run_id, subject),
    FOREIGN KEY (org_id, workspace_id, run_id) REFERENCES rag_runs ON DELETE CASCADE
);

-- As of its run: a caller sees none of a workspace that he may not enter.
CREATE POLICY entered ON rag_feedback AS RESTRICTIVE FOR SELECT TO rag_app
    USING (nullif((SELECT current_setting('rag.caller', true)), '') IS NULL OR EXISTS (
        SELECT FROM rag_workspaces w
        WHERE w.org_id = rag_feedback.org_id AND w.workspace_id = rag_feedback.workspace_id
    ));

-- NULL: of runs that were stored before.
ALTER TABLE rag_gate_decisions ADD COLUMN tokens bigint;
