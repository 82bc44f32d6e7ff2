-- Run as rag_owner. The runs that were the conversation of a run, oldest first, so that it can be asked again after them.
-- They are referred to, not copied: what is deleted, erased or hidden of them is nowhere else. NULL: no runs are known.
ALTER TABLE rag_runs ADD COLUMN turns uuid[];
