"""Where sources are kept: by name, with their health, due when their time has come, credentials in envelopes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from tests.builders import new_document
from tests.contract.backends import Backend

from agentic_rag.documents.document import DocumentStatus, document_id_for
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.documents.ports import DocumentLabel
from agentic_rag.ingestion.missing import DEFAULT_GRACE, hide
from agentic_rag.ingestion.sources.source import NewSource, Source, SourceHealth, SourceKind, UnreadableItem
from agentic_rag.jobs.job import JobKind, NewJob
from agentic_rag.kernel.errors import Retryable
from agentic_rag.models.providers.provider_keys import SealedKey
from agentic_rag.tenancy.principals import WorkspaceRef

NOW = datetime(2026, 11, 1, tzinfo=UTC)
SEALED = SealedKey("one", bytes(12), b"wrapped", bytes(12), b"sealed")


def source(workspace: WorkspaceRef, name: str = "handbook", sealed: SealedKey | None = None, every: int = 60) -> Source:
    stated = NewSource(
        name, SourceKind.GIT, "/srv/docs.git", "docs/", ("*.md",), ("group:night",), every, {"branch": "main"}, True
    )
    return Source(workspace, uuid4(), stated, "user:ada", NOW, sealed)


async def due_in(adapter: Backend, workspace: WorkspaceRef) -> list[str]:
    board = adapter.job_board()
    try:
        found = await board.upkeep()
        return [one.key for one in found if one.workspace == workspace and one.kind is JobKind.SYNC]
    finally:
        await board.aclose()


async def test_a_source_is_stored_as_it_was_stated_and_once_a_name(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    one = source(workspace, sealed=SEALED)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        added = await transaction.sources.add(one)
        again = await transaction.sources.add(source(workspace))
        [stored] = await transaction.sources.all(workspace)
        elsewhere = await transaction.sources.all(WorkspaceRef(workspace.org_id, uuid4()))

    assert (added, again, elsewhere) == (True, False, [])
    assert stored.health.next_at is not None
    assert replace(stored, health=SourceHealth(), created_at=NOW) == one


async def test_health_is_replaced_and_tells_when_the_source_is_due(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    one, quiet = source(workspace), source(workspace, "quiet", every=0)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.sources.add(one)
        await transaction.sources.add(quiet)
    fresh = await due_in(adapter, workspace)
    health = SourceHealth(
        "c0ffee", 2, "SOURCE_UNAVAILABLE", "It is away.", {"new": 3}, (UnreadableItem("a.md", "X", "no"),), NOW, NOW,
        datetime.now(UTC) + timedelta(hours=1),
    )  # fmt: skip
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.sources.record(workspace, one.source_id, health)
        stored = await transaction.sources.get(workspace, one.source_id)

    assert fresh == [one.source_id.hex]
    assert stored is not None
    assert stored.health == health
    assert await due_in(adapter, workspace) == []


async def test_a_due_source_waits_for_its_own_job_only(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    one, two = source(workspace), source(workspace, "other")
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.sources.add(one)
        await transaction.sources.add(two)
        await transaction.jobs.enqueue(NewJob(workspace, JobKind.SYNC, one.source_id.hex, {}))

    assert await due_in(adapter, workspace) == [two.source_id.hex]


async def test_a_leaving_source_is_due_until_it_is_removed(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    one = source(workspace, every=0)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.sources.add(one)
        await transaction.sources.mark_leaving(workspace, one.source_id)
    leaving = await due_in(adapter, workspace)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.sources.remove(workspace, one.source_id)
        gone = await transaction.sources.get(workspace, one.source_id)

    assert leaving == [one.source_id.hex]
    assert gone is None


async def test_envelopes_are_found_by_the_rotation_and_replaced_once(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    one = source(workspace, sealed=SEALED)
    rewrapped = replace(SEALED, master_id="two", wrapped_key=b"again")
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.sources.add(one)
    before = await adapter.key_homes.organisations_to_rewrap("two")
    async with adapter.database.transaction(workspace.org_id) as transaction:
        held = await transaction.sources.envelopes()
        first = await transaction.sources.rewrap(one.provenance, SEALED, rewrapped)
        second = await transaction.sources.rewrap(one.provenance, SEALED, rewrapped)

    assert held == {one.provenance: SEALED}
    assert (first, second) == (True, False)
    assert workspace.org_id in before
    assert workspace.org_id not in await adapter.key_homes.organisations_to_rewrap("two")


async def test_a_document_that_moved_keeps_its_id_and_the_path_gets_another(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        key = await transaction.documents.id_key(workspace)
    first = document_id_for(workspace, "a.md", key=key)
    provenance = {"source": "source:1", "fingerprint": "x"}
    moved = new_document(workspace, "a.md", document_id=first, provenance=provenance)
    await adapter.register(workspace, moved)
    label = DocumentLabel("b/c.md", "c.md", "https://example.com/c", {"fingerprint": "y"})
    async with adapter.database.transaction(workspace.org_id) as transaction:
        assert await transaction.documents.relabel(workspace, moved.document_id, label)
        assert not await transaction.documents.relabel(workspace, uuid4(), label)
        document = await transaction.documents.get(workspace, moved.document_id)
        ids = await resolve_ids(transaction.documents, workspace, ["a.md", "b/c.md", "d.md"])

    assert document is not None
    assert (document.source_path, document.file_name, document.url) == ("b/c.md", "c.md", "https://example.com/c")
    assert document.provenance == {"source": "source:1", "fingerprint": "y"}
    assert ids["b/c.md"] == moved.document_id
    assert ids["a.md"] == document_id_for(workspace, "a.md", 1, key=key)
    assert ids["d.md"] == document_id_for(workspace, "d.md", key=key)


async def test_no_document_takes_the_path_of_another(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    one, two = new_document(workspace, "a.md"), new_document(workspace, "b.md")
    await adapter.register(workspace, one)
    await adapter.register(workspace, two)

    with pytest.raises(Retryable) as conflict:
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.documents.relabel(workspace, one.document_id, DocumentLabel("b.md", "b.md", None))

    assert conflict.value.code == "DATABASE_CONFLICT"


async def test_documents_of_a_source_are_counted_by_status_while_it_has_them(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    one = source(workspace)
    gone = new_document(workspace, "gone.md", provenance={"source": one.provenance})
    await adapter.register(workspace, new_document(workspace, "a.md", provenance={"source": one.provenance}))
    await adapter.register(workspace, gone)
    await adapter.register(workspace, new_document(workspace, "b.md"))
    async with adapter.database.transaction(workspace.org_id) as transaction:
        missing = await transaction.documents.get(workspace, gone.document_id)
        assert missing is not None
        await hide(transaction, missing, DEFAULT_GRACE, {})

    async with adapter.database.transaction(workspace.org_id) as transaction:
        counts = await transaction.sources.document_counts(workspace, one.provenance)
        brought = await transaction.sources.brought(workspace)

    assert counts == dict.fromkeys(DocumentStatus, 0) | {DocumentStatus.PENDING: 1}
    assert brought == [one.provenance]
