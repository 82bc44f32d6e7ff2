-- Run as rag_owner. A revision that goes no longer scans the chunks of its workspace for one that still refers to it.
CREATE INDEX CONCURRENTLY rag_chunks_revision ON rag_chunks (org_id, workspace_id, revision_id);
