"""What every `OriginalStore` and `UploadStore` promises."""

import asyncio
import hashlib
from uuid import UUID, uuid4

import pytest
from tests.builders import new_document
from tests.contract.backends import Backend

from agentic_rag.documents.ports import Original, UploadRecord
from agentic_rag.ingestion.storage import require_storage
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.rate_limits import BYTES_PER_MB


def digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


async def keep(adapter: Backend, workspace: WorkspaceRef, document_id: UUID, text: str, key: str) -> str:
    async with adapter.database.transaction(workspace.org_id) as transaction:
        return await transaction.originals.keep(workspace, document_id, digest(text), key, len(text))


async def keys_of(adapter: Backend, workspace: WorkspaceRef, document_id: UUID) -> list[str]:
    async with adapter.database.transaction(workspace.org_id) as transaction:
        return [held.key for held in await transaction.originals.of(workspace, document_id)]


async def doomed(adapter: Backend, workspace: WorkspaceRef, document_id: UUID | None = None) -> list[str]:
    async with adapter.database.transaction(workspace.org_id) as transaction:
        return await transaction.originals.keys_to_delete(workspace, document_id, 100)


async def test_the_same_content_stays_under_the_key_that_held_it_first(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document = await adapter.register(workspace, new_document(workspace, "a.md"))

    first = await keep(adapter, workspace, document.document_id, "text", "one")
    again = await keep(adapter, workspace, document.document_id, "text", "two")

    assert (first, again) == ("one", "one")
    async with adapter.database.transaction(workspace.org_id) as transaction:
        (held,) = await transaction.originals.of(workspace, document.document_id)
    assert held == Original(digest("text"), "one", 4, held.created_at)


@pytest.mark.parametrize("size", [BYTES_PER_MB // 10, BYTES_PER_MB // 4])
async def test_uploads_side_by_side_never_pass_what_an_organisation_may_store(adapter: Backend, size: int) -> None:
    workspace = await adapter.workspace()
    document_id = uuid4()

    async def upload(number: int) -> None:
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.originals.keep(workspace, document_id, digest(str(number)), str(number), size)
            await require_storage(transaction, workspace.org_id, 1)

    ended = await asyncio.gather(*map(upload, range(32)), return_exceptions=True)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        stored = await transaction.originals.stored_bytes(workspace.org_id)
        kept = await transaction.originals.of(workspace, document_id)
        await transaction.originals.mark_for_deletion(workspace, document_id)
        left = await transaction.originals.stored_bytes(workspace.org_id)

    assert {one.code for one in ended if isinstance(one, InvalidInput)} == {"STORAGE_QUOTA_EXCEEDED"}
    assert ended.count(None) == len(kept) == BYTES_PER_MB // size
    assert (stored, left) == (len(kept) * size, 0)


async def test_contents_come_newest_first(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document = await adapter.register(workspace, new_document(workspace, "a.md"))

    await keep(adapter, workspace, document.document_id, "old", "b")
    await keep(adapter, workspace, document.document_id, "new", "a")

    assert await keys_of(adapter, workspace, document.document_id) == ["a", "b"]


async def test_a_publish_dooms_what_is_neither_published_nor_registered_last(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["text"])
    async with adapter.database.transaction(workspace.org_id) as transaction:
        registered = new_document(workspace, "a.md", provenance={"content_sha256": digest("next").hex()})
        document = await transaction.documents.register(workspace, registered)
        assert document.content_hash is not None
        await transaction.originals.keep(workspace, document.document_id, document.content_hash, "published", 1)
    await keep(adapter, workspace, document.document_id, "between", "between")
    await keep(adapter, workspace, document.document_id, "next", "next")

    async with adapter.database.transaction(workspace.org_id) as transaction:
        gone = await transaction.originals.supersede(workspace, [document.document_id])

    assert gone == 1
    assert sorted(await keys_of(adapter, workspace, document.document_id)) == ["next", "published"]
    assert await doomed(adapter, workspace) == ["between"]


async def test_an_erasure_dooms_every_content_and_a_later_upload_has_a_key_of_its_own(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document = await adapter.register(workspace, new_document(workspace, "a.md"))
    await keep(adapter, workspace, document.document_id, "text", "first upload")
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.erase(workspace, document.document_id)
        await transaction.originals.mark_for_deletion(workspace, document.document_id)

    await adapter.register(workspace, new_document(workspace, "a.md"))
    await keep(adapter, workspace, document.document_id, "text", "second upload")

    assert await doomed(adapter, workspace, document.document_id) == ["first upload"]
    assert await keys_of(adapter, workspace, document.document_id) == ["second upload"]


async def test_a_doomed_key_is_struck_out_once_its_blob_is_gone(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document = await adapter.register(workspace, new_document(workspace, "a.md"))
    for text in ("one", "two"):
        await keep(adapter, workspace, document.document_id, text, text)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.originals.mark_for_deletion(workspace, document.document_id)
        struck = await transaction.originals.forget(workspace, ["one", "unknown"])

    assert struck == 1
    assert await doomed(adapter, workspace) == ["two"]
    assert await doomed(adapter, workspace, uuid4()) == []


async def test_a_key_that_nothing_names_is_told_from_the_others(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document = await adapter.register(workspace, new_document(workspace, "a.md"))
    await keep(adapter, workspace, document.document_id, "old", "doomed")
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.originals.mark_for_deletion(workspace, document.document_id)
    await keep(adapter, workspace, document.document_id, "text", "held")

    async with adapter.database.transaction(workspace.org_id) as transaction:
        named = await transaction.originals.keys_in_use(workspace, ["held", "doomed", "orphan"])

    assert named == {"held", "doomed"}


async def test_another_organisation_sees_no_originals(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document = await adapter.register(workspace, new_document(workspace, "a.md"))
    await keep(adapter, workspace, document.document_id, "text", "one")
    stranger = await adapter.organisation()

    async with adapter.database.transaction(stranger) as transaction:
        assert await transaction.originals.of(workspace, document.document_id) == []
        assert await transaction.originals.keys_in_use(workspace, ["one"]) == frozenset()


async def test_one_of_many_claims_a_key_and_the_others_learn_what_it_did(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document_id, job_id = uuid4(), uuid4()

    async def claim() -> UploadRecord | None:
        async with adapter.database.transaction(workspace.org_id) as transaction:
            taken = await transaction.uploads.claim(workspace, "key", digest("input"), document_id)
            if taken is None:
                await transaction.uploads.settle(workspace, "key", job_id)
            return taken

    claims = await asyncio.gather(*(claim() for _ in range(20)))

    assert claims.count(None) == 1
    assert claims.count(UploadRecord(digest("input"), document_id, job_id)) == 19


async def test_a_claim_that_is_rolled_back_leaves_the_key_free(adapter: Backend) -> None:
    workspace = await adapter.workspace()

    class Stop(Exception):
        """Ends the transaction."""

    try:
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.uploads.claim(workspace, "key", digest("input"), uuid4())
            raise Stop
    except Stop:
        async with adapter.database.transaction(workspace.org_id) as transaction:
            assert await transaction.uploads.claim(workspace, "key", digest("other"), uuid4()) is None


async def test_keys_of_two_workspaces_are_two_keys(adapter: Backend) -> None:
    first, second = await adapter.workspace(), await adapter.workspace()

    for workspace in (first, second):
        async with adapter.database.transaction(workspace.org_id) as transaction:
            assert await transaction.uploads.claim(workspace, "key", digest("input"), uuid4()) is None
