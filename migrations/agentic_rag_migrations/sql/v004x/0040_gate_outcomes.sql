-- Run as rag_owner; run_sql puts new tables behind row level security. NULL: of runs that were stored before.
ALTER TABLE rag_gate_decisions ADD COLUMN deploy text;
ALTER TABLE rag_gate_decisions ADD COLUMN external_calls integer;
ALTER TABLE rag_gate_decisions ADD COLUMN gained boolean;

-- Plans that the gate did without for a while. They stay when runs go, and go with the workspace.
CREATE TABLE rag_gate_rollbacks (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    plan          text NOT NULL,
    began_at      timestamptz NOT NULL,
    cause         text NOT NULL,
    reason        text NOT NULL,
    deploy        text NOT NULL,
    PRIMARY KEY (org_id, workspace_id, plan, began_at),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);

-- What callers do after a run: it tells what they think of it. A row goes with its run.
CREATE TABLE rag_implicit_feedback (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    run_id        uuid NOT NULL,
    subject       text NOT NULL,
    kind          text NOT NULL,
    given_at      timestamptz NOT NULL,
    rating        text NOT NULL,
    PRIMARY KEY (org_id, workspace_id, run_id, subject, kind),
    FOREIGN KEY (org_id, workspace_id, run_id) REFERENCES rag_runs ON DELETE CASCADE
);

-- As of their run: a caller sees none of a workspace that he may not enter.
CREATE POLICY entered ON rag_gate_rollbacks AS RESTRICTIVE FOR SELECT TO rag_app
    USING (nullif((SELECT current_setting('rag.caller', true)), '') IS NULL OR EXISTS (
        SELECT FROM rag_workspaces w
        WHERE w.org_id = rag_gate_rollbacks.org_id AND w.workspace_id = rag_gate_rollbacks.workspace_id
    ));
CREATE POLICY entered ON rag_implicit_feedback AS RESTRICTIVE FOR SELECT TO rag_app
    USING (nullif((SELECT current_setting('rag.caller', true)), '') IS NULL OR EXISTS (
        SELECT FROM rag_workspaces w
        WHERE w.org_id = rag_implicit_feedback.org_id AND w.workspace_id = rag_implicit_feedback.workspace_id
    ));
