"""Segments of postings have a bound: an erasure writes those anew that hold the document; full ones stay."""

from __future__ import annotations

from uuid import UUID

import pytest
from tests.contract.backends import Backend

from agentic_rag.adapters.postgres.erasure.erasure import erase
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.documents.document import document_id_for
from agentic_rag.tenancy.principals import WorkspaceRef

pytestmark = [pytest.mark.integration, pytest.mark.network]

SEGMENTS = "SELECT segment_id, chunk_count FROM rag_segments WHERE workspace_id = $1 ORDER BY visible_from"


async def segments_of(url: str, workspace: WorkspaceRef) -> list[tuple[UUID, int]]:
    pool = PostgresPool(url)
    async with pool.transaction(workspace.org_id) as connection:
        rows = await connection.fetch(SEGMENTS, workspace.workspace_id)
    await pool.aclose()
    return [(row["segment_id"], row["chunk_count"]) for row in rows]


async def compact(stores: Backend, workspace: WorkspaceRef) -> None:
    while True:
        async with stores.database.transaction(workspace.org_id) as transaction:
            if await transaction.publisher.compact(workspace) is not None:
                return


@pytest.fixture
async def tiered(stores: Backend, monkeypatch: pytest.MonkeyPatch) -> WorkspaceRef:
    """Two full segments of four chunks, and a small one."""
    monkeypatch.setattr("agentic_rag.retrieval.lexical.postings.MOST_CHUNKS", 4)
    workspace = await stores.workspace()
    for number in range(9):
        await stores.publish(workspace, f"{number}.md", [f"passage {number}"])
    await compact(stores, workspace)
    return workspace


async def test_an_erasure_writes_only_the_segment_anew_that_holds_the_document(
    stores: Backend, tiered: WorkspaceRef, migrated_url: str
) -> None:
    before = await segments_of(migrated_url, tiered)
    async with stores.database.transaction(tiered.org_id) as transaction:
        await transaction.publisher.erase(tiered, document_id_for(tiered, "5.md"))
    after = await segments_of(migrated_url, tiered)

    assert [size for _, size in before] == [4, 4, 1]
    assert [size for _, size in after] == [4, 3, 1]
    assert {one for one, _ in before} & {one for one, _ in after} == {before[0][0], before[2][0]}


async def test_an_erasure_from_a_segment_of_before_the_bound_may_idle_longer(
    stores: Backend, migrated_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = await stores.workspace()
    for name, passages in (("long.md", 5), ("short.md", 1)):
        await stores.publish(workspace, name, [f"passage {number} of {name}" for number in range(passages)])
    monkeypatch.setattr("agentic_rag.adapters.postgres.erasure.erasure.MOST_CHUNKS", 2)
    pool = PostgresPool(migrated_url)
    told: list[str] = []
    for name in ("short.md", "long.md"):
        async with pool.transaction(workspace.org_id) as connection:
            await erase(connection, workspace, document_id_for(workspace, name), None, None)
            told.append(await connection.fetchval("SHOW idle_in_transaction_session_timeout"))
    await pool.aclose()

    assert told == ["15s", "10min"]


async def test_full_segments_are_neither_due_nor_merged_again(
    stores: Backend, tiered: WorkspaceRef, migrated_url: str
) -> None:
    before = await segments_of(migrated_url, tiered)
    await stores.publish(tiered, "more.md", ["passage of more"])
    await compact(stores, tiered)
    after = await segments_of(migrated_url, tiered)

    assert [size for _, size in after] == [4, 4, 2]
    assert after[:2] == before[:2]
