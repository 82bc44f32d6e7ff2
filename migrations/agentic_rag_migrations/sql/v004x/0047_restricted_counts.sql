-- How many restricted versions there are up to each: what a caller is not shown is that number less the versions that
-- touch a set of his, which an index finds. A trigger counts, because programs of before write no count.
ALTER TABLE rag_restricted_versions ADD COLUMN counted integer;
CREATE INDEX CONCURRENTLY rag_restricted_versions_sets ON rag_restricted_versions (org_id, workspace_id, access_id, version);

-- Versions come in order, under the lock of their workspace's row. Rows of before have no count until the next revision.
CREATE FUNCTION rag_count_restricted() RETURNS trigger
    LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    SELECT CASE WHEN r.version = NEW.version THEN r.counted ELSE r.counted + 1 END INTO NEW.counted
    FROM rag_restricted_versions r
    WHERE r.org_id = NEW.org_id AND r.workspace_id = NEW.workspace_id AND r.version <= NEW.version
    ORDER BY r.version DESC LIMIT 1;
    IF NOT FOUND THEN
        NEW.counted := 1;
    ELSIF NEW.counted IS NULL THEN
        SELECT count(DISTINCT r.version) + 1 INTO NEW.counted
        FROM rag_restricted_versions r
        WHERE r.org_id = NEW.org_id AND r.workspace_id = NEW.workspace_id AND r.version < NEW.version;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER rag_counted_restricted BEFORE INSERT ON rag_restricted_versions
    FOR EACH ROW EXECUTE FUNCTION rag_count_restricted();
