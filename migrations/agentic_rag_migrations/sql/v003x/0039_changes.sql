-- Run as rag_owner. What a workspace's followers are told, and what `rag_jobs_finished` was for: what ended lately.
CREATE INDEX CONCURRENTLY rag_jobs_changed ON rag_jobs (org_id, workspace_id, updated_at);
DROP INDEX rag_jobs_finished;
CREATE INDEX CONCURRENTLY rag_documents_changed ON rag_documents (org_id, workspace_id, updated_at);
