"""How long a workspace keeps what is past, and what looking for it costs."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID, uuid4

import asyncpg
import pytest
from tests.contract.backends import Backend
from tests.waiting import eventually

from agentic_rag.adapters.postgres.erasure import erasure_sql
from agentic_rag.adapters.postgres.jobs import job_sql
from agentic_rag.documents.document import document_id_for
from agentic_rag.jobs.job import JobKind, NewJob
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings

pytestmark = [pytest.mark.integration, pytest.mark.network]

RUN = """
INSERT INTO rag_runs (org_id, workspace_id, run_id, trace_id, subject, question, outcome, cache, seconds,
                      corpus_version, graph_version, weights_version, pipeline_version, document_ids, answer,
                      created_at)
SELECT $1, $2, gen_random_uuid(), '', 'user:a', '', 'GROUNDED', 'MISS', 0,
       1, 1, '', '', ARRAY[gen_random_uuid()], '{}', now()
FROM generate_series(1, $3)
"""

FAILED_JOB = """
INSERT INTO rag_jobs (org_id, workspace_id, job_id, document_id, kind, key, state, created_at, updated_at)
SELECT $1, $2, gen_random_uuid(), $3, 'ingest', 'of ' || $4::integer || ' days ago', 'DONE', at, at
FROM (SELECT now() - make_interval(days => $4)) AS past (at)
"""

AUDIT = """
INSERT INTO rag_audit (org_id, audit_id, workspace_id, actor, action, subject, created_at)
VALUES ($1, gen_random_uuid(), $2, 'user:a', 'act', 'of old', now() - make_interval(days => $3))
"""

USAGE = """
INSERT INTO rag_usage (org_id, workspace_id, day, kind, provider, model, own_key, calls, input_tokens, output_tokens,
                       cost_usd, unpriced_calls)
VALUES ($1, $2, current_date - $3::integer, 'chat', 'p', 'm', false, 1, 1, 1, 0, 0)
"""


@pytest.fixture
async def owner(migrated_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A superuser, whom row level security does not bind."""
    connection = await asyncpg.connect(migrated_url)
    yield connection
    await connection.close()


async def is_due(stores: Backend, workspace: WorkspaceRef) -> bool:
    board = stores.job_board()
    try:
        return JobKind.RETENTION in [task.kind for task in await board.upkeep() if task.workspace == workspace]
    finally:
        await board.aclose()


async def expire(stores: Backend, workspace: WorkspaceRef) -> None:
    async with stores.database.transaction(workspace.org_id) as transaction:
        assert not await transaction.workspaces.apply_retention(workspace)


async def old_jobs(stores: Backend, owner: asyncpg.Connection, workspace: WorkspaceRef) -> None:
    """One that is done and one that waits, both of ten days ago."""
    async with stores.database.transaction(workspace.org_id) as transaction:
        done, _ = await transaction.jobs.enqueue(NewJob(workspace, JobKind.COMPACT, "done", {}))
        lease = await transaction.jobs.lease(done, "worker", timedelta(minutes=1))
        assert lease is not None
        await transaction.jobs.finish(done, lease.fence)
        await transaction.jobs.enqueue(NewJob(workspace, JobKind.COMPACT, "waits", {}))
    await owner.execute(
        "UPDATE rag_jobs SET updated_at = now() - interval '10 days' WHERE workspace_id = $1", workspace.workspace_id
    )


async def test_finished_jobs_go_with_their_attempts_after_the_days_of_their_workspace(
    stores: Backend, owner: asyncpg.Connection
) -> None:
    short, usual = await stores.workspace(settings=WorkspaceSettings(jobs_days=7)), await stores.workspace()
    left: list[set[str]] = []
    due = []
    for workspace in (short, usual):
        await old_jobs(stores, owner, workspace)
        due.append(await is_due(stores, workspace))
        await expire(stores, workspace)
        async with stores.database.transaction(workspace.org_id) as transaction:
            left.append({job.key for job in (await transaction.jobs.page(workspace, PageRequest())).items})

    attempts = "SELECT count(*) FROM rag_job_attempts WHERE workspace_id = $1"
    assert (due, left) == ([True, False], [{"waits"}, {"waits", "done"}])
    assert [await owner.fetchval(attempts, one.workspace_id) for one in (short, usual)] == [0, 1]
    assert not await is_due(stores, short)


