-- The transaction that changed a title of a published document last; 0 for none. A title changes without a version, and
-- processes that hold titles see by it that those they hold are the stored ones. The row is locked behind those of
-- documents, the order in which publishing locks them.
ALTER TABLE rag_workspaces ADD COLUMN titles_changed bigint NOT NULL DEFAULT 0;

CREATE FUNCTION rag_note_title() RETURNS trigger
    LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE rag_workspaces w
    SET titles_changed = pg_current_xact_id()::text::bigint
    WHERE w.org_id = NEW.org_id AND w.workspace_id = NEW.workspace_id
      AND w.titles_changed <> pg_current_xact_id()::text::bigint;
    RETURN NULL;
END
$$;
CREATE TRIGGER rag_changed_title AFTER UPDATE OF title ON rag_documents
    FOR EACH ROW WHEN (OLD.revision_id IS NOT NULL AND OLD.title <> NEW.title) EXECUTE FUNCTION rag_note_title();
