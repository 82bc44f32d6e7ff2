-- Long texts in pieces too: a span is counted from the start of its piece, not from the start of the text. Pieces follow
-- from the text, whoever writes it. The text of a revision keeps its place: programs of before read it.
CREATE TABLE rag_text_pieces (
    org_id        uuid NOT NULL,
    workspace_id  uuid NOT NULL,
    revision_id   uuid NOT NULL,
    start         integer NOT NULL,
    document_id   uuid NOT NULL,
    text          text NOT NULL,
    PRIMARY KEY (org_id, workspace_id, revision_id, start),
    FOREIGN KEY (org_id, workspace_id, revision_id) REFERENCES rag_revisions ON DELETE CASCADE
);

-- Cut at the last character that begins within 16 KiB: bytes are found at once, characters only by counting.
CREATE FUNCTION rag_cut_text(whole text) RETURNS TABLE (start integer, piece text)
    LANGUAGE plpgsql IMMUTABLE SET search_path = public, pg_temp AS $$
DECLARE
    bytes bytea := convert_to(whole, 'UTF8');
    total integer := length(bytes);
    first integer := 0;
    after integer;
BEGIN
    start := 0;
    WHILE first < total LOOP
        after := least(first + 16384, total);
        WHILE after < total AND get_byte(bytes, after) & 192 = 128 LOOP
            after := after - 1;
        END LOOP;
        piece := convert_from(substring(bytes FROM first + 1 FOR after - first), 'UTF8');
        RETURN NEXT;
        start := start + length(piece);
        first := after;
    END LOOP;
END
$$;

CREATE FUNCTION rag_cut_revision() RETURNS trigger
    LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    DELETE FROM rag_text_pieces p
    WHERE p.org_id = NEW.org_id AND p.workspace_id = NEW.workspace_id AND p.revision_id = NEW.revision_id;
    INSERT INTO rag_text_pieces (org_id, workspace_id, revision_id, start, document_id, text)
    SELECT NEW.org_id, NEW.workspace_id, NEW.revision_id, cut.start, NEW.document_id, cut.piece
    FROM rag_cut_text(NEW.text) AS cut
    WHERE octet_length(NEW.text) > 65536;
    RETURN NULL;
END
$$;
-- In a shorter text a span costs little anywhere.
CREATE TRIGGER rag_new_pieces AFTER INSERT ON rag_revisions
    FOR EACH ROW WHEN (octet_length(NEW.text) > 65536) EXECUTE FUNCTION rag_cut_revision();
CREATE TRIGGER rag_changed_pieces AFTER UPDATE OF text ON rag_revisions
    FOR EACH ROW WHEN (octet_length(OLD.text) > 65536 OR octet_length(NEW.text) > 65536)
    EXECUTE FUNCTION rag_cut_revision();
