-- Which pages of a revision were recognised in pictures. NULL: written by an earlier version of the product, which
-- kept it for the current revision of a document only.
ALTER TABLE rag_revisions ADD COLUMN recognised_pages text;
