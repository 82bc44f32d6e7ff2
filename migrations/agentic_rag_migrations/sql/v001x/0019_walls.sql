-- Run as rag_owner. Who could read a document that is gone; null: not known, so that only managers know of it.
ALTER TABLE rag_tombstones ADD COLUMN access_id integer;

-- What a transaction can bind, the functions of the owner read for the bound organisation only. With the organisation as
-- an argument as well, a statement has the two walls of every other.
CREATE OR REPLACE FUNCTION rag_corpus_version(org uuid, workspace uuid) RETURNS integer
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT w.corpus_version FROM rag_workspaces w
    WHERE w.org_id = org AND w.org_id = rag_current_org() AND w.workspace_id = workspace
$$;

CREATE OR REPLACE FUNCTION rag_cached_answer(org uuid, workspace uuid, entry text) RETURNS bytea
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT c.answer FROM rag_cache_entries c
    WHERE c.org_id = org AND c.org_id = rag_current_org() AND c.workspace_id = workspace
      AND c.key = entry AND c.expires_at > now()
$$;

CREATE OR REPLACE FUNCTION rag_corpus_head(org uuid, workspace uuid, readers text[], OUT corpus_version integer,
                                           OUT space_id smallint, OUT provider text, OUT model text,
                                           OUT dimensions integer, OUT "precision" text,
                                           OUT support_threshold double precision, OUT access_version integer,
                                           OUT access_ids integer[], OUT access_sets integer, OUT kind text,
                                           OUT rag_config jsonb)
    RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT w.corpus_version, s.space_id, s.provider, s.model, s.dimensions, s.precision, s.support_threshold,
           w.access_version, a.ids, a.sets, w.kind, w.settings -> 'rag_config'
    FROM rag_workspaces w
    LEFT JOIN rag_embedding_spaces s
      ON s.org_id = w.org_id AND s.workspace_id = w.workspace_id AND s.space_id = w.active_space
    CROSS JOIN LATERAL (
        SELECT array_agg(g.access_id) FILTER (WHERE g.access_id = 0 OR readers IS NULL OR g.principals && readers) AS ids,
               count(*)::integer AS sets
        FROM rag_access_sets g
        WHERE g.org_id = w.org_id AND g.workspace_id = w.workspace_id
    ) a
    WHERE w.org_id = org AND w.org_id = rag_current_org() AND w.workspace_id = workspace
$$;

-- What is due, organisation by organisation, each bound while it is read: the owner sees these tables of no other.
CREATE OR REPLACE FUNCTION rag_upkeep_retention() RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    tenant uuid;
    before text := coalesce(current_setting('rag.org_id', true), '');
BEGIN
    FOR tenant IN SELECT o.org_id FROM rag_organizations o LOOP
        PERFORM set_config('rag.org_id', tenant::text, true);
        RETURN QUERY
        SELECT w.org_id, w.workspace_id, 'expired'
        FROM rag_workspaces w
        WHERE w.org_id = tenant AND (
            EXISTS (
                SELECT FROM rag_runs r
                WHERE r.org_id = tenant AND r.workspace_id = w.workspace_id
                  AND r.created_at <= now() - make_interval(days => coalesce((w.settings ->> 'runs_days')::integer, w.runs_days))
            )
            OR EXISTS (
                SELECT FROM rag_jobs j
                WHERE j.org_id = tenant AND j.workspace_id = w.workspace_id AND j.state IN ('DONE', 'CANCELLED', 'PURGED')
                  AND j.updated_at <= now() - make_interval(days => rag_kept_days(w.settings, 'jobs_days'))
                  AND NOT EXISTS (
                      SELECT FROM rag_documents d
                      WHERE d.org_id = tenant AND d.workspace_id = w.workspace_id AND d.document_id = j.document_id
                        AND d.status = 'FAILED'
                  )
            )
            OR EXISTS (
                SELECT FROM rag_usage u
                WHERE u.org_id = tenant AND u.workspace_id = w.workspace_id
                  AND u.day < current_date - rag_kept_days(w.settings, 'usage_days')
            )
            OR w.settings ->> 'audit_days' IS NOT NULL AND EXISTS (
                SELECT FROM rag_audit a
                WHERE a.org_id = tenant AND a.workspace_id = w.workspace_id
                  AND a.created_at <= now() - make_interval(days => rag_kept_days(w.settings, 'audit_days'))
            )
            OR EXISTS (
                SELECT FROM rag_cache_entries c
                WHERE c.org_id = tenant AND c.workspace_id = w.workspace_id AND c.expires_at <= now() - interval '1 hour'
            )
            OR EXISTS (
                SELECT FROM rag_revisions v
                WHERE v.org_id = tenant AND v.workspace_id = w.workspace_id AND v.published_to > w.oldest_version
                  AND v.superseded_at <= now() - make_interval(days => w.history_days)
            )
            OR EXISTS (
                SELECT FROM rag_doomed_blobs b
                WHERE b.org_id = tenant AND b.workspace_id = w.workspace_id AND b.doomed_at <= now() - interval '10 minutes'
            )
            OR EXISTS (
                SELECT FROM rag_uploads p
                WHERE p.org_id = tenant AND p.workspace_id = w.workspace_id AND p.created_at <= now() - interval '7 days'
            )
        );
    END LOOP;
    PERFORM set_config('rag.org_id', before, true);
END
$$;
DROP POLICY owner_reads ON rag_jobs;
DROP POLICY owner_reads ON rag_documents;
DROP POLICY owner_reads ON rag_usage;
DROP POLICY owner_reads ON rag_audit;
DROP POLICY owner_reads ON rag_cache_entries;
DROP POLICY owner_reads ON rag_revisions;
DROP POLICY owner_reads ON rag_doomed_blobs;
DROP POLICY owner_reads ON rag_uploads;
DROP POLICY owner_reads ON rag_access_sets;
