-- Evaluations that jobs run. Run as rag_owner; run_sql puts new tables behind row level security.

-- Neither table holds text of the corpus: questions are the caller's, answers stay in rag_runs, where erasures empty them.
CREATE TABLE rag_eval_runs (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    job_id        uuid NOT NULL,
    dataset       text NOT NULL,
    k             integer NOT NULL CHECK (k > 0),
    questions     jsonb NOT NULL,
    report        text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, workspace_id, job_id),
    FOREIGN KEY (org_id, workspace_id, job_id) REFERENCES rag_jobs ON DELETE CASCADE
);

-- What came out of each question so far: a job that is taken up again goes on behind the last. Gone once there is a report.
CREATE TABLE rag_eval_scores (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    job_id        uuid NOT NULL,
    position      integer NOT NULL,
    score         jsonb NOT NULL,
    PRIMARY KEY (org_id, workspace_id, job_id, position),
    FOREIGN KEY (org_id, workspace_id, job_id) REFERENCES rag_eval_runs ON DELETE CASCADE
);
