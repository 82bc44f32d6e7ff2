-- Run as rag_owner. What is said of a document beside its text. Readers of every corpus version see what is said today.

-- `above` wins, property by property and field by field; null removes. `documents.metadata.merge_json` does the same.
CREATE FUNCTION rag_merge_metadata(below jsonb, above jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN below || above || jsonb_set(
        '{"fields": {}}', '{fields}', coalesce(below -> 'fields', '{}') || coalesce(above -> 'fields', '{}')
    );

CREATE FUNCTION rag_metadata_day(day text) RETURNS date
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN make_date(substr(day, 1, 4)::integer, substr(day, 6, 2)::integer, substr(day, 9, 2)::integer);

-- What a document is found by: one row for each tag, its domain, its language (`de-at`: as `de` too) and each field with
-- its value. Row level security keeps the operators of jsonb and arrays out of index scans; equality of text it does not.
CREATE TABLE rag_document_labels (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    label         text COLLATE "C" NOT NULL,
    document_id   uuid NOT NULL,
    PRIMARY KEY (org_id, workspace_id, label, document_id),
    FOREIGN KEY (org_id, workspace_id, document_id) REFERENCES rag_documents ON DELETE CASCADE
);
CREATE INDEX rag_document_labels_document ON rag_document_labels (org_id, workspace_id, document_id);

CREATE FUNCTION rag_metadata_labels(metadata jsonb) RETURNS SETOF text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT 'tag=' || tag
    FROM jsonb_array_elements_text(CASE jsonb_typeof(metadata -> 'tags') WHEN 'array' THEN metadata -> 'tags' ELSE '[]' END) tag
    UNION
    SELECT 'domain=' || (metadata ->> 'domain') WHERE metadata ->> 'domain' IS NOT NULL
    UNION
    SELECT 'language=' || (metadata ->> 'language') WHERE metadata ->> 'language' IS NOT NULL
    UNION
    SELECT 'language=' || split_part(metadata ->> 'language', '-', 1) WHERE metadata ->> 'language' IS NOT NULL
    UNION
    SELECT 'field.' || name || '=' || value::text
    FROM jsonb_each(coalesce(metadata -> 'fields', '{}')) AS own(name, value)
    WHERE jsonb_typeof(value) <> 'null'
$$;

CREATE FUNCTION rag_label_document() RETURNS trigger
    LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    DELETE FROM rag_document_labels l
    WHERE l.org_id = NEW.org_id AND l.workspace_id = NEW.workspace_id AND l.document_id = NEW.document_id;
    INSERT INTO rag_document_labels (org_id, workspace_id, label, document_id)
    SELECT NEW.org_id, NEW.workspace_id, label, NEW.document_id FROM rag_metadata_labels(NEW.metadata) AS own(label);
    RETURN NULL;
END
$$;

-- After all that needs no columns of it: who asks for documents waits from here to the end.
-- found: what the document's own text says (front matter). given: what callers say, which wins.
ALTER TABLE rag_documents
    ADD COLUMN found_metadata jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN given_metadata jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN metadata jsonb NOT NULL GENERATED ALWAYS AS (rag_merge_metadata(found_metadata, given_metadata)) STORED,
    ADD COLUMN document_date date
        GENERATED ALWAYS AS (rag_metadata_day(rag_merge_metadata(found_metadata, given_metadata) ->> 'date')) STORED;

CREATE INDEX rag_documents_date ON rag_documents (org_id, workspace_id, document_date) WHERE document_date IS NOT NULL;

CREATE TRIGGER rag_new_labels AFTER INSERT ON rag_documents
    FOR EACH ROW WHEN (NEW.found_metadata <> '{}' OR NEW.given_metadata <> '{}') EXECUTE FUNCTION rag_label_document();
CREATE TRIGGER rag_changed_labels AFTER UPDATE OF found_metadata, given_metadata ON rag_documents
    FOR EACH ROW WHEN (OLD.found_metadata <> NEW.found_metadata OR OLD.given_metadata <> NEW.given_metadata)
    EXECUTE FUNCTION rag_label_document();
