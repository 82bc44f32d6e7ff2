-- Who may read a document. Copies of its access set stand beside what is searched (chunks, vectors, mentions, postings), so that a search
-- filters as it reads; a change of readers moves them all in one transaction.

-- A function below reads a column that comes last: who asks waits from there to the end.
SET LOCAL check_function_bodies = off;

-- Postings segments are immutable and name the access set a chunk was published with: where it stands now, until a merge writes it down.
CREATE TABLE rag_moved_ordinals (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    ordinal       integer NOT NULL,
    access_id     integer NOT NULL,
    PRIMARY KEY (org_id, workspace_id, ordinal),
    FOREIGN KEY (org_id, workspace_id) REFERENCES rag_workspaces ON DELETE CASCADE
);

CREATE POLICY owner_reads ON rag_access_sets FOR SELECT TO rag_owner USING (true);

-- readers: the caller's principals; null reads everything.
DROP FUNCTION rag_corpus_head(uuid, uuid);
CREATE FUNCTION rag_corpus_head(org uuid, workspace uuid, readers text[], OUT corpus_version integer, OUT space_id smallint,
                                OUT provider text, OUT model text, OUT dimensions integer, OUT "precision" text,
                                OUT support_threshold double precision, OUT access_version integer, OUT access_ids integer[],
                                OUT access_sets integer)
    RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT w.corpus_version, s.space_id, s.provider, s.model, s.dimensions, s.precision, s.support_threshold,
           w.access_version, a.ids, a.sets
    FROM rag_workspaces w
    LEFT JOIN rag_embedding_spaces s
      ON s.org_id = w.org_id AND s.workspace_id = w.workspace_id AND s.space_id = w.active_space
    CROSS JOIN LATERAL (
        SELECT array_agg(g.access_id) FILTER (WHERE g.access_id = 0 OR readers IS NULL OR g.principals && readers) AS ids,
               count(*)::integer AS sets
        FROM rag_access_sets g
        WHERE g.org_id = w.org_id AND g.workspace_id = w.workspace_id
    ) a
    WHERE w.org_id = org AND w.workspace_id = workspace
$$;
REVOKE ALL ON FUNCTION rag_corpus_head(uuid, uuid, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rag_corpus_head(uuid, uuid, text[]) TO rag_app;

-- Moved chunks are read with every look at the postings, until a merge writes them down.
CREATE POLICY owner_reads ON rag_moved_ordinals FOR SELECT TO rag_owner USING (true);
CREATE OR REPLACE FUNCTION rag_upkeep_segments() RETURNS TABLE (org_id uuid, workspace_id uuid, key text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT g.org_id, g.workspace_id, 'segments'
    FROM rag_segments g
    GROUP BY g.org_id, g.workspace_id
    HAVING count(*) > 64
        OR (count(*) FILTER (WHERE g.chunk_count <= 500) > 1 AND sum(g.chunk_count) FILTER (WHERE g.chunk_count <= 500) > 2000)
    UNION
    SELECT m.org_id, m.workspace_id, 'segments'
    FROM rag_moved_ordinals m
    GROUP BY m.org_id, m.workspace_id
    HAVING count(*) > 2000
$$;

-- The corpus version that last changed a document's readers: what was read or cached under an earlier one is not used any more.
ALTER TABLE rag_workspaces ADD COLUMN access_version integer NOT NULL DEFAULT 0;

ALTER TABLE rag_mentions ADD COLUMN access_id integer NOT NULL DEFAULT 0;
