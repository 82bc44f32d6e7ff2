-- The spine. Run as rag_owner. Conventions:
--   * every key of a tenant table begins with the tenant: no id is an oracle, and Citus could distribute by workspace
--   * visible_from / visible_to are corpus versions: a reader at version v sees visible_from <= v < coalesce(visible_to, infinity)
--   * offsets are Unicode code points, end exclusive

CREATE FUNCTION rag_current_org() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('rag.org_id', true), '')::uuid;

CREATE TABLE rag_organizations (
    org_id      uuid PRIMARY KEY,
    name        text NOT NULL,
    settings    jsonb NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE rag_api_keys (
    org_id       uuid NOT NULL REFERENCES rag_organizations,
    key_id       uuid NOT NULL,
    key_hash     bytea NOT NULL CHECK (length(key_hash) = 32),
    name         text NOT NULL,
    subject      text NOT NULL,
    role         text NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'operator')),
    groups       text[] NOT NULL DEFAULT '{}',
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz,
    revoked_at   timestamptz,
    PRIMARY KEY (org_id, key_id)
);
-- Not unique: the hash of a 256-bit secret cannot collide, and a unique key without the tenant would be an oracle.
CREATE INDEX rag_api_keys_hash ON rag_api_keys (key_hash);

CREATE TABLE rag_workspaces (
    org_id          uuid NOT NULL REFERENCES rag_organizations,
    workspace_id    uuid NOT NULL,
    name            text COLLATE "C" NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('general', 'project', 'agent')),
    external_ref    text,
    settings        jsonb NOT NULL DEFAULT '{}',
    corpus_version  integer NOT NULL DEFAULT 0,
    graph_version   integer NOT NULL DEFAULT 0,
    oldest_version  integer NOT NULL DEFAULT 0,
    next_ordinal    integer NOT NULL DEFAULT 0,
    active_space    smallint,
    history_days    integer NOT NULL DEFAULT 7 CHECK (history_days >= 0),
    runs_days       integer NOT NULL DEFAULT 30 CHECK (runs_days >= 0),
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, workspace_id),
    UNIQUE (org_id, name),
    UNIQUE (org_id, kind, external_ref)
);

CREATE TABLE rag_access_sets (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    access_id     integer NOT NULL,
    principals    text[] NOT NULL,
    PRIMARY KEY (org_id, workspace_id, access_id),
    UNIQUE (org_id, workspace_id, principals),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);

CREATE TABLE rag_embedding_spaces (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    space_id      smallint NOT NULL,
    provider      text NOT NULL,
    model         text NOT NULL,
    dimensions    integer NOT NULL CHECK (dimensions BETWEEN 1 AND 4000),
    precision     text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, workspace_id, space_id),
    UNIQUE (org_id, workspace_id, provider, model, dimensions, precision),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);

CREATE TABLE rag_documents (
    org_id         uuid NOT NULL,
    workspace_id   uuid NOT NULL,
    document_id    uuid NOT NULL,
    source_path    text COLLATE "C" NOT NULL,
    title          text NOT NULL,
    url            text,
    file_name      text NOT NULL,
    media_type     text NOT NULL,
    size           bigint NOT NULL,
    uploaded_by    text NOT NULL,
    access_id      integer NOT NULL DEFAULT 0,
    status         text NOT NULL CHECK (status IN ('PENDING', 'PROCESSING', 'READY', 'FAILED')),
    error_code     text,
    error_message  text,
    error_attempts integer NOT NULL DEFAULT 0,
    error_retryable boolean NOT NULL DEFAULT false,
    revision_id    uuid,
    content_hash   bytea,
    corpus_version integer NOT NULL DEFAULT 0,
    chunk_count    integer NOT NULL DEFAULT 0,
    chunks_done    integer NOT NULL DEFAULT 0,
    provenance     jsonb NOT NULL DEFAULT '{}',
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, workspace_id, document_id),
    UNIQUE (org_id, workspace_id, source_path),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE,
    FOREIGN KEY (org_id, workspace_id, access_id) REFERENCES rag_access_sets
);
CREATE INDEX rag_documents_source ON rag_documents (org_id, workspace_id, (provenance ->> 'source'));

-- The text that citations are verified against. published_from is null while staged.
CREATE TABLE rag_revisions (
    org_id          uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    revision_id     uuid NOT NULL,
    document_id     uuid NOT NULL,
    text            text NOT NULL,
    text_hash       bytea NOT NULL,
    page_numbers    integer[] NOT NULL DEFAULT '{}',
    page_starts     integer[] NOT NULL DEFAULT '{}',
    page_ends       integer[] NOT NULL DEFAULT '{}',
    parser          text NOT NULL,
    parser_version  text NOT NULL,
    published_from  integer,
    published_to    integer,
    superseded_at   timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, workspace_id, revision_id),
    FOREIGN KEY (org_id, workspace_id, document_id) REFERENCES rag_documents ON DELETE CASCADE
);
-- Not compressed: a citation reads one span, and would unpack the whole text for it.
ALTER TABLE rag_revisions ALTER COLUMN text SET STORAGE EXTERNAL;
CREATE INDEX rag_revisions_document ON rag_revisions (org_id, workspace_id, document_id);

