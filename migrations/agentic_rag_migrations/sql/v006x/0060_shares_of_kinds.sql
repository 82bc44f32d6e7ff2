-- As of 0055, with the ceilings of a day on embedding and on chat models. A ceiling counts where `used` has its name.
CREATE OR REPLACE FUNCTION rag_upkeep_budget_shares(searches bigint, pages bigint)
    RETURNS TABLE (scope text, ceiling text, share double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    tenant uuid;
    before text := coalesce(current_setting('rag.org_id', true), '');
    today date := (now() AT TIME ZONE 'UTC')::date;
    standard jsonb := jsonb_build_object('day_searches', searches, 'day_pages', pages);
BEGIN
    FOR tenant IN SELECT o.org_id FROM rag_organizations o LOOP
        PERFORM set_config('rag.org_id', tenant::text, true);
        RETURN QUERY
        WITH used AS (
            SELECT u.workspace_id,
                   coalesce(sum(u.cost_usd) FILTER (WHERE u.day = today), 0) AS day_usd,
                   coalesce(sum(u.cost_usd) FILTER (WHERE u.day = today AND u.kind = 'embedding'), 0)
                       AS day_embedding_usd,
                   coalesce(sum(u.cost_usd) FILTER (WHERE u.day = today AND u.kind = 'chat'), 0) AS day_chat_usd,
                   sum(u.cost_usd) AS month_usd,
                   coalesce(sum(u.calls) FILTER (WHERE u.day = today AND u.kind = 'search'), 0) AS day_searches,
                   coalesce(sum(u.calls) FILTER (WHERE u.day = today AND u.kind = 'page'), 0) AS day_pages
            FROM rag_usage u
            WHERE u.org_id = tenant AND u.day BETWEEN date_trunc('month', today)::date AND today
            GROUP BY u.workspace_id
        ), scopes AS (
            SELECT 'organisation' AS scope,
                   standard || jsonb_strip_nulls(coalesce(nullif(o.settings -> 'budget', 'null'), '{}')) AS ceilings,
                   (SELECT jsonb_build_object('day_usd', sum(u.day_usd), 'month_usd', sum(u.month_usd),
                                              'day_embedding_usd', sum(u.day_embedding_usd),
                                              'day_chat_usd', sum(u.day_chat_usd),
                                              'day_searches', sum(u.day_searches), 'day_pages', sum(u.day_pages))
                    FROM used u) AS used
            FROM rag_organizations o WHERE o.org_id = tenant
            UNION ALL
            SELECT 'workspace', jsonb_strip_nulls(w.settings -> 'budget'), to_jsonb(u)
            FROM rag_workspaces w JOIN used u USING (workspace_id)
            WHERE w.org_id = tenant AND w.leaving_at IS NULL AND jsonb_typeof(w.settings -> 'budget') = 'object'
        )
        SELECT s.scope, c.key, coalesce((s.used ->> c.key)::double precision, 0) / c.value::double precision
        FROM scopes s, LATERAL jsonb_each_text(s.ceilings) c
        WHERE s.used ? c.key AND c.value::double precision > 0;
    END LOOP;
    PERFORM set_config('rag.org_id', before, true);
END
$$;
