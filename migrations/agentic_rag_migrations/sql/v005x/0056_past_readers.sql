-- The access set of those who could read every text that a document had before, and may read now. NULL: as for its newest
-- text. Older versions are purged after a time, a backup or a snapshot may have them.
ALTER TABLE rag_documents ADD COLUMN past_access_id integer;
