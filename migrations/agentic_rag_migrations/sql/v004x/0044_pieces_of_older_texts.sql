-- Pieces of the long texts that are there. The policies hide a tenant's texts from the owner too, so that it looks into
-- one organisation after the other. What is being erased meanwhile needs none.
DO $$
DECLARE
    tenant uuid;
    one record;
    before text := coalesce(current_setting('rag.org_id', true), '');
BEGIN
    FOR tenant IN SELECT o.org_id FROM rag_organizations o LOOP
        PERFORM set_config('rag.org_id', tenant::text, true);
        FOR one IN
            SELECT r.workspace_id, r.revision_id FROM rag_revisions r
            WHERE r.org_id = tenant AND octet_length(r.text) > 65536
              AND NOT EXISTS (
                  SELECT FROM rag_text_pieces p
                  WHERE p.org_id = tenant AND p.workspace_id = r.workspace_id AND p.revision_id = r.revision_id
              )
        LOOP
            INSERT INTO rag_text_pieces (org_id, workspace_id, revision_id, start, document_id, text)
            SELECT tenant, one.workspace_id, one.revision_id, cut.start, held.document_id, cut.piece
            FROM (
                SELECT r.document_id, r.text FROM rag_revisions r
                WHERE r.org_id = tenant AND r.workspace_id = one.workspace_id AND r.revision_id = one.revision_id
                FOR KEY SHARE SKIP LOCKED
            ) held
            CROSS JOIN LATERAL rag_cut_text(held.text) AS cut
            ON CONFLICT DO NOTHING;
        END LOOP;
    END LOOP;
    PERFORM set_config('rag.org_id', before, true);
END
$$;
