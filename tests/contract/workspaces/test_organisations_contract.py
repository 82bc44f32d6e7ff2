"""What every `OrganisationStore` promises, and workspaces as their callers know them."""

from dataclasses import replace
from uuid import uuid4

import pytest
from tests.contract.backends import Backend

from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.organisation import FeatureFlag, Organisation, OrganisationSettings
from agentic_rag.workspaces.rate_limits import RateLimits
from agentic_rag.workspaces.settings import RagConfig, WorkspaceSettings
from agentic_rag.workspaces.web_access import WebAccess
from agentic_rag.workspaces.workspace import WorkspaceKind


async def current(adapter: Backend, org_id: object) -> Organisation:
    async with adapter.database.transaction(org_id) as transaction:  # type: ignore[arg-type]
        return await transaction.organisations.current()


async def test_a_new_organisation_has_every_feature_off(adapter: Backend) -> None:
    org_id = await adapter.organisation()

    organisation = await current(adapter, org_id)

    assert (organisation.org_id, organisation.name) == (org_id, f"test {org_id}")
    assert not any(organisation.settings.is_on(flag) for flag in FeatureFlag)


async def test_a_feature_is_switched_on_for_one_organisation_only(adapter: Backend) -> None:
    org_id, neighbour = await adapter.organisation(), await adapter.organisation()

    async with adapter.database.transaction(org_id) as transaction:
        changed = await transaction.organisations.change(
            lambda settings: settings.with_flag(FeatureFlag.RAG_GUIDELINES, on=True)
        )

    assert changed == await current(adapter, org_id)
    assert changed.settings.is_on(FeatureFlag.RAG_GUIDELINES)
    assert (await current(adapter, neighbour)).settings == OrganisationSettings()


async def test_a_feature_that_is_switched_off_again_is_off(adapter: Backend) -> None:
    org_id = await adapter.organisation()
    for on in (True, False):
        async with adapter.database.transaction(org_id) as transaction:
            await transaction.organisations.change(
                lambda settings, on=on: settings.with_flag(FeatureFlag.RAG_GUIDELINES, on=on)
            )

    assert (await current(adapter, org_id)).settings == OrganisationSettings()


async def test_an_organisation_is_renamed_unless_another_has_the_name(adapter: Backend) -> None:
    org_id, neighbour = await adapter.organisation(), await adapter.organisation()
    name = f"renamed {org_id}"

    async with adapter.database.transaction(org_id) as transaction:
        renamed = await transaction.organisations.rename(name)
        same = await transaction.organisations.rename(name)
    with pytest.raises(InvalidInput) as taken:
        async with adapter.database.transaction(neighbour) as transaction:
            await transaction.organisations.rename(name)

    assert renamed == same == await current(adapter, org_id)
    assert renamed.name == name
    assert taken.value.code == "ORGANISATION_EXISTS"


async def test_limits_on_requests_are_kept_beside_the_rest(adapter: Backend) -> None:
    org_id = await adapter.organisation()
    limits = RateLimits(asks=120, writes=0)

    async with adapter.database.transaction(org_id) as transaction:
        await transaction.organisations.change(lambda settings: replace(settings, rates=limits))

    assert (await current(adapter, org_id)).settings == OrganisationSettings(rates=limits)


async def test_an_organisation_that_was_never_made_is_not_found(adapter: Backend) -> None:
    with pytest.raises(NotFound):
        await current(adapter, uuid4())
    with pytest.raises(NotFound):
        async with adapter.database.transaction(uuid4()) as transaction:
            await transaction.organisations.change(lambda settings: settings)


async def test_a_workspace_is_found_by_kind_and_the_callers_own_id(adapter: Backend) -> None:
    org_id, neighbour = await adapter.organisation(), await adapter.organisation()
    made = {}
    for owner, kind in (
        (org_id, WorkspaceKind.PROJECT),
        (org_id, WorkspaceKind.AGENT),
        (neighbour, WorkspaceKind.AGENT),
    ):
        async with adapter.database.transaction(owner) as transaction:
            made[owner, kind] = await transaction.workspaces.create(
                uuid4(), f"{kind.value} seven", kind, "7", WorkspaceSettings()
            )

    async with adapter.database.transaction(org_id) as transaction:
        found = await transaction.workspaces.by_reference(WorkspaceKind.AGENT, "7")
        missing = await transaction.workspaces.by_reference(WorkspaceKind.GENERAL, "7")

    assert found == made[org_id, WorkspaceKind.AGENT]
    assert missing is None


