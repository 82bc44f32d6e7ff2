"""SQL of the job store and the job board.

Every statement that changes a running job compares its fence and names the state it leaves.
Times come from the server's clock, because workers' clocks differ. Leaving RUNNING for QUEUED or CANCELLED raises the
fence, which voids later writes of the last lease holder.
"""

from __future__ import annotations

COLUMNS = """
    workspace_id, job_id, kind, key, state, queue, arguments, attempts, document_id, error_code, error_message,
    progress, trace_carrier, run_after, created_at, updated_at, attempts_before
"""

ENQUEUE = """
INSERT INTO rag_jobs (org_id, workspace_id, job_id, kind, key, queue, document_id, arguments, trace_carrier,
                      run_after, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text::jsonb, $9::text::jsonb,
        clock_timestamp() + make_interval(secs => $10), clock_timestamp(), clock_timestamp())
ON CONFLICT (org_id, workspace_id, kind, key) WHERE state IN ('QUEUED', 'RUNNING') DO NOTHING
RETURNING job_id
"""

# Locked, so that the job cannot end before the caller commits.
UNFINISHED = """
SELECT job_id FROM rag_jobs
WHERE org_id = $1 AND workspace_id = $2 AND kind = $3 AND key = $4 AND state IN ('QUEUED', 'RUNNING')
FOR SHARE
"""

CANCEL_FOR_DOCUMENT = """
UPDATE rag_jobs
SET state = 'CANCELLED', fence = fence + 1, leased_by = NULL, lease_until = NULL, updated_at = clock_timestamp()
WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3 AND kind = $4 AND state IN ('QUEUED', 'RUNNING')
RETURNING job_id
"""

# `lease_until` of a queued job is the end of the lease that lapsed.
LEASE = f"""
UPDATE rag_jobs
SET state = 'RUNNING', attempts = attempts + 1, fence = fence + 1, leased_by = $4,
    lease_until = clock_timestamp() + $5, progress = 0, updated_at = clock_timestamp()
FROM (SELECT lease_until AS lapsed_at FROM rag_jobs WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3) before
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND state = 'QUEUED' AND run_after <= clock_timestamp()
RETURNING fence, lease_until, lapsed_at, {COLUMNS}
"""  # noqa: S608

# An open attempt belongs to a worker that died, gave it up or lost its lease.
CLOSE_LAPSED_ATTEMPTS = """
UPDATE rag_job_attempts
SET ended_at = coalesce($4, clock_timestamp()), outcome = 'LAPSED', error_code = 'LEASE_LOST'
WHERE org_id = $1 AND workspace_id = $2 AND job_id = ANY ($3::uuid[]) AND ended_at IS NULL
"""

# A worker that was seen after a lapse lives; the chain of an attempt that it gave up says why.
EXCUSE_LAPSED_ATTEMPTS = """
UPDATE rag_job_attempts a
SET outcome = 'OUTAGE'
FROM rag_workers w
WHERE a.org_id = $1 AND a.workspace_id = $2 AND a.job_id = $3 AND a.outcome = 'LAPSED'
  AND cardinality(a.error_chain) = 0 AND w.worker = a.worker AND w.seen_at > a.ended_at
"""

OPEN_ATTEMPT = """
INSERT INTO rag_job_attempts (org_id, workspace_id, job_id, attempt, worker, started_at)
VALUES ($1, $2, $3, $4, $5, clock_timestamp())
"""

RENEW = """
UPDATE rag_jobs
SET lease_until = clock_timestamp() + $5, progress = greatest(progress, $6), updated_at = clock_timestamp()
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND fence = $4 AND state = 'RUNNING'
"""

HOLDS = """
SELECT job_id FROM rag_jobs
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND fence = $4 AND state = 'RUNNING'
FOR SHARE
"""

FINISH = """
UPDATE rag_jobs
SET state = 'DONE', leased_by = NULL, lease_until = NULL, error_code = NULL, error_message = NULL,
    updated_at = clock_timestamp()
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND fence = $4 AND state = 'RUNNING'
RETURNING attempts
"""

