"""The outbox in Postgres, inside a transaction of one organisation."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from agentic_rag.adapters.postgres.documents.document_rows import scope_arguments
from agentic_rag.adapters.postgres.jobs import job_read_sql as shown
from agentic_rag.adapters.postgres.jobs import job_sql as sql
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.adapters.postgres.session.page_cursors import decode_instant_cursor, instant_cursor, page_size
from agentic_rag.jobs.job import (
    GiveUp,
    Job,
    JobAttempt,
    JobKind,
    JobRef,
    JobState,
    Lease,
    NewJob,
    Replay,
    Retry,
)
from agentic_rag.jobs.turns import MOST_COUNTED, MOST_FINISHED, RATE_MINUTES, QueuePlace, place_in_queue
from agentic_rag.kernel.error_redaction import error_chain, redact
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.tenancy.access import ListScope
from agentic_rag.tenancy.principals import WorkspaceRef

KNOWN_KINDS = frozenset(kind.value for kind in JobKind if kind is not JobKind.UNKNOWN)


CANCEL_CRAWLS = """
UPDATE rag_jobs
SET state = 'CANCELLED', fence = fence + 1, leased_by = NULL, lease_until = NULL, updated_at = clock_timestamp()
WHERE org_id = $1 AND ($2::uuid IS NULL OR workspace_id = $2) AND kind = 'crawl' AND state IN ('QUEUED', 'RUNNING')
RETURNING workspace_id, job_id
"""

_CHANGED = f"""
SELECT {sql.COLUMNS} FROM rag_jobs
WHERE org_id = $1 AND workspace_id = $2 AND updated_at > now() - make_interval(secs => $3)
  AND {shown.job_list_condition(5)}
