-- Where the original bytes of documents are, and uploads by idempotency key. Run as rag_owner; run_sql puts new tables behind row level security.

-- One row per content of a document. Its blob key belongs to one upload and is never used again, so whoever removes a key
-- that is doomed cannot hit the original of a later upload. No foreign key to documents: an erasure moves the keys to
-- rag_doomed_blobs before the document's row goes, and nothing may drop them on the way.
CREATE TABLE rag_originals (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    document_id   uuid NOT NULL,
    content_hash  bytea NOT NULL CHECK (length(content_hash) = 32),
    blob_key      text COLLATE "C" NOT NULL,
    size          bigint NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, workspace_id, document_id, content_hash),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces
);

-- Blobs that nothing needs any more. A row goes when its blob is gone, so a crash between the two forgets neither.
CREATE TABLE rag_doomed_blobs (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    blob_key      text COLLATE "C" NOT NULL,
    document_id   uuid NOT NULL,
    doomed_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, workspace_id, blob_key),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces
);
CREATE INDEX rag_doomed_blobs_document ON rag_doomed_blobs (org_id, workspace_id, document_id);

-- What an idempotency key was answered with. No job: the bytes were there already.
CREATE TABLE rag_uploads (
    org_id           uuid NOT NULL,
    workspace_id     uuid NOT NULL,
    idempotency_key  text COLLATE "C" NOT NULL,
    input_hash       bytea NOT NULL CHECK (length(input_hash) = 32),
    document_id      uuid NOT NULL,
    job_id           uuid,
    created_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, workspace_id, idempotency_key),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);

-- Originals stored before had a key made of workspace, document and content. The owner is behind the policy as well
-- while it is forced: lifted for this one statement, or it would copy nothing and say so to nobody.
ALTER TABLE rag_documents NO FORCE ROW LEVEL SECURITY;
INSERT INTO rag_originals (org_id, workspace_id, document_id, content_hash, blob_key, size)
SELECT d.org_id, d.workspace_id, d.document_id, held.content_hash,
       concat_ws('/', d.org_id, d.workspace_id, d.document_id, encode(held.content_hash, 'hex')), d.size
FROM rag_documents d
CROSS JOIN LATERAL (
    SELECT d.content_hash WHERE d.content_hash IS NOT NULL AND d.provenance ? 'content_sha256'
    UNION
    SELECT decode(d.provenance ->> 'content_sha256', 'hex') WHERE d.provenance ? 'content_sha256'
) AS held;
ALTER TABLE rag_documents FORCE ROW LEVEL SECURITY;

-- Upkeep also removes blobs that were doomed and not removed at once.
CREATE POLICY owner_reads ON rag_doomed_blobs FOR SELECT TO rag_owner USING (true);
CREATE OR REPLACE FUNCTION rag_upkeep_retention() RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT w.org_id, w.workspace_id, 'expired'
    FROM rag_workspaces w
    WHERE EXISTS (
            SELECT FROM rag_runs r
            WHERE r.org_id = w.org_id AND r.workspace_id = w.workspace_id
              AND r.created_at <= now() - make_interval(days => w.runs_days)
        )
       OR EXISTS (
            SELECT FROM rag_cache_entries c
            WHERE c.org_id = w.org_id AND c.workspace_id = w.workspace_id AND c.expires_at <= now() - interval '1 hour'
        )
       OR EXISTS (
            SELECT FROM rag_revisions v
            WHERE v.org_id = w.org_id AND v.workspace_id = w.workspace_id AND v.published_to > w.oldest_version
              AND v.superseded_at <= now() - make_interval(days => w.history_days)
        )
       OR EXISTS (
            SELECT FROM rag_doomed_blobs b
            WHERE b.org_id = w.org_id AND b.workspace_id = w.workspace_id AND b.doomed_at <= now() - interval '10 minutes'
        )
$$;