-- One row per placement of a chunk: text that merely moved gets a new row under its old ordinal, and keeps vector, postings, mentions.
CREATE TABLE rag_chunks (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    ordinal       integer NOT NULL,
    visible_from  integer NOT NULL,
    visible_to    integer,
    document_id   uuid NOT NULL,
    revision_id   uuid NOT NULL,
    chunk_id      uuid NOT NULL,
    access_id     integer NOT NULL DEFAULT 0,
    index         integer NOT NULL,
    char_start    integer NOT NULL,
    char_end      integer NOT NULL,
    page          integer,
    line_start    integer NOT NULL,
    line_end      integer NOT NULL,
    heading_path  text[] NOT NULL DEFAULT '{}',
    content_hash  bytea NOT NULL,
    text          text NOT NULL,
    PRIMARY KEY (org_id, workspace_id, ordinal, visible_from),
    FOREIGN KEY (org_id, workspace_id, document_id) REFERENCES rag_documents,
    FOREIGN KEY (org_id, workspace_id, revision_id) REFERENCES rag_revisions
);
CREATE INDEX rag_chunks_document ON rag_chunks (org_id, workspace_id, document_id);

-- Ordinals whose chunk is gone since version closed_at: what the immutable postings segments must skip.
CREATE TABLE rag_closed_ordinals (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    ordinal       integer NOT NULL,
    closed_at     integer NOT NULL,
    PRIMARY KEY (org_id, workspace_id, ordinal),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);

-- Narrow on purpose: an exact scan reads nothing but this. PLAIN keeps vectors in the row (TOAST doubles the scan at 1,536 dimensions).
CREATE TABLE rag_embeddings (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    space_id      smallint NOT NULL,
    ordinal       integer NOT NULL,
    access_id     integer NOT NULL DEFAULT 0,
    visible_from  integer NOT NULL,
    visible_to    integer,
    v             halfvec NOT NULL,
    PRIMARY KEY (org_id, workspace_id, space_id, ordinal),
    FOREIGN KEY (org_id, workspace_id, space_id) REFERENCES rag_embedding_spaces
);
ALTER TABLE rag_embeddings ALTER COLUMN v SET STORAGE PLAIN;

-- One immutable mini-index per publish; arrays are little-endian (see agentic_rag.domain.postings).
CREATE TABLE rag_segments (
    org_id            uuid NOT NULL,
    workspace_id      uuid NOT NULL,
    segment_id        uuid NOT NULL,
    visible_from      integer NOT NULL,
    chunk_count       integer NOT NULL,
    ordinals          bytea NOT NULL,
    lengths           bytea NOT NULL,
    access            bytea NOT NULL,
    visible           bytea NOT NULL,
    terms             bytea NOT NULL,
    offsets           bytea NOT NULL,
    posting_ordinals  bytea NOT NULL,
    posting_counts    bytea NOT NULL,
    PRIMARY KEY (org_id, workspace_id, segment_id),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);

-- Postings hardly compress and are read whole: no time is spent on trying.
ALTER TABLE rag_segments
    ALTER COLUMN ordinals SET STORAGE EXTERNAL, ALTER COLUMN lengths SET STORAGE EXTERNAL, ALTER COLUMN access SET STORAGE EXTERNAL,
    ALTER COLUMN visible SET STORAGE EXTERNAL, ALTER COLUMN terms SET STORAGE EXTERNAL, ALTER COLUMN offsets SET STORAGE EXTERNAL,
    ALTER COLUMN posting_ordinals SET STORAGE EXTERNAL, ALTER COLUMN posting_counts SET STORAGE EXTERNAL;

CREATE TABLE rag_staged_chunks (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    revision_id   uuid NOT NULL,
    index         integer NOT NULL,
    document_id   uuid NOT NULL,
    chunk_id      uuid NOT NULL,
    char_start    integer NOT NULL,
    char_end      integer NOT NULL,
    page          integer,
    line_start    integer NOT NULL,
    line_end      integer NOT NULL,
    heading_path  text[] NOT NULL DEFAULT '{}',
    content_hash  bytea NOT NULL,
    text          text NOT NULL,
    space_id      smallint,
    vector        bytea,
    PRIMARY KEY (org_id, workspace_id, revision_id, index),
    FOREIGN KEY (org_id, workspace_id, revision_id) REFERENCES rag_revisions ON DELETE CASCADE
);

