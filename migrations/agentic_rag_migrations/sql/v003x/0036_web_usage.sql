-- Run as rag_owner. Searches and pages of the web are counted beside calls of models.
ALTER TABLE rag_usage DROP CONSTRAINT rag_usage_kind_check;
ALTER TABLE rag_usage ADD CONSTRAINT rag_usage_kind_check CHECK (kind IN ('embedding', 'chat', 'search', 'page'));
