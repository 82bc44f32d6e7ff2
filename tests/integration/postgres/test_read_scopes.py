"""What a caller may read is read once for each access set, and holds in every process from the next read on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest
from tests.contract.backends import Backend
from tests.integration.postgres.statements import WatchedPool

from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.bootstrap import Container
from agentic_rag.documents.document import DocumentFilter, document_id_for
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.access import ReadIdentity, ReadScope
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_migrations import HEAD

pytestmark = pytest.mark.integration

DANA, NINA = ReadIdentity(("user:dana",)), ReadIdentity(("user:nina",))
SETS = "rag_access_sets_above"


@dataclass
class Process:
    """What another process has: a pool and what it remembers."""

    database: PostgresDatabase
    statements: list[str]

    @property
    def reads_of_sets(self) -> int:
        return sum(SETS in one for one in self.statements)

    async def scope(self, workspace: WorkspaceRef, readers: ReadIdentity = DANA) -> ReadScope:
        """What both kinds of read say."""
        head = await self.database.head(workspace, readers)
        async with self.database.snapshot(workspace, readers=readers) as snapshot:
            assert head is not None
            assert head.access == snapshot.access
        return head.access

    async def readable(self, workspace: WorkspaceRef, readers: ReadIdentity = DANA) -> int:
        """How many passages the caller reads."""
        async with self.database.snapshot(workspace, readers=readers) as snapshot:
            sets = snapshot.access.access_ids
            return len(await snapshot.documents.ordinals_matching(DocumentFilter(), sets))


@pytest.fixture
async def processes(migrated_url: str) -> AsyncIterator[tuple[Process, Process]]:
    pools = [WatchedPool(migrated_url) for _ in range(2)]
    first, second = (Process(PostgresDatabase(pool, HEAD), pool.statements) for pool in pools)
    yield first, second
    for pool in pools:
        await pool.aclose()


async def intern(process: Process, workspace: WorkspaceRef, *principals: str) -> int:
    async with process.database.transaction(workspace.org_id) as transaction:
        return await transaction.access.intern(workspace, principals)


async def test_the_sets_are_read_once_for_a_caller_and_then_only_newer_ones(
    stores: Backend, processes: tuple[Process, Process]
) -> None:
    ours, other = processes
    workspace = await stores.workspace()
    held = await intern(other, workspace, "group:night", "user:dana")

    scopes = [await ours.scope(workspace) for _ in range(3)]
    once = ours.reads_of_sets
    newer = await intern(other, workspace, "user:dana")
    await intern(other, workspace, "user:nina")
    after = [await ours.scope(workspace) for _ in range(3)]

    assert [one.access_ids for one in scopes] == [(0, held)] * 3
    assert [one.access_ids for one in after] == [(0, held, newer)] * 3
    assert ([one.is_unrestricted for one in scopes], after[-1].is_unrestricted) == ([True] * 3, False)
    assert (once, ours.reads_of_sets) == (1, 2)


async def test_a_list_in_a_transaction_reads_no_set_that_is_known(
    stores: Backend, processes: tuple[Process, Process]
) -> None:
    ours, other = processes
    workspace = await stores.workspace()
    held = await intern(other, workspace, "user:dana")
    read = len(ours.statements)

    scopes: list[ReadScope] = []
    for _ in range(3):
        async with ours.database.transaction(workspace.org_id) as transaction:
            scopes.append(await transaction.access.readable(workspace, DANA))

    assert [one.access_ids for one in scopes] == [(0, held)] * 3
    assert ours.reads_of_sets == 1
    assert not [one for one in ours.statements[read:] if "rag_access_sets g" in one and "max(" not in one]


async def test_a_narrowed_right_holds_at_once_in_every_process(
    stores: Backend, processes: tuple[Process, Process]
) -> None:
    ours, other = processes
    workspace = await stores.workspace()
    await stores.publish(workspace, "a.md", ["a secret"])
    both = await intern(other, workspace, "user:dana", "user:nina")
    alone = await intern(other, workspace, "user:nina")
    document_id = document_id_for(workspace, "a.md")
    async with other.database.transaction(workspace.org_id) as transaction:
        await transaction.access.change(workspace, document_id, both)
    before = [await one.readable(workspace, reader) for one in processes for reader in (DANA, NINA)]

    async with other.database.transaction(workspace.org_id) as transaction:
        await transaction.access.change(workspace, document_id, alone)

    assert before == [1, 1, 1, 1]
    assert [await one.readable(workspace, reader) for one in processes for reader in (DANA, NINA)] == [0, 1, 0, 1]
    assert (await ours.scope(workspace)).version == (await other.scope(workspace)).version == 3


async def test_the_number_of_a_set_that_was_rolled_back_is_another_callers(
    stores: Backend, processes: tuple[Process, Process]
) -> None:
    ours, other = processes
    workspace = await stores.workspace()
    await ours.scope(workspace)

    async with AsyncExitStack() as stack:
        transaction = await stack.enter_async_context(ours.database.transaction(workspace.org_id))
        lost = await transaction.access.intern(workspace, ("user:dana",))
        seen = await transaction.access.readable(workspace, DANA)
        roll_back = stack.pop_all()
    await roll_back.__aexit__(RuntimeError, RuntimeError("rolled back"), None)
    taken = await intern(other, workspace, "user:nina")

    assert taken == lost in seen.access_ids
    assert (await ours.scope(workspace)).access_ids == (0,)
    assert (await ours.scope(workspace, NINA)).access_ids == (0, taken)


async def test_whoever_drops_a_workspace_waits_for_a_head_that_is_read_meanwhile(
    stores: Backend, migrated_url: str
) -> None:
    pool, let_go = WatchedPool(migrated_url), asyncio.Event()
    database = PostgresDatabase(pool, HEAD)
    workspace = await stores.workspace()

    async def wait_for_it() -> None:
        await let_go.wait()

    pool.admit = wait_for_it
    reading = asyncio.create_task(database.head(workspace))
    await asyncio.sleep(0)
    settling = asyncio.create_task(database.settle())
    done, _ = await asyncio.wait([settling], timeout=0.1)
    let_go.set()
    head = await reading
    await asyncio.wait_for(settling, 1)
    await database.aclose()

    assert not done
    assert head is not None


async def test_the_end_of_a_process_does_not_wait_for_a_head_that_requests_share(
    stores: Backend, migrated_url: str, redis_url: str, tmp_path: Path
) -> None:
    places = {"DATABASE_URL": migrated_url, "REDIS_URL": redis_url, "AGENTIC_RAG_HOME": str(tmp_path)}
    container = Container(load_settings(places, dotenv=tmp_path / "none"))
    workspace = await stores.workspace()
    assert await container.database.head(workspace) is not None
    holder = await asyncpg.connect(migrated_url)
    try:
        async with holder.transaction():
            await holder.execute("LOCK TABLE rag_workspaces")
            first, sharing = (asyncio.create_task(container.database.head(workspace)) for _ in range(2))
            await asyncio.sleep(0.2)
            first.cancel()
            await asyncio.wait_for(container.aclose(), 10)
            with pytest.raises(DependencyUnavailable):
                await sharing
    finally:
        await holder.close()