CREATE TABLE rag_entities (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    entity_id     uuid NOT NULL,
    key           text NOT NULL,
    name          text NOT NULL,
    kind          text NOT NULL,
    source_id     uuid NOT NULL,
    PRIMARY KEY (org_id, workspace_id, entity_id),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);

-- An entity in a chunk. `related` holds the entities it shares a sentence with there, and `weights` how often: so a relation appears and
-- goes with its chunk, and a pair's weight at version v is the sum over the rows visible at v. Both ends hold the pair.
-- No foreign key: rows come and go with their chunk, under the workspace's lock, and checking each costs a publish a quarter of its speed.
CREATE TABLE rag_mentions (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    entity_id     uuid NOT NULL,
    ordinal       integer NOT NULL,
    document_id   uuid NOT NULL,
    count         integer NOT NULL,
    related       uuid[] NOT NULL DEFAULT '{}',
    weights       integer[] NOT NULL DEFAULT '{}',
    visible_from  integer NOT NULL,
    visible_to    integer,
    PRIMARY KEY (org_id, workspace_id, entity_id, ordinal)
);
CREATE INDEX rag_mentions_ordinal ON rag_mentions (org_id, workspace_id, ordinal);

-- What was erased: keeps a late writer from bringing it back. No text, no title.
CREATE TABLE rag_tombstones (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    document_id   uuid NOT NULL,
    erased_at     timestamptz NOT NULL DEFAULT now(),
    version       integer NOT NULL,
    certificate   jsonb NOT NULL,
    PRIMARY KEY (org_id, workspace_id, document_id),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);

CREATE TABLE rag_jobs (
    org_id         uuid NOT NULL,
    workspace_id   uuid NOT NULL,
    job_id         uuid NOT NULL,
    kind           text NOT NULL,
    key            text NOT NULL,
    queue          text NOT NULL DEFAULT 'bulk' CHECK (queue IN ('bulk', 'interactive')),
    state          text NOT NULL DEFAULT 'QUEUED' CHECK (state IN ('QUEUED', 'RUNNING', 'DONE', 'DEAD', 'CANCELLED')),
    document_id    uuid,
    arguments      jsonb NOT NULL DEFAULT '{}',
    trace_carrier  jsonb NOT NULL DEFAULT '{}',
    attempts       integer NOT NULL DEFAULT 0,
    fence          bigint NOT NULL DEFAULT 0,
    leased_by      text,
    lease_until    timestamptz,
    progress       integer NOT NULL DEFAULT 0,
    run_after      timestamptz NOT NULL DEFAULT now(),
    error_code     text,
    error_message  text,
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, workspace_id, job_id),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);
-- The idempotency key: at most one unfinished job per workspace, kind and key.
CREATE UNIQUE INDEX rag_jobs_key ON rag_jobs (org_id, workspace_id, kind, key) WHERE state IN ('QUEUED', 'RUNNING');
CREATE INDEX rag_jobs_due ON rag_jobs (queue, run_after) WHERE state = 'QUEUED';
CREATE INDEX rag_jobs_leases ON rag_jobs (lease_until) WHERE state = 'RUNNING';
CREATE INDEX rag_jobs_document ON rag_jobs (org_id, workspace_id, document_id) WHERE state IN ('QUEUED', 'RUNNING');

CREATE TABLE rag_job_attempts (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    job_id        uuid NOT NULL,
    attempt       integer NOT NULL,
    worker        text NOT NULL,
    started_at    timestamptz NOT NULL DEFAULT now(),
    ended_at      timestamptz,
    outcome       text,
    error_code    text,
    error_chain   text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (org_id, workspace_id, job_id, attempt),
    FOREIGN KEY (org_id, workspace_id, job_id) REFERENCES rag_jobs ON DELETE CASCADE
);

CREATE TABLE rag_runs (
    org_id           uuid NOT NULL,
    workspace_id     uuid NOT NULL,
    run_id           uuid NOT NULL,
    trace_id         text NOT NULL,
    subject          text NOT NULL,
    question         text NOT NULL,
    outcome          text NOT NULL,
    cache            text NOT NULL,
    seconds          double precision NOT NULL,
    corpus_version   integer NOT NULL,
    graph_version    integer NOT NULL,
    space            text,
    weights_version  text NOT NULL,
    pipeline_version text NOT NULL,
    models           text[] NOT NULL DEFAULT '{}',
    document_ids     uuid[] NOT NULL DEFAULT '{}',
    answer           jsonb NOT NULL,
    idempotency_key  text,
    input_hash       bytea,
    created_at       timestamptz NOT NULL,
    PRIMARY KEY (org_id, workspace_id, run_id),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);