RETRY = """
UPDATE rag_jobs
SET state = 'QUEUED', fence = fence + 1, leased_by = NULL, lease_until = NULL,
    run_after = clock_timestamp() + $5, error_code = $6, error_message = $7, updated_at = clock_timestamp()
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND fence = $4 AND state = 'RUNNING'
RETURNING attempts
"""

GIVE_UP = """
UPDATE rag_jobs
SET state = $7, leased_by = NULL, lease_until = NULL, error_code = $5, error_message = $6,
    updated_at = clock_timestamp()
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND fence = $4 AND state = 'RUNNING'
RETURNING attempts
"""

# Documents before jobs, as everywhere. $2: the code of the documents' fault.
REPEAT_FAILED = """
WITH failed AS (
    UPDATE rag_documents SET status = 'PENDING', updated_at = now()
    WHERE org_id = $1 AND status = 'FAILED' AND error_code = $2
    RETURNING workspace_id, document_id
), last AS (
    SELECT DISTINCT ON (j.workspace_id, j.document_id) j.workspace_id, j.document_id, j.key, j.queue, j.arguments
    FROM rag_jobs j JOIN failed USING (workspace_id, document_id)
    WHERE j.org_id = $1 AND j.kind = 'ingest'
    ORDER BY j.workspace_id, j.document_id, j.created_at DESC
)
INSERT INTO rag_jobs (org_id, workspace_id, job_id, kind, key, queue, document_id, arguments, trace_carrier,
                      run_after, created_at, updated_at)
SELECT $1, workspace_id, gen_random_uuid(), 'ingest', key, queue, document_id, arguments, '{}',
       clock_timestamp(), clock_timestamp(), clock_timestamp()
FROM last
ON CONFLICT (org_id, workspace_id, kind, key) WHERE state IN ('QUEUED', 'RUNNING') DO NOTHING
RETURNING job_id
"""

RELEASE = """
UPDATE rag_jobs
SET state = 'QUEUED', fence = fence + 1, attempts = attempts - 1, leased_by = NULL, lease_until = NULL,
    run_after = clock_timestamp() + $5, updated_at = clock_timestamp()
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND fence = $4 AND state = 'RUNNING'
RETURNING attempts
"""

BLAME = """
UPDATE rag_job_attempts SET error_chain = ARRAY [$6::text]
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND attempt = $4 AND worker = $5 AND ended_at IS NULL
"""

# $1 since when, $2 those that do not count, $3 for how long unseen.
WORKERS_LOST = """
SELECT count(*) FROM rag_workers
WHERE ended_at IS NULL AND seen_at > $1 AND seen_at < clock_timestamp() - $3::interval AND worker <> ALL ($2::text[])
"""

# A released attempt does not count; its number is used again.
FORGET_ATTEMPT = """
DELETE FROM rag_job_attempts WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND attempt = $4
"""

# A newer unfinished job of the same key supersedes a dead letter. One that is being inserted now shows as a conflict of
# the unique index, and on the second try as an unfinished job.
REPLAY = """
UPDATE rag_jobs j
SET state = 'QUEUED', attempts_before = attempts, fence = fence + 1, run_after = clock_timestamp(),
    updated_at = clock_timestamp()
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND state = 'DEAD'
  AND NOT EXISTS (
      SELECT FROM rag_jobs u
      WHERE u.org_id = $1 AND u.workspace_id = $2 AND u.kind = j.kind AND u.key = j.key
        AND u.state IN ('QUEUED', 'RUNNING')
  )
"""

IS_DEAD = "SELECT state = 'DEAD' FROM rag_jobs WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3"

PURGE = """
WITH purged AS (
    UPDATE rag_jobs
    SET state = 'PURGED', arguments = '{}', trace_carrier = '{}', error_message = NULL, fence = fence + 1,
        updated_at = clock_timestamp()
    WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND state = 'DEAD'
    RETURNING job_id
), forgotten AS (
    DELETE FROM rag_job_attempts a USING purged
    WHERE a.org_id = $1 AND a.workspace_id = $2 AND a.job_id = purged.job_id
)
SELECT job_id FROM purged
"""

