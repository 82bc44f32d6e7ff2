-- Organisations whose tokens come from elsewhere, and API keys that may do less than their role.

-- The organisation's id at whoever issues tokens, when that is not our own id.
ALTER TABLE rag_organizations
    ADD COLUMN external_ref text,
    ALTER COLUMN settings SET DEFAULT '{"flags": {"ragGuidelines": false}}';

-- `rag tenant list` and `rag tenant create` act as the owner.
CREATE POLICY owner_reads ON rag_organizations FOR SELECT TO rag_owner USING (true);

-- An id of ours would let one organisation be named by another's token claim.
ALTER TABLE rag_organizations ADD CONSTRAINT external_ref_is_no_id CHECK (external_ref !~ '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-');
CREATE INDEX rag_organizations_reference ON rag_organizations (external_ref);

-- Which organisation a verified token speaks of, by our id or by the issuer's; nobody when the latter is not unique.
CREATE FUNCTION rag_find_organization(reference text) RETURNS uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT min(org_id::text)::uuid FROM rag_organizations
    WHERE external_ref = reference
       OR org_id = CASE WHEN reference ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN reference::uuid END
    HAVING count(*) = 1
$$;

-- NULL: all that the role may do.
ALTER TABLE rag_api_keys ADD COLUMN scopes text[], ADD COLUMN last_used_at timestamptz;

DROP FUNCTION rag_authenticate(bytea);
CREATE FUNCTION rag_authenticate(hash bytea, OUT org_id uuid, OUT subject text, OUT role text, OUT groups text[], OUT key_id uuid,
                                 OUT scopes text[], OUT expires_at timestamptz) RETURNS record
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT k.org_id, k.subject, k.role, k.groups, k.key_id, k.scopes, k.expires_at FROM rag_api_keys k
    WHERE k.key_hash = hash AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    LIMIT 1
$$;
REVOKE ALL ON FUNCTION rag_authenticate(bytea), rag_find_organization(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_authenticate(bytea), rag_find_organization(text) TO rag_app;