CREATE INDEX rag_runs_newest ON rag_runs (org_id, workspace_id, created_at, run_id);
CREATE UNIQUE INDEX rag_runs_idempotency ON rag_runs (org_id, workspace_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE TABLE rag_run_stages (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    run_id        uuid NOT NULL,
    position      integer NOT NULL,
    stage         text NOT NULL,
    started       double precision NOT NULL,
    seconds       double precision NOT NULL,
    outcome       text NOT NULL,
    PRIMARY KEY (org_id, workspace_id, run_id, position),
    FOREIGN KEY (org_id, workspace_id, run_id) REFERENCES rag_runs ON DELETE CASCADE
);

CREATE TABLE rag_cache_entries (
    org_id          uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    key             text NOT NULL,
    answer          bytea NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL,
    PRIMARY KEY (org_id, workspace_id, key),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);
CREATE INDEX rag_cache_entries_expiry ON rag_cache_entries (expires_at);

CREATE VIEW rag_chunks_v1 WITH (security_invoker = true) AS
SELECT c.org_id,
       c.workspace_id,
       d.source_path,
       c.visible_from                    AS corpus_version,
       c.chunk_id,
       c.ordinal,
       c.text,
       e.v::real[]                       AS embedding_array,
       ARRAY [c.char_start, c.char_end]  AS offsets
FROM rag_chunks c
JOIN rag_documents d USING (org_id, workspace_id, document_id)
JOIN rag_workspaces w USING (org_id, workspace_id)
LEFT JOIN rag_embeddings e
       ON e.org_id = c.org_id AND e.workspace_id = c.workspace_id
      AND e.ordinal = c.ordinal AND e.space_id = w.active_space
WHERE c.visible_to IS NULL;

-- Row level security: the second wall behind explicit predicates.
DO $$
DECLARE t text;
BEGIN
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename LIKE 'rag\_%'
                AND tablename <> 'rag_schema_version' LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        -- The sub-select makes the planner evaluate the setting once per statement, not once per row.
        EXECUTE format('CREATE POLICY tenant ON %I USING (org_id = (SELECT rag_current_org())) '
                       'WITH CHECK (org_id = (SELECT rag_current_org()))', t);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO rag_app', t);
    END LOOP;
END $$;
GRANT SELECT ON rag_chunks_v1 TO rag_app;
-- No secret, and `rag migrate status` may come with any login.
GRANT SELECT ON rag_schema_version TO PUBLIC;

-- The dispatcher sees jobs of every tenant: ids, states and times, never arguments or errors.
GRANT SELECT (org_id, workspace_id, job_id, kind, queue, state, run_after, created_at, lease_until, fence, updated_at) ON rag_jobs TO rag_dispatcher;
GRANT UPDATE (state, lease_until, leased_by, fence, run_after, updated_at) ON rag_jobs TO rag_dispatcher;
CREATE POLICY dispatcher_reads ON rag_jobs FOR SELECT TO rag_dispatcher USING (true);
CREATE POLICY dispatcher_writes ON rag_jobs FOR UPDATE TO rag_dispatcher USING (true) WITH CHECK (true);

-- What must be read before, or without, a tenant transaction. The functions run as the owner, who may read these three tables.
CREATE POLICY owner_reads ON rag_workspaces FOR SELECT TO rag_owner USING (true);
CREATE POLICY owner_reads ON rag_api_keys FOR SELECT TO rag_owner USING (true);
CREATE POLICY owner_reads ON rag_cache_entries FOR SELECT TO rag_owner USING (true);

CREATE FUNCTION rag_corpus_version(org uuid, workspace uuid) RETURNS integer
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT corpus_version FROM rag_workspaces WHERE org_id = org AND workspace_id = workspace
$$;

CREATE FUNCTION rag_cached_answer(org uuid, workspace uuid, entry text) RETURNS bytea
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT answer FROM rag_cache_entries
    WHERE org_id = org AND workspace_id = workspace AND key = entry AND expires_at > now()
$$;

CREATE FUNCTION rag_authenticate(hash bytea, OUT org_id uuid, OUT subject text, OUT role text, OUT groups text[]) RETURNS record
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT k.org_id, k.subject, k.role, k.groups FROM rag_api_keys k
    WHERE k.key_hash = hash AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    LIMIT 1
$$;

REVOKE ALL ON FUNCTION rag_corpus_version(uuid, uuid), rag_cached_answer(uuid, uuid, text), rag_authenticate(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_corpus_version(uuid, uuid), rag_cached_answer(uuid, uuid, text), rag_authenticate(bytea) TO rag_app;
