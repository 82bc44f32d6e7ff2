"""SQL that shows jobs to callers."""

from __future__ import annotations

from agentic_rag.adapters.postgres.documents.document_rows import list_condition
from agentic_rag.adapters.postgres.jobs.job_sql import COLUMNS

_LIST_CONDITION = """({sets}::integer[] IS NULL OR EXISTS (
      SELECT FROM rag_documents d
      WHERE d.org_id = $1 AND d.workspace_id = $2 AND d.document_id = {document} AND {of_document}
  ) OR EXISTS (
      SELECT FROM rag_tombstones t
      WHERE t.org_id = $1 AND t.workspace_id = $2 AND t.document_id = {document}
        AND t.access_id = ANY ({sets})
  ))"""


def job_list_condition(first: int, document: str = "rag_jobs.document_id") -> str:
    """The condition that a list shows a job: that of its document, which may be gone."""
    return _LIST_CONDITION.format(sets=f"${first}", document=document, of_document=list_condition("d", first))


# The document is looked up whether there is a job or none: what is hidden takes the time of what never was.
GET = f"""
SELECT job.* FROM (SELECT coalesce((
    SELECT document_id FROM rag_jobs WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3
), $3) AS document_id OFFSET 0) own
CROSS JOIN LATERAL (SELECT {job_list_condition(4, "own.document_id")} AS is_listed OFFSET 0) shown
CROSS JOIN LATERAL (
    SELECT {COLUMNS} FROM rag_jobs WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND shown.is_listed OFFSET 0
) job
"""  # noqa: S608

PAGE = f"""
SELECT {COLUMNS} FROM rag_jobs
WHERE org_id = $1 AND workspace_id = $2
  AND ($3::timestamptz IS NULL OR (created_at, job_id) < ($3, $4::uuid))
  AND (cardinality($5::text[]) = 0 OR state = ANY ($5))
  AND (cardinality($6::text[]) = 0 OR kind = ANY ($6) OR $8 AND kind <> ALL ($7::text[]))
  AND (cardinality($9::text[]) = 0 OR error_code = ANY ($9))
  AND {job_list_condition(11)}
ORDER BY created_at DESC, job_id DESC
LIMIT $10
"""  # noqa: S608

# $4: the most jobs that are counted; $5 and $6: minutes and jobs of the rate. Each look goes along rag_jobs_turns or
# rag_jobs_changed, workspace by workspace.
PLACE = """
WITH own AS (
    SELECT queue, kind, created_at, job_id FROM rag_jobs
    WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND state = 'QUEUED' AND run_after <= now()
), ahead AS (
    SELECT count(*) AS jobs FROM (
        SELECT FROM rag_jobs j, own
        WHERE j.org_id = $1 AND j.workspace_id = $2 AND j.state = 'QUEUED' AND j.queue = own.queue
          AND j.run_after <= now() AND (j.created_at, j.job_id) < (own.created_at, own.job_id)
        LIMIT $4
    ) counted
), others AS (
    SELECT count(*) AS jobs FROM (
        SELECT FROM own, ahead, rag_workspaces w, LATERAL (
            SELECT FROM rag_jobs j
            WHERE j.org_id = $1 AND j.workspace_id = w.workspace_id AND j.state = 'QUEUED' AND j.queue = own.queue
              AND j.run_after <= now()
            LIMIT ahead.jobs + 1
        ) turns
        WHERE w.org_id = $1 AND w.workspace_id <> $2
        LIMIT $4
    ) counted
), done AS (
    SELECT count(*) AS jobs, extract(epoch FROM now() - min(updated_at))::float8 AS seconds FROM (
        SELECT ended.updated_at FROM own, rag_workspaces w, LATERAL (
            SELECT j.updated_at FROM rag_jobs j
            WHERE j.org_id = $1 AND j.workspace_id = w.workspace_id AND j.state = 'DONE' AND j.kind = own.kind
              AND j.updated_at > now() - make_interval(mins => $5)
            ORDER BY j.updated_at DESC
            LIMIT $6
        ) ended
        WHERE w.org_id = $1
        ORDER BY ended.updated_at DESC
        LIMIT $6
    ) counted
)
SELECT least(ahead.jobs + others.jobs, $4) AS before, done.jobs AS finished, coalesce(done.seconds, 0) AS seconds
FROM own, ahead, others, done
"""
