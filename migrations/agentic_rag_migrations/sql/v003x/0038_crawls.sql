-- Run as rag_owner; run_sql puts new tables behind row level security. The pages of a crawl: what is done and what waits.
-- They go with their job.
CREATE TABLE rag_crawl_pages (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    job_id        uuid NOT NULL,
    url           text COLLATE "C" NOT NULL,
    place         bigint GENERATED ALWAYS AS IDENTITY,
    depth         smallint NOT NULL,
    state         text COLLATE "C" NOT NULL,
    code          text NOT NULL,
    size          bigint NOT NULL,
    text_hash     bytea NOT NULL,
    signature     bigint[] NOT NULL,
    document_id   uuid,
    PRIMARY KEY (org_id, workspace_id, job_id, url),
    FOREIGN KEY (org_id, workspace_id, job_id) REFERENCES rag_jobs ON DELETE CASCADE
);
