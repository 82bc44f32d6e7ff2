"""What every store promises of a workspace with named readers: to other bound callers it is as if it were not."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from uuid import UUID

import pytest
from tests.builders import new_document, run_of
from tests.contract.backends import Backend

from agentic_rag.documents.document_access import list_scope
from agentic_rag.jobs.job import JobKind, NewJob
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.tenancy.access import UNRESTRICTED_READER, read_identity
from agentic_rag.tenancy.entering import entering_as
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef

NIGHT, EDITORS = ('group:night o\'clock, "late"',), ("user:érik",)


def caller(workspace: WorkspaceRef, subject: str, *groups: str, role: Role = Role.MEMBER) -> Principal:
    return Principal(workspace.org_id, subject, role, groups)


@dataclass(frozen=True)
class Closed:
    ref: WorkspaceRef
    run_id: UUID


async def closed(adapter: Backend) -> Closed:
    """A workspace with a document, a job and a run."""
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["quorum"])
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.set_access(workspace.workspace_id, NIGHT, EDITORS)
        await transaction.jobs.enqueue(NewJob(workspace, JobKind.COMPACT, "one", {}))
    run = run_of(workspace)
    await adapter.runs.record([run])
    return Closed(workspace, run.run_id)


async def what_is_there(adapter: Backend, held: Closed, principal: Principal) -> list[bool]:
    """Whether each look finds something."""
    workspace, document_id = held.ref, new_document(held.ref, "a.md").document_id
    with entering_as(principal):
        async with adapter.database.transaction(workspace.org_id) as transaction:
            names = [one.name for one in await transaction.workspaces.all()]
            scope = await list_scope(transaction, principal, workspace)
            jobs = await transaction.jobs.page(workspace, PageRequest(10))
            found = [
                await transaction.workspaces.get(workspace.workspace_id) is not None,
                await transaction.workspaces.by_name(f"workspace {workspace.workspace_id}") is not None,
                f"workspace {workspace.workspace_id}" in names,
                await transaction.documents.get(workspace, document_id) is not None,
                await transaction.documents.get_for_update(workspace, document_id) is not None,
                bool((await transaction.documents.page(workspace, PageRequest(10), scope=scope)).items),
                await transaction.access.sees(workspace, document_id, read_identity(principal)),
                bool((await transaction.access.readable(workspace, read_identity(principal))).access_ids),
                bool(jobs.items),
            ]
        head = await adapter.database.head(workspace, UNRESTRICTED_READER)
        version = await adapter.database.corpus_version(workspace)
        kept = await adapter.runs.get(workspace, held.run_id)
        return [*found, head is not None, version is not None, kept is not None]


@pytest.mark.parametrize(
    ("subject", "groups", "role"),
    [
        ("nina", ('night o\'clock, "late"',), Role.MEMBER),
        ("érik", (), Role.MEMBER),
        ("ada", (), Role.ADMIN),
    ],
)
async def test_its_readers_its_writers_and_admins_find_all_of_it(
    adapter: Backend, subject: str, groups: tuple[str, ...], role: Role
) -> None:
    held = await closed(adapter)

    assert all(await what_is_there(adapter, held, caller(held.ref, subject, *groups, role=role)))


async def test_to_anybody_else_it_is_as_if_it_were_not_there(adapter: Backend) -> None:
    held = await closed(adapter)
    stranger = caller(held.ref, "bob", "day")

    assert not any(await what_is_there(adapter, held, stranger))
    with entering_as(stranger), pytest.raises(NotFound):
        async with adapter.database.snapshot(held.ref):
            pass


async def test_without_readers_everybody_enters_and_the_change_holds_at_once(adapter: Backend) -> None:
    held = await closed(adapter)
    stranger = caller(held.ref, "bob", "day")
    async with adapter.database.transaction(held.ref.org_id) as transaction:
        changed = await transaction.workspaces.set_access(held.ref.workspace_id, None, EDITORS)

    assert (changed.readers, changed.writers) == (None, EDITORS)
    assert all(await what_is_there(adapter, held, stranger))


async def test_looks_of_others_at_the_same_time_open_it_to_nobody(adapter: Backend) -> None:
    held = await closed(adapter)
    reader, stranger = caller(held.ref, "nina", 'night o\'clock, "late"'), caller(held.ref, "bob", "day")

    async def finds(principal: Principal) -> bool:
        with entering_as(principal):
            return await adapter.database.head(held.ref, UNRESTRICTED_READER) is not None

    found = await asyncio.gather(*(finds(one) for _ in range(20) for one in (reader, stranger)))

    assert found == [True, False] * 20
