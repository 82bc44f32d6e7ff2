-- Run as rag_owner. Workspaces and organisations that are being erased, or were. A workspace that leaves keeps its row until
-- nothing else of it is left; the policies hide the row from every statement but those of the erasure itself.
ALTER TABLE rag_workspaces ADD COLUMN leaving_at timestamptz;
ALTER TABLE rag_organizations ADD COLUMN leaving_at timestamptz;
CREATE POLICY present ON rag_workspaces AS RESTRICTIVE
    USING (leaving_at IS NULL OR (SELECT current_setting('rag.erasing', true)) = 'on');
CREATE POLICY present ON rag_organizations AS RESTRICTIVE
    USING (leaving_at IS NULL OR (SELECT current_setting('rag.erasing', true)) = 'on');

-- The certificates: who asked, how many rows of each table went, and when nothing was left. No text, no name. The
-- application may append and complete, never delete. No foreign key: a certificate outlives what it is about.
CREATE TABLE rag_erasures (
    org_id        uuid NOT NULL,
    subject_id    uuid NOT NULL,  -- a workspace, or the organisation itself
    requested_by  text NOT NULL,
    requested_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    blob_owner    text,           -- the prefix of its originals; once it is erased, the SHA-256 of that
    counts        jsonb NOT NULL DEFAULT '{}',
    finished_at   timestamptz,
    PRIMARY KEY (org_id, subject_id)
);
ALTER TABLE rag_erasures ENABLE ROW LEVEL SECURITY;
ALTER TABLE rag_erasures FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON rag_erasures USING (org_id = (SELECT rag_current_org())) WITH CHECK (org_id = (SELECT rag_current_org()));
CREATE POLICY owner_reads ON rag_erasures FOR SELECT TO rag_owner USING (true);
GRANT SELECT, INSERT, UPDATE ON rag_erasures TO rag_app;

-- Audit entries outlive their organisation.
ALTER TABLE rag_audit DROP CONSTRAINT rag_audit_org_id_fkey;

-- Erasures whose job is gone or dead go on.
CREATE FUNCTION rag_upkeep_erasures() RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT e.org_id, e.subject_id, 'workspace' FROM rag_erasures e
    WHERE e.finished_at IS NULL AND e.subject_id <> e.org_id
$$;
REVOKE ALL ON FUNCTION rag_upkeep_erasures() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_upkeep_erasures() TO rag_dispatcher;

-- Names of organisations are unique, which only the owner can see.
CREATE FUNCTION rag_organization_name_is_free(wished text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('rag_organizations', 3));
    RETURN NOT EXISTS (
        SELECT FROM rag_organizations o WHERE o.name = wished AND o.org_id IS DISTINCT FROM rag_current_org()
    );
END
$$;
REVOKE ALL ON FUNCTION rag_organization_name_is_free(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_organization_name_is_free(text) TO rag_app;
