"""Deleting workspaces and the organisation, and renaming it, over GraphQL."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role
from tests.api.builders import ORG, OTHER_ORG, TOKENS, WORKSPACE, Container, FakeIdentity, query
from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.workspaces.organisations import MemoryOrganisations

ERASURE = "erasure { subject complete stores { store count } kept { place } } userErrors { code path }"
MAKE = 'mutation { createWorkspace(input: {name: "pumps"}) { workspace { id } } }'
DELETE = f"""mutation($id: ID!, $name: String!) {{
  deleteWorkspace(workspaceId: $id, confirmName: $name) {{ {ERASURE} }} }}"""
CLOSE = f"mutation($name: String!) {{ deleteOrganisation(confirmName: $name) {{ {ERASURE} }} }}"
PROVE = "query($id: ID!) { proveWorkspaceErased(workspaceId: $id) { erased findings { kind store } } }"
PROVE_ORGANISATION = """query($id: ID!) {
  proveTenantErased(id: $id) { erased erasure { subject } workspaces { subject complete } } }"""
RENAME = """mutation($name: String!) {
  renameOrganisation(name: $name) { organisation { name } userErrors { code path } } }"""


@pytest.fixture
async def container() -> Container:
    store = MemoryStore(SystemClock())
    for org_id, name in ((ORG, "ours"), (OTHER_ORG, "theirs")):
        await MemoryOrganisations(store).ensure_organisation(org_id, name)
    operators = {
        "operator-token": Principal(ORG, "olga", Role.OPERATOR),
        "platform-token": Principal(DEFAULT_ORG_ID, "olga", Role.OPERATOR),
    }
    identity = FakeIdentity(TOKENS | operators)
    return Container(database=MemoryDatabase(store), cache=MemoryAnswerCache(SystemClock()), identity=identity)


async def a_workspace(container: Container) -> str:
    return (await query(container, MAKE))["data"]["createWorkspace"]["workspace"]["id"]


async def delete(container: Container, key: str, name: str, token: str = "admin-token") -> dict[str, Any]:
    body = await query(container, DELETE, {"id": key, "name": name}, token=token)
    return body["data"]["deleteWorkspace"]


async def test_a_workspace_goes_when_its_name_is_repeated_and_leaves_a_certificate(container: Container) -> None:
    key = await a_workspace(container)

    wrong = await delete(container, key, "pump")
    foreign = await delete(container, key, "pumps", token="other-token")
    gone = await delete(container, key, " pumps ")
    again = await delete(container, key, "pumps")
    listed = await query(container, "{ workspaces { id } workspaceErasures { subject } }")
    proof = (await query(container, PROVE, {"id": key}))["data"]["proveWorkspaceErased"]

    assert wrong["userErrors"] == [{"code": "CONFIRMATION_WRONG", "path": ["confirmName"]}]
    assert [one["userErrors"][0]["code"] for one in (foreign, again)] == ["WORKSPACE_NOT_FOUND"] * 2
    assert gone["erasure"]["subject"] == key
    assert {one["place"] for one in gone["erasure"]["kept"]} == {"rag_audit", "rag_erasures"}
    assert listed["data"] == {"workspaces": [], "workspaceErasures": [{"subject": key}]}
    assert proof == {"erased": True, "findings": []}


async def test_what_was_never_deleted_has_no_proof(container: Container) -> None:
    body = await query(container, PROVE, {"id": encode_workspace(WORKSPACE)})

    assert body["errors"][0]["extensions"]["code"] == "ERASURE_NOT_FOUND"


async def test_a_member_deletes_no_workspace_and_an_admin_renames_no_organisation(container: Container) -> None:
    member = await query(container, DELETE, {"id": await a_workspace(container), "name": "pumps"}, token="member-token")
    admin = await query(container, RENAME, {"name": "new"})

    assert [one["errors"][0]["extensions"]["code"] for one in (member, admin)] == ["FORBIDDEN"] * 2


async def test_an_organisation_is_renamed_unless_another_has_the_name(container: Container) -> None:
    renamed = await query(container, RENAME, {"name": " new "}, token="operator-token")
    taken = await query(container, RENAME, {"name": "theirs"}, token="operator-token")

    assert renamed["data"]["renameOrganisation"]["organisation"] == {"name": "new"}
    assert taken["data"]["renameOrganisation"]["userErrors"] == [{"code": "ORGANISATION_EXISTS", "path": ["name"]}]


async def test_an_organisation_goes_with_all_its_workspaces(container: Container) -> None:
    await a_workspace(container)

    wrong = await query(container, CLOSE, {"name": "theirs"})
    closed = await query(container, CLOSE, {"name": "ours"})
    left = await query(container, "{ workspaces { id } }")

    assert wrong["data"]["deleteOrganisation"]["userErrors"][0]["code"] == "CONFIRMATION_WRONG"
    assert closed["data"]["deleteOrganisation"]["erasure"]["subject"] == str(ORG)
    assert left["data"]["workspaces"] == []


async def test_a_deleted_organisation_is_proven_gone_by_an_operator_of_the_default_one(container: Container) -> None:
    key = await a_workspace(container)
    await query(container, CLOSE, {"name": "ours"})

    own = await query(container, PROVE_ORGANISATION, {"id": str(ORG)}, token="operator-token")
    proof = await query(container, PROVE_ORGANISATION, {"id": str(ORG)}, token="platform-token")
    never = await query(container, PROVE_ORGANISATION, {"id": str(OTHER_ORG)}, token="platform-token")
    wrong = await query(container, PROVE_ORGANISATION, {"id": "ours"}, token="platform-token")

    assert own["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert proof["data"]["proveTenantErased"]["erasure"] == {"subject": str(ORG)}
    assert proof["data"]["proveTenantErased"]["workspaces"] == [{"subject": key, "complete": True}]
    assert [one["errors"][0]["extensions"]["code"] for one in (never, wrong)] == ["ERASURE_NOT_FOUND", "INVALID_ID"]
