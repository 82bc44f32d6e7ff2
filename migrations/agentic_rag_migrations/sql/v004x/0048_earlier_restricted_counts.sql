-- The counts of the restricted versions that are there. The policies hide a tenant's rows from the owner too, so that it
-- looks into one organisation after the other. Readers and publishes wait for nothing here.
DO $$
DECLARE
    tenant uuid;
    before text := coalesce(current_setting('rag.org_id', true), '');
BEGIN
    FOR tenant IN SELECT o.org_id FROM rag_organizations o LOOP
        PERFORM set_config('rag.org_id', tenant::text, true);
        UPDATE rag_restricted_versions r SET counted = known.counted
        FROM (
            SELECT workspace_id, version, access_id,
                   dense_rank() OVER (PARTITION BY workspace_id ORDER BY version)::integer AS counted
            FROM rag_restricted_versions WHERE org_id = tenant
        ) known
        WHERE r.org_id = tenant AND r.workspace_id = known.workspace_id AND r.version = known.version
          AND r.access_id = known.access_id AND r.counted IS NULL;
    END LOOP;
    PERFORM set_config('rag.org_id', before, true);
END
$$;