async def test_of_a_document_that_fails_again_and_again_the_last_job_stays(
    stores: Backend, owner: asyncpg.Connection
) -> None:
    workspace = await stores.workspace(settings=WorkspaceSettings(jobs_days=7))
    await stores.publish(workspace, "scan.pdf", ["A page."])
    document = document_id_for(workspace, "scan.pdf")
    await owner.execute("UPDATE rag_documents SET status = 'FAILED' WHERE workspace_id = $1", workspace.workspace_id)
    for days in (30, 20, 10):
        await owner.execute(FAILED_JOB, *workspace.key, document, days)

    await expire(stores, workspace)

    kept = "SELECT array_agg(key) FROM rag_jobs WHERE workspace_id = $1"
    assert await owner.fetchval(kept, workspace.workspace_id) == ["of 10 days ago"]


async def test_audit_and_usage_go_after_the_days_of_their_workspace_and_audit_stays_by_default(
    stores: Backend, owner: asyncpg.Connection
) -> None:
    short = await stores.workspace(settings=WorkspaceSettings(audit_days=30, usage_days=40))
    usual = await stores.workspace(org_id=short.org_id)
    for workspace in (short, usual):
        for days in (10, 60):
            await owner.execute(AUDIT, *workspace.key, days)
            await owner.execute(USAGE, *workspace.key, days)

    assert [await is_due(stores, one) for one in (short, usual)] == [True, False]
    await expire(stores, short)
    await expire(stores, usual)

    for table in ("rag_audit", "rag_usage"):
        count = f"SELECT count(*) FROM {table} WHERE workspace_id = $1"
        assert [await owner.fetchval(count, one.workspace_id) for one in (short, usual)] == [1, 2], table
    assert not await is_due(stores, short)


async def test_no_tenant_expires_the_audit_log_of_another(stores: Backend, owner: asyncpg.Connection) -> None:
    theirs = await stores.workspace(settings=WorkspaceSettings(audit_days=30))
    mine = await stores.workspace()
    await owner.execute(AUDIT, *theirs.key, 60)

    async with owner.transaction():
        await owner.execute(f"SET LOCAL ROLE rag_app; SET LOCAL rag.org_id = '{mine.org_id}'")
        gone = await owner.fetchval("SELECT rag_expire_audit($1, 1000)", theirs.workspace_id)

    assert gone == 0


async def read(owner: asyncpg.Connection, statement: str, role: str, org_id: UUID, *arguments: object) -> str:
    """The plan of a statement as a role runs it."""
    async with owner.transaction():
        await owner.execute(f"SET LOCAL ROLE {role}; SET LOCAL rag.org_id = '{org_id}'")
        return await owner.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", *arguments)


async def test_finding_the_runs_that_cite_a_document_reads_no_other_run(
    stores: Backend, owner: asyncpg.Connection
) -> None:
    workspace, document = await stores.workspace(), uuid4()
    await owner.execute(RUN, *workspace.key, 5_000)
    await owner.execute(
        "UPDATE rag_runs SET document_ids = ARRAY[$2::uuid] WHERE run_id IN "
        "(SELECT run_id FROM rag_runs WHERE workspace_id = $1 LIMIT 2)",
        workspace.workspace_id, document,
    )  # fmt: skip
    await owner.execute("VACUUM ANALYZE rag_runs")

    plan = await read(owner, erasure_sql.CITING_RUNS, "rag_app", workspace.org_id, *workspace.key, document)

    assert '"Actual Rows": 2' in plan
    assert {int(rows) for rows in re.findall(r'"Rows Removed by Filter": (\d+)', plan)} <= {0}
    assert "Seq Scan" not in plan


async def test_counting_jobs_reads_none_that_is_done(stores: Backend, owner: asyncpg.Connection) -> None:
    workspace = await stores.workspace()
    await owner.execute(
        "INSERT INTO rag_jobs (org_id, workspace_id, job_id, kind, key, state) "
        "SELECT $1, $2, gen_random_uuid(), 'compact', n::text, 'DONE' FROM generate_series(1, 5000) n",
        *workspace.key,
    )
    await owner.execute("VACUUM ANALYZE rag_jobs")

    plan = await read(owner, job_sql.COUNTS, "rag_dispatcher", workspace.org_id)

    assert "Seq Scan" not in plan


async def test_looking_for_what_is_due_reads_no_runs_of_a_workspace_that_has_nearly_all_of_them(
    stores: Backend, owner: asyncpg.Connection
) -> None:
    large, small = await stores.workspace(), await stores.workspace()
    await owner.execute(RUN, *large.key, 20_000)
    await owner.execute("VACUUM ANALYZE rag_runs")

    assert not await is_due(stores, small)

    async def has_ended() -> bool:
        return not await owner.fetch("SELECT FROM pg_stat_activity WHERE application_name = 'agentic-rag dispatcher'")

    # A session tells what it read at its end.
    await eventually(has_ended, "the session of the look has ended")
    assert await owner.fetchval("SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'rag_runs'") == 0
