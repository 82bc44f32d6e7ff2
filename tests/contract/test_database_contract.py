"""What every `Database` promises."""

from collections.abc import Mapping
from uuid import UUID, uuid4

import pytest
from tests.builders import EVERYBODY, new_document
from tests.contract.backends import Backend

from agentic_rag.documents.document import DocumentFilter, DocumentStatus
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.operations.canary import canary_workspace
from agentic_rag.tenancy.audit import AuditAction, AuditEntry
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind


async def test_a_snapshot_of_an_unknown_workspace_is_not_found(adapter: Backend) -> None:
    org_id = await adapter.organisation()

    with pytest.raises(NotFound):
        async with adapter.database.snapshot(WorkspaceRef(org_id, uuid4())):
            pass


async def test_a_foreign_workspace_looks_like_a_missing_one(adapter: Backend) -> None:
    foreign = await adapter.workspace()
    org_id = await adapter.organisation()

    with pytest.raises(NotFound):
        async with adapter.database.snapshot(WorkspaceRef(org_id, foreign.workspace_id)):
            pass
    assert await adapter.database.corpus_version(WorkspaceRef(org_id, foreign.workspace_id)) is None


async def test_a_new_workspace_is_at_version_zero(adapter: Backend) -> None:
    workspace = await adapter.workspace()

    assert await adapter.database.corpus_version(workspace) == 0
    async with adapter.database.snapshot(workspace) as snapshot:
        assert snapshot.version == 0
        assert await snapshot.documents.ordinals_matching(DocumentFilter(), EVERYBODY) == frozenset()


async def test_a_snapshot_keeps_its_version_while_others_publish(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["the first text"])

    async with adapter.database.snapshot(workspace) as snapshot:
        await adapter.publish(workspace, "a.md", ["the second text"])
        [chunk] = await snapshot.documents.chunks([0, 1], EVERYBODY)

    assert snapshot.version == 1
    assert chunk.text == "the first text"
    assert await adapter.database.corpus_version(workspace) == 2


async def test_an_older_version_can_be_read_and_a_future_one_cannot(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["the first text"])
    await adapter.publish(workspace, "a.md", ["the second text"])

    async with adapter.database.snapshot(workspace, as_of=1) as snapshot:
        [chunk] = await snapshot.documents.chunks([0, 1], EVERYBODY)
    with pytest.raises(InvalidInput) as refused:
        async with adapter.database.snapshot(workspace, as_of=3):
            pass

    assert chunk.text == "the first text"
    assert refused.value.code == "AS_OF_UNAVAILABLE"


async def test_a_transaction_that_fails_leaves_nothing(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    new = new_document(workspace, "a.md")

    async def fail_after_registering() -> None:
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.documents.register(workspace, new)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail_after_registering()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        counts = await transaction.documents.count(workspace)

    assert counts == dict.fromkeys(DocumentStatus, 0)


@pytest.mark.parametrize("durable", [True, False])
async def test_an_act_without_a_transaction_is_recorded_when_the_call_returns(
    adapter: Backend, *, durable: bool
) -> None:
    workspace, other = await adapter.workspace(), await adapter.organisation()
    entry = AuditEntry(AuditAction.READ_TEXT, "a", "user:ada", workspace.workspace_id, {"start": 0, "end": 4})

    await adapter.database.record_audit(workspace.org_id, entry, durable=durable)

    async def log(org_id: UUID) -> list[tuple[str, str, UUID | None, Mapping[str, object]]]:
        async with adapter.database.transaction(org_id) as transaction:
            page = await transaction.audit.page(PageRequest())
        return [(one.action, one.actor, one.workspace_id, one.detail) for one in page.items]

    assert await log(workspace.org_id) == [("document.text", "user:ada", workspace.workspace_id, entry.detail)]
    assert await log(other) == []


async def test_a_taken_name_is_refused(adapter: Backend) -> None:
    org_id = await adapter.organisation()

    async def create() -> None:
        async with adapter.database.transaction(org_id) as transaction:
            await transaction.workspaces.create(
                uuid4(), "handbook", WorkspaceKind.PROJECT, "p-1", WorkspaceSettings(history_days=0)
            )

    await create()
    with pytest.raises(InvalidInput) as refused:
        await create()

    assert refused.value.code == "WORKSPACE_EXISTS"


async def test_workspaces_are_listed_by_name_for_their_organisation_only(adapter: Backend) -> None:
    org_id = await adapter.organisation()
    await adapter.workspace()
    settings = WorkspaceSettings(chunk_profile="small", history_days=0)
    async with adapter.database.transaction(org_id) as transaction:
        for name in ("b", "a", "B"):
            await transaction.workspaces.create(uuid4(), name, WorkspaceKind.GENERAL, None, settings)

        listed = await transaction.workspaces.all()
        found = await transaction.workspaces.by_name("a")

    assert [workspace.name for workspace in listed] == ["B", "a", "b"]
    assert found is not None
    assert found.settings == settings


async def test_no_list_shows_the_workspace_of_the_leak_canary(adapter: Backend) -> None:
    org_id = await adapter.organisation()
    hidden = canary_workspace(org_id).workspace_id
    async with adapter.database.transaction(org_id) as transaction:
        for key, name in ((uuid4(), "a"), (hidden, "hidden")):
            await transaction.workspaces.create(key, name, WorkspaceKind.GENERAL, None, WorkspaceSettings())

        listed = await transaction.workspaces.all()

    assert [workspace.name for workspace in listed] == ["a"]


async def test_the_first_space_becomes_the_active_one_and_keeps_its_number(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        active = await transaction.workspaces.active_space(workspace)
        assert active is not None
        again = await transaction.workspaces.register_space(workspace, active.space)

    async with adapter.database.snapshot(workspace) as snapshot:
        assert snapshot.space == active == again


async def test_a_workspace_is_renamed_unless_another_has_the_name(adapter: Backend) -> None:
    org_id = await adapter.organisation()
    one, other = uuid4(), uuid4()
    async with adapter.database.transaction(org_id) as transaction:
        for key, name in ((one, "one"), (other, "other")):
            await transaction.workspaces.create(key, name, WorkspaceKind.AGENT, f"a-{name}", WorkspaceSettings())

    async with adapter.database.transaction(org_id) as transaction:
        renamed = await transaction.workspaces.rename(one, "new")
        same = await transaction.workspaces.rename(one, "new")
        with pytest.raises(InvalidInput) as taken:
            await transaction.workspaces.rename(other, "new")
        with pytest.raises(NotFound) as missing:
            await transaction.workspaces.rename(uuid4(), "any")
        kept = await transaction.workspaces.by_name("other")

    assert (renamed.name, renamed.external_ref, same) == ("new", "a-one", renamed)
    assert (taken.value.code, missing.value.code) == ("WORKSPACE_EXISTS", "WORKSPACE_NOT_FOUND")
    assert kept is not None
