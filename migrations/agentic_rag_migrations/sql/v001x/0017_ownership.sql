-- Who may replace a document's content beside its owner (uploaded_by) and admins.
ALTER TABLE rag_documents ADD COLUMN writers text[] NOT NULL DEFAULT '{}';
