-- The secret under which an organisation's new documents get their ids. Documents that are there keep theirs.
ALTER TABLE rag_organizations
    ADD COLUMN document_key bytea NOT NULL
    DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');
