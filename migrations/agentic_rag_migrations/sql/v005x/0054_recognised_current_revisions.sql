-- What is known of the revisions that are there: that of the current one of each document. The policies hide a tenant's
-- rows from the owner too, so that it looks into one organisation after the other. Readers wait for nothing here.
DO $$
DECLARE
    tenant uuid;
    before text := coalesce(current_setting('rag.org_id', true), '');
BEGIN
    FOR tenant IN SELECT o.org_id FROM rag_organizations o LOOP
        PERFORM set_config('rag.org_id', tenant::text, true);
        UPDATE rag_revisions r SET recognised_pages = d.provenance ->> 'recognised_pages'
        FROM rag_documents d
        WHERE r.org_id = tenant AND d.org_id = tenant AND d.workspace_id = r.workspace_id
          AND d.document_id = r.document_id AND d.revision_id = r.revision_id
          AND d.provenance ->> 'recognised_pages' IS NOT NULL;
    END LOOP;
    PERFORM set_config('rag.org_id', before, true);
END
$$;
