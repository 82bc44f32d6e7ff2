"""A whole round trip: what was taken away after a backup does not come back with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from agentic_rag.adapters.blobs.directory import DirectoryBlobStore
from agentic_rag.bootstrap import Container
from agentic_rag.ingestion.ingest_chunks import PlainTextDocument
from agentic_rag.kernel.errors import Unauthenticated
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.manage_api_keys import KeyWish
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Role
from agentic_rag.workspaces.administer import NewWorkspace
from agentic_rag.workspaces.workspace import WorkspaceKind

pytestmark = [pytest.mark.integration, pytest.mark.network]


def system_at(database: str, redis: str, home: Path) -> Container:
    variables = {
        "DATABASE_URL": database,
        "REDIS_URL": redis,
        "RAG_EMBEDDER": "deterministic",
        "AGENTIC_RAG_LOG_LEVEL": "error",
        "AGENTIC_RAG_QUEUE_NAME": f"restored-{uuid4().hex}",
        "AGENTIC_RAG_HOME": str(home),
        "AGENTIC_RAG_BLOB_STORE": str(home / "blobs"),
    }
    return Container(load_settings(variables, dotenv=home / "none"))


@pytest.fixture
async def systems(
    migrated_database: str, fresh_database: str, fresh_redis: str, tmp_path: Path
) -> AsyncIterator[tuple[Container, Container]]:
    """A system, and an empty one to restore into."""
    homes = [tmp_path / "before", tmp_path / "after"]
    for home in homes:
        home.mkdir()
    made = [
        system_at(url, fresh_redis, home) for url, home in zip((migrated_database, fresh_database), homes, strict=True)
    ]
    yield made[0], made[1]
    for one in made:
        await one.aclose()


async def test_keys_revoked_and_documents_erased_after_a_backup_stay_so_when_it_is_restored(
    systems: tuple[Container, Container], tmp_path: Path
) -> None:
    before, after = systems
    await before.first_access.ensure_organisation()
    kept, revoked = [
        await before.api_keys.create(DEFAULT_ORG_ID, KeyWish(name, Role.MEMBER), "test") for name in ("kept", "revoked")
    ]
    made = await before.administer.create_workspace(
        DEFAULT_ORG_ID, NewWorkspace("w", WorkspaceKind.PROJECT, "w"), "test"
    )
    cut = [
        await before.ingest_chunks.cut(PlainTextDocument(path, path, f"Text of {path}."), "default")
        for path in ("kept.txt", "erased.txt")
    ]
    await before.ingest_chunks.run(made.ref, cut, "test", lambda _: None)
    backup = DirectoryBlobStore(tmp_path / "backup")
    await before.create_backup.run(backup, lambda *_: None)
    async with before.database.transaction(DEFAULT_ORG_ID) as transaction:
        page = await transaction.documents.page(made.ref, PageRequest(10))
    erased = next(one for one in page.items if one.source_path == "erased.txt")
    await before.delete.run(made.ref, erased.document_id)
    await before.api_keys.revoke(DEFAULT_ORG_ID, revoked.key.key_id, "test")
    records = [one async for one in before.backup_database.erasures()]

    await after.restore_backup.run(backup, lambda *_: None)
    told = await after.reapply_erasures.run(records)
    again = await after.reapply_erasures.run(records)

    assert (told.documents, told.keys) == (1, 1)
    assert (again.documents, again.keys) == (0, 0)
    assert (await after.identity.authenticate(kept.token)).subject == "kept"
    with pytest.raises(Unauthenticated):
        await after.identity.authenticate(revoked.token)
    async with after.database.transaction(DEFAULT_ORG_ID) as transaction:
        left = await transaction.documents.page(made.ref, PageRequest(10))
        [told_of] = [one for one in await transaction.api_keys.all() if one.name == "revoked"]
    assert [one.source_path for one in left.items] == ["kept.txt"]
    assert told_of.revoked_at is not None
