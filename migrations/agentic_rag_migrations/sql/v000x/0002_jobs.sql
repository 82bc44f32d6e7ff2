-- Work that explains itself: upkeep, replays, audit, payloads nobody could read.
-- Run as rag_owner; run_sql puts new tables behind row level security.

-- What upkeep looks at, over all tenants. The functions run as the owner, who may read these tables and write none of them.
CREATE POLICY owner_reads ON rag_runs FOR SELECT TO rag_owner USING (true);
CREATE POLICY owner_reads ON rag_revisions FOR SELECT TO rag_owner USING (true);
CREATE INDEX CONCURRENTLY rag_revisions_superseded ON rag_revisions (org_id, workspace_id, superseded_at) WHERE superseded_at IS NOT NULL;

CREATE FUNCTION rag_upkeep_retention() RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT w.org_id, w.workspace_id, 'expired'
    FROM rag_workspaces w
    WHERE EXISTS (
            SELECT FROM rag_runs r
            WHERE r.org_id = w.org_id AND r.workspace_id = w.workspace_id
              AND r.created_at <= now() - make_interval(days => w.runs_days)
        )
       OR EXISTS (
            SELECT FROM rag_cache_entries c
            WHERE c.org_id = w.org_id AND c.workspace_id = w.workspace_id AND c.expires_at <= now() - interval '1 hour'
        )
       OR EXISTS (
            SELECT FROM rag_revisions v
            WHERE v.org_id = w.org_id AND v.workspace_id = w.workspace_id AND v.published_to > w.oldest_version
              AND v.superseded_at <= now() - make_interval(days => w.history_days)
        )
$$;
REVOKE ALL ON FUNCTION rag_upkeep_retention() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_retention() TO rag_dispatcher;

-- Replays keep every attempt: what was tried before the last one does not count against the allowance.
ALTER TABLE rag_jobs ADD COLUMN attempts_before integer NOT NULL DEFAULT 0;
ALTER TABLE rag_jobs DROP CONSTRAINT rag_jobs_state_check;
ALTER TABLE rag_jobs ADD CONSTRAINT rag_jobs_state_check
    CHECK (state IN ('QUEUED', 'RUNNING', 'DONE', 'DEAD', 'CANCELLED', 'PURGED'));

-- The dispatcher hops from workspace to workspace along it, and reads a few jobs of each: it never reads a whole backlog.
CREATE INDEX CONCURRENTLY rag_jobs_turns ON rag_jobs (queue, org_id, workspace_id, created_at, job_id) INCLUDE (run_after, fence)
    WHERE state = 'QUEUED';
DROP INDEX rag_jobs_due;
CREATE INDEX CONCURRENTLY rag_jobs_newest ON rag_jobs (org_id, workspace_id, created_at, job_id);

-- Who did what. The application may append and read, nothing else: no statement of a tenant changes what was written.
CREATE TABLE rag_audit (
    org_id        uuid NOT NULL REFERENCES rag_organizations,
    audit_id      uuid NOT NULL,
    workspace_id  uuid,
    actor         text NOT NULL,
    action        text NOT NULL,
    subject       text NOT NULL,
    detail        jsonb NOT NULL DEFAULT '{}',
    trace_id      text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, audit_id)
);
CREATE INDEX rag_audit_newest ON rag_audit (org_id, created_at, audit_id);
ALTER TABLE rag_audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE rag_audit FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON rag_audit USING (org_id = (SELECT rag_current_org())) WITH CHECK (org_id = (SELECT rag_current_org()));
GRANT SELECT, INSERT ON rag_audit TO rag_app;

-- What came out of Redis and is no message of ours, byte for byte. Whose it is cannot be told, so the application role,
-- which serves tenants, has no right to it at all.
CREATE TABLE rag_dead_payloads (
    payload_id   uuid PRIMARY KEY,
    queue        text NOT NULL,
    entry        bytea NOT NULL,
    payload      bytea NOT NULL,
    code         text NOT NULL,
    reason       text NOT NULL,
    deliveries   integer NOT NULL DEFAULT 1,
    first_seen   timestamptz NOT NULL DEFAULT now(),
    last_seen    timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE rag_dead_payloads ALTER COLUMN payload SET STORAGE EXTERNAL;
CREATE INDEX rag_dead_payloads_newest ON rag_dead_payloads (first_seen, payload_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON rag_dead_payloads TO rag_dispatcher;
