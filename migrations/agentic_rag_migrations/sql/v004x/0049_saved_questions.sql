-- Run as rag_owner; run_sql puts new tables behind row level security. Questions that are asked again after each publish,
-- with the rights of their subject. A row holds the question, which is the subject's, and no words of answers.
CREATE TABLE rag_saved_questions (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    saved_id      uuid NOT NULL,
    kind          text NOT NULL,
    subject       text NOT NULL,
    role          text NOT NULL,
    groups        text[] NOT NULL,
    scopes        text[],
    question      text NOT NULL,
    run_id        uuid NOT NULL,
    saved_at      timestamptz NOT NULL,
    seen_at       timestamptz NOT NULL,
    checked_at    timestamptz,
    state         text NOT NULL,
    version       integer NOT NULL,
    newer_run_id  uuid,
    reason        text,
    stage         text,
    what          text,
    removed       integer NOT NULL,
    added         integer NOT NULL,
    PRIMARY KEY (org_id, workspace_id, saved_id),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);

-- As of their workspace: a caller sees none of one that he may not enter.
CREATE POLICY entered ON rag_saved_questions AS RESTRICTIVE FOR SELECT TO rag_app
    USING (nullif((SELECT current_setting('rag.caller', true)), '') IS NULL OR EXISTS (
        SELECT FROM rag_workspaces w
        WHERE w.org_id = rag_saved_questions.org_id AND w.workspace_id = rag_saved_questions.workspace_id
    ));

-- Workspaces with questions that were not asked at the newest version: once nothing was published for so many seconds,
-- and at the latest a quarter of an hour after the oldest version that a question has not seen. Each organisation is
-- bound while it is read: the owner sees these tables of no other.
CREATE FUNCTION rag_upkeep_saved(quiet double precision) RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    before text := coalesce(current_setting('rag.org_id', true), '');
    tenant uuid;
BEGIN
    FOR tenant IN SELECT o.org_id FROM rag_organizations o LOOP
        PERFORM set_config('rag.org_id', tenant::text, true);
        RETURN QUERY
        SELECT w.org_id, w.workspace_id, 'saved'
        FROM rag_workspaces w
        CROSS JOIN LATERAL (
            SELECT min(s.version) AS version FROM rag_saved_questions s
            WHERE s.org_id = tenant AND s.workspace_id = w.workspace_id AND s.version < w.corpus_version
        ) behind
        CROSS JOIN LATERAL (
            SELECT max(t.since) AS newest, min(t.since) FILTER (WHERE t.version > behind.version) AS oldest
            FROM rag_version_times t WHERE t.org_id = tenant AND t.workspace_id = w.workspace_id
        ) published
        WHERE w.org_id = tenant AND w.leaving_at IS NULL AND behind.version IS NOT NULL
          AND (published.newest IS NULL OR published.newest <= now() - make_interval(secs => quiet)
               OR published.oldest <= now() - interval '15 minutes');
    END LOOP;
    PERFORM set_config('rag.org_id', before, true);
END
$$;
REVOKE ALL ON FUNCTION rag_upkeep_saved(double precision) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_saved(double precision) TO rag_dispatcher;
