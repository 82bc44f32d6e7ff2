-- Corpus versions that changed only documents for named readers, with the access sets that each touched. A caller who
-- reads none of a version's sets is shown versions without it; what everybody reads leaves no row.
CREATE TABLE rag_restricted_versions (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    version       integer NOT NULL,
    access_id     integer NOT NULL,
    PRIMARY KEY (org_id, workspace_id, version, access_id),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);
