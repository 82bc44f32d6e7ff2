-- Run as rag_owner. The answer of a run in the form that the product compressed: for the server to read it as jsonb and to
-- compress it took most of what storing a cached answer cost. Runs from before hold it in `answer`, where later ones hold
-- an empty object; both columns are read. An earlier version calls a later run RUN_UNREADABLE.
ALTER TABLE rag_runs ADD COLUMN stored_answer bytea;
ALTER TABLE rag_runs ALTER COLUMN stored_answer SET STORAGE EXTERNAL;
ALTER TABLE rag_runs ALTER COLUMN answer SET DEFAULT '{}';