ORDER BY updated_at DESC
LIMIT $4
"""  # noqa: S608 - constants

_CANCEL = """
UPDATE rag_jobs
SET state = 'CANCELLED', fence = fence + 1, leased_by = NULL, lease_until = NULL, updated_at = clock_timestamp()
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND state IN ('QUEUED', 'RUNNING')
RETURNING job_id
"""


class PostgresJobStore:
    """`jobs.ports.JobStore` on a connection whose transaction is open and set to `org_id`."""

    def __init__(self, connection: PostgresConnection, org_id: UUID) -> None:
        self._connection = connection
        self._org_id = org_id

    async def enqueue(self, job: NewJob) -> tuple[JobRef, bool]:
        workspace = job.workspace.workspace_id
        while True:
            written = await self._connection.fetchval(
                sql.ENQUEUE,
                self._org_id,
                workspace,
                uuid.uuid4(),
                job.kind.value,
                job.key,
                job.queue.value,
                job.document_id,
                json.dumps(dict(job.arguments)),
                json.dumps(dict(job.trace_carrier)),
                job.delay_seconds,
            )
            if written is not None:
                return JobRef(job.workspace, written), True
            there = await self._connection.fetchval(sql.UNFINISHED, self._org_id, workspace, job.kind.value, job.key)
            # None: the conflicting job ended between the two statements, so the key is free now.
            if there is not None:
                return JobRef(job.workspace, there), False

    async def get(self, workspace: WorkspaceRef, job_id: UUID, scope: ListScope | None = None) -> Job | None:
        key = (self._org_id, workspace.workspace_id, job_id)
        row = await self._connection.fetchrow(shown.GET, *key, *scope_arguments(scope))
        return None if row is None else _job(self._org_id, row)

    async def place(self, ref: JobRef) -> QueuePlace | None:
        row = await self._connection.fetchrow(shown.PLACE, *self._key(ref), MOST_COUNTED, RATE_MINUTES, MOST_FINISHED)
        return None if row is None else place_in_queue(row["before"], row["finished"], row["seconds"])

    async def attempts(self, workspace: WorkspaceRef, job_id: UUID) -> tuple[JobAttempt, ...]:
        rows = await self._connection.fetch(sql.ATTEMPTS, self._org_id, workspace.workspace_id, job_id)
        return tuple(value_from(JobAttempt, row) for row in rows)

    async def page(
        self,
        workspace: WorkspaceRef,
        request: PageRequest,
        states: Sequence[JobState] = (),
        kinds: Sequence[JobKind] = (),
        codes: Sequence[str] = (),
        scope: ListScope | None = None,
    ) -> Page[Job]:
        size = page_size(request)
        rows = await self._connection.fetch(
            shown.PAGE,
            self._org_id,
            workspace.workspace_id,
            *decode_instant_cursor(request.after),
            [state.value for state in states],
            [kind.value for kind in kinds],
            sorted(KNOWN_KINDS),
            JobKind.UNKNOWN in kinds,
            list(codes),
            size + 1,
            *scope_arguments(scope),
        )
        jobs = tuple(_job(self._org_id, row) for row in rows[:size])
        return Page(jobs, tuple(instant_cursor(job.created_at, job.job_id) for job in jobs), len(rows) > size)

    async def cancel_crawls(self, workspace_id: UUID | None) -> int:
        rows = await self._connection.fetch(CANCEL_CRAWLS, self._org_id, workspace_id)
        for row in rows:
            await self._close_lapsed_attempts(WorkspaceRef(self._org_id, row["workspace_id"]), [row["job_id"]])
        return len(rows)

    async def changed(
        self, workspace: WorkspaceRef, seconds: float, most: int, scope: ListScope | None = None
    ) -> Sequence[Job]:
        key = (self._org_id, workspace.workspace_id)
        rows = await self._connection.fetch(_CHANGED, *key, seconds, most, *scope_arguments(scope))
        return [_job(self._org_id, row) for row in rows]

    async def cancel(self, ref: JobRef) -> bool:
        cancelled = await self._connection.fetchval(_CANCEL, *self._key(ref))
        if cancelled is not None:
            await self._close_lapsed_attempts(ref.workspace, [ref.job_id])
        return cancelled is not None

    async def cancel_for_document(self, workspace: WorkspaceRef, document_id: UUID, kind: JobKind) -> int:
        rows = await self._connection.fetch(
            sql.CANCEL_FOR_DOCUMENT, self._org_id, workspace.workspace_id, document_id, kind.value
        )
        if rows:
            await self._close_lapsed_attempts(workspace, [row["job_id"] for row in rows])
        return len(rows)

    async def lease(self, ref: JobRef, worker: str, ttl: timedelta) -> Lease | None:
        row = await self._connection.fetchrow(sql.LEASE, *self._key(ref), worker, ttl)
        if row is None:
            return None
        if row["attempts"] > 1:
            await self._close_lapsed_attempts(ref.workspace, [ref.job_id], row["lapsed_at"])
            await self._connection.execute(sql.EXCUSE_LAPSED_ATTEMPTS, *self._key(ref))
        await self._connection.execute(sql.OPEN_ATTEMPT, *self._key(ref), row["attempts"], worker)
        return Lease(_job(self._org_id, row), row["fence"], row["lease_until"])

    async def renew(self, ref: JobRef, fence: int, ttl: timedelta, progress: int) -> bool:
        return await self._connection.change(sql.RENEW, *self._key(ref), fence, ttl, progress) == 1

    async def holds(self, ref: JobRef, fence: int) -> bool:
        return await self._connection.fetchval(sql.HOLDS, *self._key(ref), fence) is not None

    async def finish(self, ref: JobRef, fence: int) -> bool:
        attempt = await self._connection.fetchval(sql.FINISH, *self._key(ref), fence)
        if attempt is None:
            return False
        await self._connection.execute(sql.CLOSE_ATTEMPT, *self._key(ref), attempt, "DONE", None, [])
        return True

    async def fail(self, ref: JobRef, fence: int, error: AgenticRagError, decision: Retry | GiveUp) -> bool:
        message = redact(error.message)
        if isinstance(decision, Retry):
            delay = timedelta(seconds=decision.delay_seconds)
            attempt = await self._connection.fetchval(sql.RETRY, *self._key(ref), fence, delay, error.code, message)
            outcome = "RETRY"
        else:
            state, outcome = ("DONE", "REJECTED") if decision.is_rejection else ("DEAD", "DEAD")
            attempt = await self._connection.fetchval(sql.GIVE_UP, *self._key(ref), fence, error.code, message, state)
        if attempt is None:
            return False
        chain = list(error_chain(error))
        await self._connection.execute(sql.CLOSE_ATTEMPT, *self._key(ref), attempt, outcome, error.code, chain)
        return True

    async def repeat_failed(self, code: str) -> int:
        return len(await self._connection.fetch(sql.REPEAT_FAILED, self._org_id, code))

    async def release(self, ref: JobRef, fence: int, delay_seconds: float = 0.0) -> bool:
        delay = timedelta(seconds=delay_seconds)
        attempts_left = await self._connection.fetchval(sql.RELEASE, *self._key(ref), fence, delay)
        if attempts_left is None:
            return False
        await self._connection.execute(sql.FORGET_ATTEMPT, *self._key(ref), attempts_left + 1)
        return True

    async def blame(self, lease: Lease, worker: str, reason: str) -> None:
        await self._connection.execute(sql.BLAME, *self._key(lease.ref), lease.job.attempts, worker, reason)

    async def workers_lost_without(self, since: datetime, workers: Sequence[str], silence: timedelta) -> int:
        lost: int = await self._connection.fetchval(sql.WORKERS_LOST, since, list(workers), silence)
        return lost

    async def replay(self, ref: JobRef) -> Replay:
        if await self._connection.change(sql.REPLAY, *self._key(ref)):
            return Replay.REPLAYED
        is_dead = await self._connection.fetchval(sql.IS_DEAD, *self._key(ref))
        return Replay.SUPERSEDED if is_dead else Replay.NOT_DEAD

    async def purge(self, ref: JobRef) -> bool:
        return await self._connection.fetchval(sql.PURGE, *self._key(ref)) is not None

    def _key(self, ref: JobRef) -> tuple[UUID, UUID, UUID]:
        return self._org_id, ref.workspace.workspace_id, ref.job_id

    async def _close_lapsed_attempts(
        self, workspace: WorkspaceRef, job_ids: list[UUID], lapsed_at: datetime | None = None
    ) -> None:
        await self._connection.execute(
            sql.CLOSE_LAPSED_ATTEMPTS, self._org_id, workspace.workspace_id, job_ids, lapsed_at
        )


def _job(org_id: UUID, row: Row) -> Job:
    return value_from(
        Job,
        row,
        workspace=WorkspaceRef(org_id, row["workspace_id"]),
        kind=job_kind_from(row["kind"]),
        foreign_kind=None if row["kind"] in KNOWN_KINDS else row["kind"],
    )


def job_kind_from(kind: str) -> JobKind:
    """The kind of that name; UNKNOWN for a kind that another version of the product wrote."""
    return JobKind(kind) if kind in KNOWN_KINDS else JobKind.UNKNOWN
