-- Run as rag_owner; run_sql puts new tables behind row level security. Certificates of documents that were registered
-- again after their erasure. No text, no title.
CREATE TABLE rag_past_erasures (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    document_id   uuid NOT NULL,
    version       integer NOT NULL,
    erased_at     timestamptz NOT NULL,
    certificate   jsonb NOT NULL,
    PRIMARY KEY (org_id, workspace_id, document_id, version),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);
