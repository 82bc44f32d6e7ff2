"""What an organisation stores is counted as it comes and goes: always the sum of its originals."""

import asyncio
import random
import sys
from uuid import UUID, uuid4

import pytest
from tests.builders import new_document
from tests.contract.backends import Backend
from tests.waiting import eventually

from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.tenancy.principals import WorkspaceRef

pytestmark = pytest.mark.integration

SUMS = """
SELECT (SELECT coalesce(sum(bytes), 0) FROM rag_stored_bytes)::bigint AS counted,
       (SELECT coalesce(sum(size), 0) FROM rag_originals)::bigint AS stored,
       (SELECT count(*) FROM rag_stored_bytes) AS entries,
       (SELECT count(*) FROM rag_originals) AS originals
"""

KEEP_ONE_BY_ONE = """
import asyncio, sys, uuid
from agentic_rag.adapters.postgres.documents.originals import PostgresOriginalStore
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.tenancy.principals import WorkspaceRef

async def keep(url: str, workspace: WorkspaceRef) -> None:
    pool = PostgresPool(url)
    while True:
        async with pool.transaction(workspace.org_id) as connection:
            for size in (1, 20, 300):
                one = uuid.uuid4()
                await PostgresOriginalStore(connection).keep(workspace, one, one.bytes * 2, str(one), size)

asyncio.run(keep(sys.argv[1], WorkspaceRef(uuid.UUID(sys.argv[2]), uuid.UUID(sys.argv[3]))))
"""


class Refused(Exception):
    """Ends a transaction."""


async def sums(pool: PostgresPool, org_id: UUID) -> tuple[int, int, int, int]:
    """Bytes counted, bytes stored, rows of the count, originals."""
    async with pool.transaction(org_id) as connection:
        row = await connection.fetchrow(SUMS)
    assert row is not None
    return row["counted"], row["stored"], row["entries"], row["originals"]


async def work(stores: Backend, workspace: WorkspaceRef, chance: random.Random) -> None:
    """Contents come, come again, are superseded and go; some transactions fail."""
    document = await stores.register(workspace, new_document(workspace, f"{chance.random()}.md"))
    for _ in range(40):
        try:
            async with stores.database.transaction(workspace.org_id) as transaction:
                originals, step = transaction.originals, chance.random()
                content = chance.randbytes(1) * 32
                await originals.keep(workspace, document.document_id, content, str(uuid4()), chance.randrange(10_000))
                if step < 0.2:
                    await originals.mark_for_deletion(workspace, document.document_id)
                elif step < 0.4:
                    await originals.supersede(workspace, [document.document_id])
                elif step < 0.6:
                    raise Refused
        except Refused:
            pass
    async with stores.database.transaction(workspace.org_id) as transaction:
        await transaction.originals.keep(workspace, document.document_id, b"last" * 8, str(uuid4()), 7)


async def test_the_count_is_the_sum_of_the_originals_after_any_work(stores: Backend, migrated_url: str) -> None:
    workspace = await stores.workspace()
    other = await stores.workspace()
    pool = PostgresPool(migrated_url)

    await asyncio.gather(
        *(work(stores, one, random.Random(seed)) for seed, one in enumerate([workspace, workspace, workspace, other]))
    )

    for one in (workspace, other):
        counted, stored, _, _ = await sums(pool, one.org_id)
        assert counted == stored > 0
    await pool.aclose()


async def test_what_was_counted_is_put_together(stores: Backend, migrated_url: str) -> None:
    workspace = await stores.workspace()
    pool = PostgresPool(migrated_url)
    document = await stores.register(workspace, new_document(workspace, "a.md"))
    for number in range(3 * 64):
        content = number.to_bytes(32, "big")
        async with stores.database.transaction(workspace.org_id) as transaction:
            await transaction.originals.keep(workspace, document.document_id, content, str(uuid4()), 1)

    counted, stored, entries, _ = await sums(pool, workspace.org_id)

    assert counted == stored == 3 * 64
    # One in 64 puts together, and its sum is an entry too.
    assert entries <= 65
    await pool.aclose()


async def test_a_process_that_is_killed_leaves_the_count_right(stores: Backend, migrated_url: str) -> None:
    workspace = await stores.workspace()
    pool = PostgresPool(migrated_url)
    command = [sys.executable, "-c", KEEP_ONE_BY_ONE, migrated_url, str(workspace.org_id), str(workspace.workspace_id)]
    uploader = await asyncio.create_subprocess_exec(*command)

    async def has_stored() -> bool:
        return (await sums(pool, workspace.org_id))[3] > 100

    await eventually(has_stored, "uploads")
    uploader.kill()
    await uploader.wait()

    async def is_quiet() -> bool:
        async with pool.transaction(workspace.org_id) as connection:
            return not await connection.fetchval(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND datname = current_database()"
            )

    await eventually(is_quiet, "the server notices that its client is gone")
    counted, stored, _, originals = await sums(pool, workspace.org_id)
    await pool.aclose()
    assert originals % 3 == 0
    assert counted == stored == originals // 3 * 321
