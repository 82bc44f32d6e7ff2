-- Run as rag_owner. Worker processes, of no tenant: each renews its row for as long as it lives. Dispatchers write it; the
-- application sees when a worker was last there, which says whether a lapsed lease counts against its job.
CREATE TABLE rag_workers (
    worker      text PRIMARY KEY,
    host        text NOT NULL,
    pid         integer NOT NULL,
    version     text NOT NULL,
    slots       integer NOT NULL,
    started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at    timestamptz
);
CREATE INDEX rag_workers_seen ON rag_workers (seen_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON rag_workers TO rag_dispatcher;
GRANT SELECT (worker, seen_at, ended_at) ON rag_workers TO rag_app;
