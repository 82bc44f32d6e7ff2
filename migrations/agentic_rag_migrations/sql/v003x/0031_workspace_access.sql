-- Who may enter a workspace and who may change its documents; null: whoever the organisation's roles let.
ALTER TABLE rag_workspaces ADD COLUMN readers text[], ADD COLUMN writers text[];

-- The principals of the caller that the transaction is bound to, each in hex; null for the product itself and for those
-- who manage every workspace.
CREATE FUNCTION rag_caller() RETURNS text[]
    LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN current_setting('rag.caller', true) <> '' THEN ARRAY (
        SELECT convert_from(decode(one, 'hex'), 'UTF8')
        FROM unnest(string_to_array(current_setting('rag.caller', true), ',')) one
    ) END
$$;

-- The caller's principals are read once per statement. The owner's functions are bound by it too.
CREATE POLICY entered ON rag_workspaces AS RESTRICTIVE FOR SELECT
    USING (readers IS NULL OR (SELECT rag_caller()) IS NULL
           OR (readers || coalesce(writers, '{}')) && (SELECT rag_caller()));

-- What is reached by an id of its own. Passages, vectors and postings are reached through the workspace or a document.
DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY ARRAY[
        'rag_documents', 'rag_tombstones', 'rag_jobs', 'rag_runs', 'rag_uploads', 'rag_access_sets'
    ]
    LOOP
        EXECUTE format($policy$
            CREATE POLICY entered ON %1$I AS RESTRICTIVE FOR SELECT TO rag_app
            USING (nullif((SELECT current_setting('rag.caller', true)), '') IS NULL OR EXISTS (
                SELECT FROM rag_workspaces w WHERE w.org_id = %1$I.org_id AND w.workspace_id = %1$I.workspace_id
            ))$policy$, t);
    END LOOP;
END $$;