CLOSE_ATTEMPT = """
UPDATE rag_job_attempts
SET ended_at = clock_timestamp(), outcome = $5, error_code = $6, error_chain = $7
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND attempt = $4
"""

ATTEMPTS = """
SELECT attempt, worker, started_at, ended_at, outcome, error_code, error_chain FROM rag_job_attempts
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3
ORDER BY attempt
"""

EXPIRE_LEASES = """
UPDATE rag_jobs
SET state = 'QUEUED', fence = fence + 1, leased_by = NULL, run_after = clock_timestamp(),
    updated_at = clock_timestamp()
WHERE (org_id, workspace_id, job_id) IN (
    -- A worker that was stopped inside a transaction may hold its job's row: that must not keep the others waiting.
    SELECT org_id, workspace_id, job_id FROM rag_jobs
    WHERE state = 'RUNNING' AND lease_until < clock_timestamp()
    FOR UPDATE SKIP LOCKED
)
RETURNING job_id
"""

# The dispatcher looks all the time and never reads a whole backlog: it hops from workspace to workspace along
# rag_jobs_turns, and takes from each no more than its turns (`jobs.turns`).
# $1 queue, $2 partition, $3 partitions (`jobs.job.partition_of`).
WAITING = """
WITH RECURSIVE waiting AS (
    (SELECT org_id, workspace_id, created_at FROM rag_jobs
     WHERE state = 'QUEUED' AND queue = $1 AND run_after <= now()
     ORDER BY org_id, workspace_id, created_at LIMIT 1)
    UNION ALL
    SELECT following.org_id, following.workspace_id, following.created_at
    FROM waiting,
         LATERAL (SELECT j.org_id, j.workspace_id, j.created_at FROM rag_jobs j
                  WHERE j.state = 'QUEUED' AND j.queue = $1 AND j.run_after <= now()
                    AND (j.org_id, j.workspace_id) > (waiting.org_id, waiting.workspace_id)
                  ORDER BY j.org_id, j.workspace_id, j.created_at LIMIT 1) following
)
SELECT org_id, workspace_id, created_at FROM waiting
WHERE ('x' || right(workspace_id::text, 7))::bit(28)::integer % $3 = $2
"""

# The oldest $4 due jobs of each of the workspaces ($2, $3).
OLDEST = """
SELECT taken.org_id, taken.workspace_id, taken.job_id, taken.fence
FROM unnest($2::uuid[], $3::uuid[], $4::integer[]) chosen (org_id, workspace_id, turns),
     LATERAL (SELECT org_id, workspace_id, job_id, fence, created_at FROM rag_jobs j
              WHERE j.state = 'QUEUED' AND j.queue = $1 AND j.run_after <= now()
                AND j.org_id = chosen.org_id AND j.workspace_id = chosen.workspace_id
              ORDER BY created_at, job_id
              LIMIT chosen.turns) taken
ORDER BY taken.created_at, taken.job_id
"""

# Those that are done are not counted: their number grows for ever, and counting would read the whole table.
COUNTS = """
SELECT state, kind, count(*) AS jobs FROM rag_jobs WHERE state IN ('QUEUED', 'RUNNING', 'DEAD') GROUP BY state, kind
"""

OLDEST_WAITS = """
SELECT kind, extract(epoch FROM now() - min(run_after))::float8 AS seconds
FROM rag_jobs WHERE state = 'QUEUED' AND run_after <= now() GROUP BY kind
"""

CORPUS_COUNTS = "SELECT status, documents, graph_lag FROM rag_upkeep_corpus_counts()"

BEAT = """
INSERT INTO rag_workers (worker, host, pid, version, slots) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (worker) DO UPDATE SET seen_at = clock_timestamp()
"""

SIGN_OFF = "UPDATE rag_workers SET seen_at = clock_timestamp(), ended_at = clock_timestamp() WHERE worker = $1"

