-- Organisations whose tokens come from elsewhere, and API keys that may do less than their role.

-- The organisation's id at whoever issues tokens, when that is not our own id.
ALTER TABLE rag_organizations
    ADD COLUMN external_ref text,
    ALTER COLUMN settings SET DEFAULT '{"flags": {"ragGuidelines": false}}';

-- `rag tenant list` and `rag tenant create` act as the owner.
CREATE POLICY owner_reads ON rag_organizations FOR SELECT TO rag_owner USING (true);
