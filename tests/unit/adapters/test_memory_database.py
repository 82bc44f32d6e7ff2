"""What the memory database owes to its being in one process; what it shares with Postgres is in tests/contract."""

import asyncio
from uuid import uuid4

import pytest
from tests.builders import new_document
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.jobs.job import JobKind, NewJob
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind


@pytest.fixture
def database() -> MemoryDatabase:
    return MemoryDatabase(MemoryStore(SystemClock()))


@pytest.fixture
async def workspace(database: MemoryDatabase) -> WorkspaceRef:
    ref = WorkspaceRef(uuid4(), uuid4())
    async with database.transaction(ref.org_id) as transaction:
        await transaction.workspaces.create(ref.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings())
    return ref


async def test_writers_take_turns_and_no_update_is_lost(database: MemoryDatabase, workspace: WorkspaceRef) -> None:
    async def write(number: int) -> None:
        async with database.transaction(workspace.org_id) as transaction:
            found = await transaction.jobs.page(workspace, PageRequest(100))
            await asyncio.sleep(0)
            await transaction.jobs.enqueue(NewJob(workspace, JobKind.COMPACT, f"{len(found.items)} {number}", {}))

    await asyncio.gather(*[write(number) for number in range(20)])

    async with database.transaction(workspace.org_id) as transaction:
        jobs = (await transaction.jobs.page(workspace, PageRequest(100))).items
    assert [job.key.split()[0] for job in reversed(jobs)] == [str(number) for number in range(20)]


async def test_a_cancelled_writer_leaves_nothing_and_lets_the_next_one_in(
    database: MemoryDatabase, workspace: WorkspaceRef
) -> None:
    writing = asyncio.Event()

    async def write_for_ever() -> None:
        async with database.transaction(workspace.org_id) as transaction:
            await transaction.documents.register(workspace, new_document(workspace, "a.md"))
            writing.set()
            await asyncio.Event().wait()

    writer = asyncio.create_task(write_for_ever())
    await writing.wait()
    writer.cancel()
    await asyncio.wait([writer])

    async with database.transaction(workspace.org_id) as transaction:
        assert await transaction.documents.paths(workspace, "any") == {}
        assert (await transaction.documents.page(workspace, PageRequest())).items == ()


async def test_a_transaction_inside_another_of_the_same_task_is_refused_instead_of_waiting_for_itself(
    database: MemoryDatabase, workspace: WorkspaceRef
) -> None:
    async with database.transaction(workspace.org_id):
        with pytest.raises(RuntimeError, match="inside another"):
            async with database.transaction(workspace.org_id):
                pass


async def test_a_transaction_that_ended_writes_nothing_more(database: MemoryDatabase, workspace: WorkspaceRef) -> None:
    async with database.transaction(workspace.org_id) as transaction:
        pass

    with pytest.raises(RuntimeError, match="after its end"):
        await transaction.documents.register(workspace, new_document(workspace, "a.md"))
