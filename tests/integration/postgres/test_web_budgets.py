"""Budgets of web calls on Postgres, in one process and in several."""

import asyncio
import sys
from dataclasses import replace

import pytest
from tests.contract.backends import Backend
from tests.integration.postgres.statements import WatchedPool
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.adapters.postgres.tenancy.audit import RECORD_ONCE
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.models.billing.usage import UsageKind
from agentic_rag.models.billing.web_envelope import WebEnvelope
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_migrations import HEAD

pytestmark = pytest.mark.integration

PROCESSES, RUNS_EACH, CEILING = 2, 16, 20

RESERVE = """
import asyncio, sys, uuid
from tests.memory_store.telemetry import RecordingTelemetry
from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.kernel.errors import BudgetExceeded
from agentic_rag.models.billing.usage import UsageKind
from agentic_rag.models.billing.web_envelope import WebEnvelope
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_migrations import HEAD

async def reserve(url: str, workspace: WorkspaceRef, runs: int) -> None:
    database = PostgresDatabase(PostgresPool(url), HEAD)
    web = WebEnvelope(database, SystemClock(), RecordingTelemetry())
    await web.ceilings(workspace)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    ended = await asyncio.gather(
        *(web.reserve(workspace, UsageKind.PAGE, "web") for _ in range(runs)), return_exceptions=True
    )
    refused = [one for one in ended if isinstance(one, BudgetExceeded)]
    unknown = [one for one in ended if isinstance(one, BaseException) and one not in refused]
    print(len(ended) - len(refused), len(refused), unknown, flush=True)
    await database.aclose()

asyncio.run(reserve(sys.argv[1], WorkspaceRef(uuid.UUID(sys.argv[2]), uuid.UUID(sys.argv[3])), int(sys.argv[4])))
"""


async def limit(stores: Backend, workspace: WorkspaceRef, limits: SpendingLimits) -> None:
    async with stores.database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.change_settings(
            workspace.workspace_id, lambda before: replace(before, budget=limits)
        )


async def test_runs_of_several_processes_make_no_more_calls_than_the_ceiling(
    stores: Backend, migrated_url: str
) -> None:
    workspace = await stores.workspace()
    await limit(stores, workspace, SpendingLimits(day_pages=CEILING))
    given = [migrated_url, str(workspace.org_id), str(workspace.workspace_id), str(RUNS_EACH)]
    pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", RESERVE, *given, **pipes) for _ in range(PROCESSES)
    ]
    for process in processes:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"

    told = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))

    ends = [out.decode().split(maxsplit=2) for out, _ in told]
    assert [unknown.strip() for _, _, unknown in ends] == ["[]"] * PROCESSES
    assert sum(int(reserved) for reserved, _, _ in ends) == CEILING
    assert sum(int(refused) for _, refused, _ in ends) == PROCESSES * RUNS_EACH - CEILING
    used = [one.used for one in await web_of(stores.database).ceilings(workspace) if one.scope == "workspace"]
    assert used == [CEILING]


async def test_a_process_asks_the_audit_log_once_whether_a_used_ceiling_was_told(
    stores: Backend, migrated_url: str
) -> None:
    workspace = await stores.workspace()
    await limit(stores, workspace, SpendingLimits(day_pages=10))
    pool = WatchedPool(migrated_url)
    database = PostgresDatabase(pool, HEAD)
    web = web_of(database)

    asked = []
    for _ in range(10):
        await web.reserve(workspace, UsageKind.PAGE, "web")
        asked.append(pool.statements.count(RECORD_ONCE))
    await database.aclose()

    assert asked == [0] * 7 + [1] * 3


def web_of(database: PostgresDatabase) -> WebEnvelope:
    return WebEnvelope(database, SystemClock(), RecordingTelemetry())
