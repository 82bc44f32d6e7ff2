-- Run as rag_owner; run_sql puts new tables behind row level security. Sources that workspaces follow: what was said of
-- each, its credential as an envelope (see rag_provider_keys), and how its last synchronisations went.
CREATE TABLE rag_sources (
    org_id         uuid NOT NULL,
    workspace_id   uuid NOT NULL,
    source_id      uuid NOT NULL,
    name           text COLLATE "C" NOT NULL,
    kind           text COLLATE "C" NOT NULL CHECK (kind IN ('directory', 'git', 's3', 'sitemap')),
    location       text NOT NULL,
    prefix         text NOT NULL,
    include        text[] NOT NULL DEFAULT '{}',
    readable_by    text[] NOT NULL DEFAULT '{}',
    every_seconds  integer NOT NULL CHECK (every_seconds >= 0),
    options        jsonb NOT NULL DEFAULT '{}',
    is_internal    boolean NOT NULL,
    added_by       text NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    master_id      text COLLATE "C",
    wrap_nonce     bytea,
    wrapped_key    bytea,
    nonce          bytea,
    ciphertext     bytea,
    is_leaving     boolean NOT NULL DEFAULT false,
    cursor         text,
    failures       integer NOT NULL DEFAULT 0,
    error_code     text,
    error_message  text,
    counts         jsonb NOT NULL DEFAULT '{}',
    unreadable     jsonb NOT NULL DEFAULT '[]',
    started_at     timestamptz,
    synced_at      timestamptz,
    next_at        timestamptz,
    PRIMARY KEY (org_id, workspace_id, source_id),
    UNIQUE (org_id, workspace_id, name),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE,
    CHECK (num_nulls(master_id, wrap_nonce, wrapped_key, nonce, ciphertext) IN (0, 5))
);
CREATE INDEX rag_sources_due ON rag_sources (org_id, next_at) WHERE next_at IS NOT NULL OR is_leaving;

-- What is due, organisation by organisation, each bound while it is read: the owner sees these tables of no other. One
-- job a source, whose key is its id.
CREATE FUNCTION rag_upkeep_sources() RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    tenant uuid;
    before text := coalesce(current_setting('rag.org_id', true), '');
BEGIN
    FOR tenant IN SELECT o.org_id FROM rag_organizations o LOOP
        PERFORM set_config('rag.org_id', tenant::text, true);
        RETURN QUERY
        SELECT s.org_id, s.workspace_id, replace(s.source_id::text, '-', '')
        FROM rag_sources s
        WHERE s.org_id = tenant AND (s.is_leaving OR s.next_at <= now())
          AND NOT EXISTS (
              SELECT FROM rag_jobs j
              WHERE j.org_id = tenant AND j.workspace_id = s.workspace_id AND j.kind = 'sync'
                AND j.key = replace(s.source_id::text, '-', '') AND j.state IN ('QUEUED', 'RUNNING')
          );
    END LOOP;
    PERFORM set_config('rag.org_id', before, true);
END
$$;
REVOKE ALL ON FUNCTION rag_upkeep_sources() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_sources() TO rag_dispatcher;

-- The rotation of master keys has work here too.
CREATE OR REPLACE FUNCTION rag_provider_key_homes(active text) RETURNS SETOF uuid
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    tenant uuid;
    before text := coalesce(current_setting('rag.org_id', true), '');
BEGIN
    FOR tenant IN SELECT o.org_id FROM rag_organizations o LOOP
        PERFORM set_config('rag.org_id', tenant::text, true);
        IF EXISTS (SELECT FROM rag_provider_keys k WHERE k.org_id = tenant AND k.master_id <> active)
           OR EXISTS (SELECT FROM rag_sources s WHERE s.org_id = tenant AND s.master_id <> active) THEN
            RETURN NEXT tenant;
        END IF;
    END LOOP;
    PERFORM set_config('rag.org_id', before, true);
END
$$;
