"""What two transactions do to each other when they meet at the worst moment."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import asyncpg
import pytest
from tests.builders import citation, run_of
from tests.contract.backends import Backend
from tests.waiting import eventually

from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.answering.runs.redaction import SOURCE_ERASED
from agentic_rag.kernel.errors import InvalidInput, Permanent
from agentic_rag.workspaces.settings import WorkspaceSettings

pytestmark = pytest.mark.integration

WAITING = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name = 'agentic-rag'
"""

HOLD_WORKSPACE = "SELECT FROM rag_workspaces WHERE workspace_id = $1 FOR NO KEY UPDATE"


@pytest.fixture
async def server(migrated_url: str) -> AsyncIterator[asyncpg.Connection]:
    """The login itself, above the policies."""
    connection = await asyncpg.connect(migrated_url)
    yield connection
    await connection.close()


async def test_a_revision_that_returns_while_retention_purges_it_is_published(
    stores: Backend, server: asyncpg.Connection, migrated_url: str
) -> None:
    workspace = await stores.workspace(settings=WorkspaceSettings(history_days=0))
    for passages in (["alpha"], ["beta"]):
        await stores.publish(workspace, "a.md", passages)

    async def compact() -> None:
        async with stores.database.transaction(workspace.org_id) as transaction:
            await transaction.publisher.compact(workspace)

    async def waiting(number: int) -> bool:
        return await server.fetchval(WAITING) == number

    holder = await asyncpg.connect(migrated_url)
    async with holder.transaction():
        await holder.execute(HOLD_WORKSPACE, workspace.workspace_id)
        purge = asyncio.create_task(compact())
        await eventually(lambda: waiting(1), "retention waits for the workspace")
        back = asyncio.create_task(stores.publish(workspace, "a.md", ["alpha"]))
        await eventually(lambda: waiting(2), "the publish waits behind it")
    published, _ = await asyncio.gather(back, purge)
    await holder.close()

    assert published.version == 3


async def test_a_run_stored_while_its_source_is_being_erased_holds_none_of_its_words(
    stores: Backend, server: asyncpg.Connection
) -> None:
    workspace = await stores.workspace()
    published = await stores.publish(workspace, "a.md", ["the secret"])
    run = run_of(workspace, citations=[citation(published.document_id, "the secret")], text="the secret [1]")

    async def waits_or_done(task: asyncio.Task[None]) -> bool:
        return task.done() or await server.fetchval(WAITING) == 1

    async with stores.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.erase(workspace, published.document_id)
        storing = asyncio.create_task(stores.runs.record([run]))
        await eventually(lambda: waits_or_done(storing), "the run waits for the erasure")
    await storing

    kept = await stores.runs.get(workspace, run.run_id)
    assert kept is not None
    assert kept.answer.text == SOURCE_ERASED


async def test_a_write_transaction_whose_failure_was_swallowed_does_not_seem_to_commit(
    stores: Backend, migrated_url: str
) -> None:
    org_id = await stores.organisation()
    pool = PostgresPool(migrated_url)

    async def swallow() -> None:
        async with pool.transaction(org_id) as connection:
            with contextlib.suppress(InvalidInput):
                await connection.execute("SELECT 1 / 0")

    with pytest.raises(Permanent, match="nothing was written"):
        await swallow()

    await pool.aclose()