async def test_workspaces_are_read_together_and_those_of_others_are_not_there(adapter: Backend) -> None:
    ours, foreign = await adapter.workspace(), await adapter.workspace()
    beside = await adapter.workspace(ours.org_id)

    async with adapter.database.transaction(ours.org_id) as transaction:
        wanted = [one.workspace_id for one in (ours, beside, foreign)]
        found = await transaction.workspaces.get_many([*wanted, uuid4()])
        each = [await transaction.workspaces.get(one) for one in wanted[:2]]

    assert [found[one] for one in wanted[:2]] == each
    assert len(found) == 2


async def test_settings_of_a_workspace_are_kept_and_changed_one_by_one(adapter: Backend) -> None:
    settings = WorkspaceSettings(
        chunk_profile="agent", history_days=0, inline_guidelines="Be kind.", rag_config=RagConfig(3, 0.5)
    )
    workspace = await adapter.workspace(settings=settings)

    async with adapter.database.transaction(workspace.org_id) as transaction:
        before = await transaction.workspaces.get(workspace.workspace_id)
        after = await transaction.workspaces.change_settings(
            workspace.workspace_id, lambda now: replace(now, inline_guidelines=None)
        )
    async with adapter.database.transaction(workspace.org_id) as transaction:
        stored = await transaction.workspaces.get(workspace.workspace_id)

    assert before is not None
    assert before.settings == settings
    assert after == stored
    assert after.settings == replace(settings, inline_guidelines=None)


async def test_the_head_of_a_corpus_tells_who_allows_the_web(adapter: Backend) -> None:
    closed = await adapter.workspace()
    opened = await adapter.workspace(settings=WorkspaceSettings(web=WebAccess(allow=True, care=0.75)))

    before = [await adapter.database.head(one) for one in (closed, opened)]
    async with adapter.database.transaction(opened.org_id) as transaction:
        await transaction.organisations.change(lambda it: it.with_flag(FeatureFlag.WEB_ACCESS, on=True))
    after = await adapter.database.head(opened)

    assert [one and (one.organisation_allows_web, one.web) for one in before] == [
        (False, WebAccess()),
        (False, WebAccess(allow=True, care=0.75)),
    ]
    assert after is not None
    assert (after.organisation_allows_web, after.web.allow) == (True, True)


async def test_a_workspace_of_another_organisation_cannot_be_changed(adapter: Backend) -> None:
    foreign = await adapter.workspace()
    ours = await adapter.workspace()

    with pytest.raises(NotFound) as refused:
        async with adapter.database.transaction(ours.org_id) as transaction:
            await transaction.workspaces.change_settings(foreign.workspace_id, lambda now: replace(now, history_days=0))

    assert refused.value.code == "WORKSPACE_NOT_FOUND"
    async with adapter.database.transaction(foreign.org_id) as transaction:
        untouched = await transaction.workspaces.get(WorkspaceRef(foreign.org_id, foreign.workspace_id).workspace_id)
    assert untouched is not None
    assert untouched.settings == WorkspaceSettings()


async def test_a_change_that_is_refused_leaves_the_settings_as_they_were(adapter: Backend) -> None:
    workspace = await adapter.workspace(settings=WorkspaceSettings(history_days=3))

    with pytest.raises(InvalidInput):
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.workspaces.change_settings(
                workspace.workspace_id, lambda now: replace(now, history_days=-1)
            )

    async with adapter.database.transaction(workspace.org_id) as transaction:
        stored = await transaction.workspaces.get(workspace.workspace_id)
    assert stored is not None
    assert stored.settings == WorkspaceSettings(history_days=3)
