-- Run as rag_owner. A chunk is found by its public id, and explanations no longer scan the workspace for it.
CREATE INDEX CONCURRENTLY rag_chunks_id ON rag_chunks (org_id, workspace_id, chunk_id);
