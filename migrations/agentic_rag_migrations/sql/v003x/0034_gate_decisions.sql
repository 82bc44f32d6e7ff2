-- Run as rag_owner; run_sql puts new tables behind row level security. What the gate decided about a run after its
-- answer, with every signal: no text of a question or a document. A row goes with its run.
CREATE TABLE rag_gate_decisions (
    org_id           uuid NOT NULL,
    workspace_id     uuid NOT NULL,
    run_id           uuid NOT NULL,
    decided_at       timestamptz NOT NULL,
    weights_version  text NOT NULL,
    mode             text NOT NULL,
    care             double precision NOT NULL,
    score            double precision NOT NULL,
    plan_type        text NOT NULL,
    planned          text NOT NULL,
    intent           text NOT NULL,
    contributions    jsonb NOT NULL,
    downgrades       jsonb NOT NULL,
    seconds          double precision NOT NULL,
    cost_usd         double precision,
    PRIMARY KEY (org_id, workspace_id, run_id),
    FOREIGN KEY (org_id, workspace_id, run_id) REFERENCES rag_runs ON DELETE CASCADE
);
CREATE INDEX rag_gate_decisions_newest ON rag_gate_decisions (org_id, workspace_id, decided_at, run_id);

-- As of its run: a caller sees none of a workspace that he may not enter.
CREATE POLICY entered ON rag_gate_decisions AS RESTRICTIVE FOR SELECT TO rag_app
    USING (nullif((SELECT current_setting('rag.caller', true)), '') IS NULL OR EXISTS (
        SELECT FROM rag_workspaces w
        WHERE w.org_id = rag_gate_decisions.org_id AND w.workspace_id = rag_gate_decisions.workspace_id
    ));