WORKERS = """
SELECT worker AS name, host, pid, version, slots, started_at, seen_at, ended_at FROM rag_workers
WHERE seen_at > now() - interval '1 day'
ORDER BY ended_at IS NOT NULL, seen_at DESC
LIMIT 100
"""

FORGET_WORKERS = "DELETE FROM rag_workers WHERE seen_at <= now() - interval '1 day'"

# Their tenant is unknown, so no workspace's retention deletes them.
FORGET_PAYLOADS = """
DELETE FROM rag_dead_payloads WHERE payload_id IN (
    SELECT payload_id FROM rag_dead_payloads WHERE last_seen <= now() - interval '30 days' LIMIT 1000
)
"""


# Each calls a function that runs as the owner (see the migrations), because the dispatcher's role sees no table but
# rag_jobs.
_UPKEEP = """
SELECT due.org_id, due.workspace_id, due.key
FROM ({due}) due
WHERE NOT EXISTS (
    SELECT FROM rag_jobs j
    WHERE j.org_id = due.org_id AND j.workspace_id = due.workspace_id AND j.kind = $1
      AND j.state IN ('QUEUED', 'RUNNING')
)
"""

# After a dead job the next one waits ten minutes.
_UPKEEP_AGAIN = f"""{_UPKEEP}
  AND NOT EXISTS (
    SELECT FROM rag_jobs j
    WHERE j.org_id = due.org_id AND j.workspace_id = due.workspace_id AND j.kind = $1
      AND j.state = 'DEAD' AND j.updated_at > now() - interval '10 minutes'
)
"""

# Once documents have stopped coming in for $3 seconds; after one that ended the next waits ten minutes, after one that
# died a day. No number: never.
_UPKEEP_CALIBRATE = f"""{_UPKEEP.format(due="SELECT * FROM rag_upkeep_calibrations($2)")}
  AND $2::bigint IS NOT NULL AND NOT EXISTS (
    SELECT FROM rag_jobs j
    WHERE j.org_id = due.org_id AND j.workspace_id = due.workspace_id
      AND (j.kind IN ('ingest', 'delete', 'reembed')
           AND (j.state IN ('QUEUED', 'RUNNING') OR j.updated_at > now() - make_interval(secs => $3))
           OR j.kind = $1 AND j.updated_at > now() - interval '10 minutes'
           OR j.kind = $1 AND j.state = 'DEAD' AND j.updated_at > now() - interval '1 day')
)
"""  # noqa: S608 - a constant

UPKEEP = {
    # It looks for unfinished jobs itself: a source waits for no other. $1 has to be named.
    "sync": "SELECT org_id, workspace_id, key FROM rag_upkeep_sources() WHERE $1::text IS NOT NULL",
    "crawl": _UPKEEP_AGAIN.format(due="SELECT * FROM rag_upkeep_recrawls()"),
    "retention": _UPKEEP.format(due="SELECT * FROM rag_upkeep_retention() UNION SELECT * FROM rag_upkeep_spaces()"),
    "snapshot": _UPKEEP.format(due="SELECT * FROM rag_upkeep_snapshots($2)"),
    "graph": _UPKEEP_AGAIN.format(due="SELECT * FROM rag_upkeep_graph($2)"),
    "erase": _UPKEEP_AGAIN.format(due="SELECT * FROM rag_upkeep_erasures()"),
    "forget": _UPKEEP_AGAIN.format(due="SELECT * FROM rag_upkeep_held()"),
    "compact": _UPKEEP.format(due="SELECT * FROM rag_upkeep_segments($2)"),
    "index": _UPKEEP.format(due="SELECT * FROM rag_upkeep_indexes($2)"),
    "calibrate": _UPKEEP_CALIBRATE,
    "saved": _UPKEEP_AGAIN.format(due="SELECT * FROM rag_upkeep_saved($2)"),
}
"""Statements by job kind. $1 is the kind; $2 is for `snapshot` the hours between two, for `index` the bytes scanned
exactly, for `graph` the name of the store, for `saved` the seconds without a publish, for `calibrate` the fewest
passages, for `compact` the version of terms."""
