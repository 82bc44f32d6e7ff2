"""What every `AnswerCache` promises."""

from uuid import uuid4

from tests.contract.backends import Backend

from agentic_rag.domain.tenancy import WorkspaceRef


async def test_a_value_is_kept_under_its_workspace_and_key(adapter: Backend) -> None:
    workspace, other = await adapter.workspace(), await adapter.workspace()

    await adapter.cache.put(workspace, "k", b"\x00value", 60)

    assert await adapter.cache.get(workspace, "k") == b"\x00value"
    assert await adapter.cache.get(workspace, "K") is None
    assert await adapter.cache.get(other, "k") is None
    assert await adapter.cache.get(WorkspaceRef(other.org_id, workspace.workspace_id), "k") is None
    assert adapter.cache.available


async def test_a_value_is_replaced(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.cache.put(workspace, "k", b"old", 60)

    await adapter.cache.put(workspace, "k", b"new", 60)

    assert await adapter.cache.get(workspace, "k") == b"new"


async def test_an_expired_value_is_absent(adapter: Backend) -> None:
    workspace = await adapter.workspace()

    await adapter.cache.put(workspace, "k", b"value", 0)

    assert await adapter.cache.get(workspace, "k") is None


async def test_forgetting_drops_the_entries_of_one_workspace(adapter: Backend) -> None:
    workspace, other = await adapter.workspace(), await adapter.workspace()
    for key in ("a", "b"):
        await adapter.cache.put(workspace, key, b"value", 60)
    await adapter.cache.put(other, "a", b"value", 60)

    assert await adapter.cache.forget(workspace) == 2

    assert await adapter.cache.get(workspace, "a") is None
    assert await adapter.cache.get(other, "a") == b"value"


async def test_an_erasure_empties_the_cache_of_its_workspace(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    published = await adapter.publish(workspace, "a.md", ["text"])
    await adapter.cache.put(workspace, "k", b"an answer from the text", 60)

    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.erase(workspace, published.document_id)

    assert await adapter.cache.get(workspace, "k") is None


async def test_an_unknown_workspace_has_no_entries(adapter: Backend) -> None:
    workspace = WorkspaceRef(await adapter.organisation(), uuid4())

    assert await adapter.cache.get(workspace, "k") is None
    assert await adapter.cache.forget(workspace) == 0
