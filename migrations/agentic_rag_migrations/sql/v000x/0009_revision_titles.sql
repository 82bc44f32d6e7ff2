-- An erasure gives an entity back the kind its next source gave it, and a document's title may have changed since then.
-- Revisions from before have none: the title of today stands in.
ALTER TABLE rag_revisions ADD COLUMN title text;
