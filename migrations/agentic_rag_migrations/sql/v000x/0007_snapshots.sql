-- Snapshots of workspaces. Run as rag_owner; run_sql puts new tables behind row level security.

-- is_stored: the blob store may hold something of it. Such rows are what an erasure cannot cover, so its certificate names them.
CREATE TABLE rag_snapshots (
    org_id          uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    snapshot_id     uuid NOT NULL,
    state           text NOT NULL DEFAULT 'BUILDING' CHECK (state IN ('BUILDING', 'READY', 'FAILED', 'EXPIRED')),
    reason          text NOT NULL CHECK (reason IN ('manual', 'scheduled')),
    with_originals  boolean NOT NULL,
    corpus_version  integer,
    manifest_key    text,
    bytes           bigint NOT NULL DEFAULT 0,
    counts          jsonb NOT NULL DEFAULT '{}',
    error_code      text,
    is_stored       boolean NOT NULL DEFAULT true,
    created_at      timestamptz NOT NULL DEFAULT now(),
    finished_at     timestamptz,
    PRIMARY KEY (org_id, workspace_id, snapshot_id),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);

-- Where a workspace came from: restoring the same snapshot again finds that it is done.
CREATE TABLE rag_restores (
    org_id               uuid NOT NULL,
    workspace_id         uuid NOT NULL,
    snapshot_id          uuid NOT NULL,
    source_workspace_id  uuid NOT NULL,
    corpus_version       integer NOT NULL,
    restored_at          timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, workspace_id, snapshot_id),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);

CREATE POLICY owner_reads ON rag_snapshots FOR SELECT TO rag_owner USING (true);

-- 'sweep': files of snapshots that are none (any more); a BUILDING one counts, for who asks adds "and no unfinished job".
-- 'scheduled': nothing was tried within the interval, and the corpus has changed since the newest snapshot.
CREATE FUNCTION rag_upkeep_snapshots(every_hours double precision) RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT DISTINCT s.org_id, s.workspace_id, 'sweep'
    FROM rag_snapshots s
    WHERE s.state <> 'READY' AND s.is_stored
    UNION ALL
    SELECT w.org_id, w.workspace_id, 'scheduled'
    FROM rag_workspaces w
    WHERE every_hours > 0 AND w.corpus_version > 0
      AND NOT EXISTS (
            SELECT FROM rag_snapshots s
            WHERE s.org_id = w.org_id AND s.workspace_id = w.workspace_id
              AND (s.created_at > now() - make_interval(secs => every_hours * 3600)
                   OR (s.state = 'READY' AND s.corpus_version = w.corpus_version))
        )
$$;
REVOKE ALL ON FUNCTION rag_upkeep_snapshots(double precision) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_snapshots(double precision) TO rag_dispatcher;
