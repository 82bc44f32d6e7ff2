-- What calls of models used, added up by workspace, day and model. Run as rag_owner; run_sql puts new tables behind row level security.
CREATE TABLE rag_usage (
    org_id          uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    day             date NOT NULL,
    kind            text COLLATE "C" NOT NULL CHECK (kind IN ('embedding', 'chat')),
    provider        text COLLATE "C" NOT NULL,
    model           text COLLATE "C" NOT NULL,
    own_key         boolean NOT NULL,
    calls           bigint NOT NULL,
    input_tokens    bigint NOT NULL,
    output_tokens   bigint NOT NULL,
    cost_usd        double precision NOT NULL,
    unpriced_calls  bigint NOT NULL,
    PRIMARY KEY (org_id, workspace_id, day, kind, provider, model, own_key),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);
CREATE INDEX rag_usage_day ON rag_usage (org_id, day);
