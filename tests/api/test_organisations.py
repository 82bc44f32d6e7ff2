"""Organisations, their API keys and the settings of their workspaces over GraphQL."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.kernel.errors import Forbidden
from agentic_rag.kernel.public_ids import NodeKind, decode, encode_in_organisation
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.tenancy.principals import KeyScope, Principal, Role, WorkspaceRef
from tests.api.builders import ORG, OTHER_ORG, TOKENS, Container, FakeIdentity, query
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.workspaces.organisations import MemoryOrganisations

KEY = "apiKey { id name subject role groups scopes revokedAt } userErrors { code path }"
MAKE_KEY = f"mutation($input: CreateApiKeyInput!) {{ createApiKey(input: $input) {{ token {KEY} }} }}"
REVOKE = f"mutation($id: ID!) {{ revokeApiKey(id: $id) {{ {KEY} }} }}"
KINDS = ("GENERAL", "PROJECT", "AGENT")
MAKE = """mutation { createWorkspace(input: {name: "%s", kind: %s}) {
  workspace { settings { chunkProfile ragConfig { topK similarityThreshold } } } } }"""
SETTINGS = "settings { chunkProfile historyDays inlineGuidelines ragConfig { topK similarityThreshold } }"
UPDATE = f"""mutation($input: UpdateWorkspaceSettingsInput!) {{
  updateWorkspaceSettings(input: $input) {{ workspace {{ {SETTINGS} }} userErrors {{ code path }} }}
}}"""
CREATE = """mutation($input: CreateWorkspaceInput!) {
  createWorkspace(input: $input) { workspace { id externalRef } userErrors { code } }
}"""
NARROW = Principal(ORG, "robot", Role.ADMIN, scopes=frozenset({KeyScope.ADMIN, KeyScope.READ}))
ASKER = Principal(ORG, "robot", Role.ADMIN, scopes=frozenset({KeyScope.ASK}))


@pytest.fixture
async def container() -> Container:
    store = MemoryStore(SystemClock())
    for org_id, name in ((ORG, "ours"), (OTHER_ORG, "theirs")):
        await MemoryOrganisations(store).ensure_organisation(org_id, name)
    identity = FakeIdentity(TOKENS | {"narrow-key": NARROW, "asking-key": ASKER})
    return Container(database=MemoryDatabase(store), identity=identity)


async def a_project(container: Container) -> str:
    body = await query(container, CREATE, {"input": {"name": "pumps", "kind": "PROJECT", "externalRef": "p-7"}})
    return body["data"]["createWorkspace"]["workspace"]["id"]


async def update(container: Container, **given: Any) -> dict[str, Any]:
    body = await query(container, UPDATE, {"input": given})
    return body["data"]["updateWorkspaceSettings"]


async def test_an_organisation_shows_its_features_and_admins_switch_them(container: Container) -> None:
    shown = "organisation { id name features { flag on } }"
    others = [{"flag": "MEMBERS_OPEN_WORKSPACES", "on": False}, {"flag": "WEB_ACCESS", "on": False}]
    before = await query(container, f"{{ {shown} }}", token="viewer-token")
    switched = await query(container, f"mutation {{ setFeature(flag: RAG_GUIDELINES, on: true) {{ {shown} }} }}")
    theirs = await query(container, f"{{ {shown} }}", token="other-token")

    assert before["data"]["organisation"] == {
        "id": str(ORG),
        "name": "ours",
        "features": [{"flag": "RAG_GUIDELINES", "on": False}, *others],
    }
    ours = [{"flag": "RAG_GUIDELINES", "on": True}, *others]
    assert switched["data"]["setFeature"]["organisation"]["features"] == ours
    assert theirs["data"]["organisation"]["features"] == [{"flag": "RAG_GUIDELINES", "on": False}, *others]


async def test_a_key_is_made_listed_and_revoked_and_its_token_shown_once(container: Container) -> None:
    wish = {"name": "ci", "role": "MEMBER", "groups": ["build"], "scopes": ["UPLOAD"]}
    made = (await query(container, MAKE_KEY, {"input": wish}))["data"]["createApiKey"]
    revoked = (await query(container, REVOKE, {"id": made["apiKey"]["id"]}))["data"]["revokeApiKey"]
    listed = (await query(container, "{ apiKeys { id name revokedAt } }"))["data"]["apiKeys"]

    assert made["token"].startswith("rag_")
    assert made["apiKey"] | {"id": None} == {
        "id": None,
        "name": "ci",
        "subject": "ci",
        "role": "MEMBER",
        "groups": ["build"],
        "scopes": ["UPLOAD"],
        "revokedAt": None,
    }
    assert [key["id"] for key in listed] == [made["apiKey"]["id"]]
    assert listed[0]["revokedAt"] == revoked["apiKey"]["revokedAt"]
    assert made["token"] not in str(listed)


@pytest.mark.parametrize(
    ("wish", "path"),
    [
        ({"name": " ", "role": "VIEWER"}, ["name"]),
        ({"name": "x", "role": "VIEWER", "subject": ""}, ["subject"]),
        ({"name": "x", "role": "VIEWER", "groups": ["a\nb"]}, ["groups"]),
        ({"name": "x", "role": "VIEWER", "scopes": []}, ["scopes"]),
        ({"name": "x", "role": "VIEWER", "expiresAt": "2020-01-01T00:00:00Z"}, ["expiresAt"]),
        ({"name": "x", "role": "VIEWER", "expiresAt": "2999-01-01T00:00:00"}, ["expiresAt"]),
    ],
)
async def test_a_key_that_makes_no_sense_is_refused_by_name(
    container: Container, wish: dict[str, Any], path: list[str]
) -> None:
    made = (await query(container, MAKE_KEY, {"input": wish}))["data"]["createApiKey"]

    assert made == {"token": None, "apiKey": None, "userErrors": [{"code": "INVALID_INPUT", "path": path}]}


@pytest.mark.parametrize(
    ("token", "wish"),
    [
        ("viewer-token", {"name": "x", "role": "VIEWER"}),
        ("admin-token", {"name": "x", "role": "OPERATOR"}),
        ("narrow-key", {"name": "x", "role": "VIEWER"}),
        ("narrow-key", {"name": "x", "role": "VIEWER", "scopes": ["READ", "UPLOAD"]}),
        ("asking-key", {"name": "x", "role": "VIEWER", "scopes": ["ASK"]}),
    ],
    ids=["a viewer", "a stronger role", "without scopes", "a wider scope", "a key that only asks"],
)
async def test_nobody_makes_a_key_that_may_do_more_than_oneself(
    container: Container, token: str, wish: dict[str, Any]
) -> None:
    body = await query(container, MAKE_KEY, {"input": wish}, token=token)

    assert [error["extensions"]["code"] for error in body["errors"]] == ["FORBIDDEN"]


async def test_a_key_held_to_asking_can_neither_read_nor_change(container: Container) -> None:
    for text in ("{ workspaces { name } }", "{ organisation { name } }", "{ apiKeys { id } }"):
        body = await query(container, text, token="asking-key")
        assert [error["extensions"]["code"] for error in body["errors"]] == ["FORBIDDEN"]


async def test_a_key_of_another_organisation_is_revoked_like_one_that_never_was(container: Container) -> None:
    made = await query(container, MAKE_KEY, {"input": {"name": "ci", "role": "VIEWER"}})
    foreign = made["data"]["createApiKey"]["apiKey"]["id"]
    missing = encode_in_organisation(NodeKind.API_KEY, UUID(int=7))

    answers = [await query(container, REVOKE, {"id": id}, token="other-token") for id in (foreign, missing)]
    still = await query(container, "{ apiKeys { revokedAt } }")

    assert answers[0] == answers[1]
    assert answers[0]["data"]["revokeApiKey"]["userErrors"] == [{"code": "API_KEY_NOT_FOUND", "path": []}]
    assert still["data"]["apiKeys"] == [{"revokedAt": None}]


async def test_a_project_is_found_by_its_callers_own_id(container: Container) -> None:
    made = await a_project(container)
    look = '{ workspaceByReference(kind: %s, externalRef: "p-7") { id } }'

    found = await query(container, look % "PROJECT")
    agent = await query(container, look % "AGENT")
    foreign = await query(container, look % "PROJECT", token="other-token")

    assert found["data"]["workspaceByReference"] == {"id": made}
    assert agent["data"] == foreign["data"] == {"workspaceByReference": None}


async def test_settings_are_changed_one_by_one_and_null_goes_back_to_the_default(container: Container) -> None:
    made = await a_project(container)
    config = {"topK": 3, "similarityThreshold": 0.5}

    await update(container, workspaceId=made, inlineGuidelines="Be kind.", chunkProfile="agent", ragConfig=config)
    second = await update(container, workspaceId=made, chunkProfile=None, historyDays=0)

    assert second["workspace"]["settings"] == {
        "chunkProfile": "default",
        "historyDays": 0,
        "inlineGuidelines": "Be kind.",
        "ragConfig": config,
    }


async def test_a_workspace_says_whether_the_web_may_be_asked_and_null_closes_it(container: Container) -> None:
    made = await a_project(container)
    look = f'{{ workspace(id: "{made}") {{ settings {{ web {{ allow care recrawlHours profile seeds }} }} }} }}'

    await update(
        container,
        workspaceId=made,
        web={"allow": True, "recrawlHours": 24, "profile": "MARKETING", "seeds": ["  Blue  Kite ", "Oslo"]},
    )
    # Clients that do not know it leave it as it is.
    opened = await update(container, workspaceId=made, web={"allow": True, "care": 0.8})
    shown = (await query(container, look))["data"]["workspace"]["settings"]["web"]
    refused = await update(container, workspaceId=made, web={"allow": True, "care": 2.0})
    beyond = await update(container, workspaceId=made, web={"allow": True, "recrawlHours": 9000})
    await update(container, workspaceId=made, web=None)
    closed = (await query(container, look))["data"]["workspace"]["settings"]["web"]

    assert opened["userErrors"] == []
    assert shown == {
        "allow": True,
        "care": 0.8,
        "recrawlHours": 24,
        "profile": "MARKETING",
        "seeds": ["Blue Kite", "Oslo"],
    }
    assert [one["path"] for one in refused["userErrors"]] == [["input", "web", "care"]]
    assert [one["path"] for one in beyond["userErrors"]] == [["input", "web", "recrawlHours"]]
    assert closed == {"allow": False, "care": 0.5, "recrawlHours": 0, "profile": "GENERAL", "seeds": []}


async def test_clients_that_do_not_know_the_reranker_leave_it_as_it_is(container: Container) -> None:
    made = await a_project(container)
    look = f'{{ workspace(id: "{made}") {{ settings {{ ragConfig {{ topK similarityThreshold rerank }} }} }} }}'

    await update(container, workspaceId=made, ragConfig={"topK": 3, "similarityThreshold": 0.5, "rerank": 4})
    await update(container, workspaceId=made, ragConfig={"topK": 6, "similarityThreshold": 0.5})
    shown = (await query(container, look))["data"]["workspace"]["settings"]["ragConfig"]
    refused = await update(container, workspaceId=made, ragConfig={"topK": 6, "rerank": 5})
    await update(container, workspaceId=made, ragConfig=None)
    taken = (await query(container, look))["data"]["workspace"]["settings"]["ragConfig"]

    assert shown == {"topK": 6, "similarityThreshold": 0.5, "rerank": 4}
    assert refused["userErrors"][0]["path"] == ["input", "ragConfig", "rerank"]
    assert taken == {"topK": 5, "similarityThreshold": 0.75, "rerank": 0}


async def test_settings_show_what_is_in_force_whoever_decided_it(container: Container) -> None:
    made = [(await query(container, MAKE % (kind, kind)))["data"]["createWorkspace"]["workspace"] for kind in KINDS]

    in_force = [(one["settings"]["chunkProfile"], tuple(one["settings"]["ragConfig"].values())) for one in made]

    assert in_force == [("default", (8, 0.0)), ("default", (5, 0.75)), ("agent", (5, 0.7))]


async def test_guidelines_are_shown_to_those_who_manage_them(container: Container) -> None:
    made = await a_project(container)
    await update(container, workspaceId=made, inlineGuidelines="Be kind.")
    look = f'{{ workspace(id: "{made}") {{ {SETTINGS} }} workspaces {{ {SETTINGS} }} }}'

    shown = {
        token: str((await query(container, look, token=token))["data"]) for token in TOKENS if token != "other-token"
    }

    assert {token for token, text in shown.items() if "Be kind." in text} == {"admin-token"}


@pytest.mark.parametrize(
    ("given", "code", "path"),
    [
        ({"embeddingDimensions": 4001}, "INVALID_INPUT", ["input", "embeddingDimensions"]),
        ({"historyDays": -1}, "INVALID_INPUT", ["input", "historyDays"]),
        ({"jobsDays": 6}, "INVALID_INPUT", ["input", "jobsDays"]),
        ({"ragConfig": {"topK": 0}}, "INVALID_INPUT", ["input", "ragConfig", "topK"]),
        ({"inlineGuidelines": "a\0b"}, "VALUE_NOT_STORABLE", ["input", "inlineGuidelines"]),
        ({"chunkProfile": "huge"}, "INVALID_INPUT", ["input"]),
    ],
)
async def test_a_setting_out_of_range_is_refused_by_name(
    container: Container, given: dict[str, Any], code: str, path: list[str]
) -> None:
    made = await a_project(container)

    refused = await update(container, workspaceId=made, **given)

    assert refused == {"workspace": None, "userErrors": [{"code": code, "path": path}]}


async def test_dimensions_are_fixed_when_a_workspace_is_made_and_changed_until_it_has_vectors(
    container: Container,
) -> None:
    make = """mutation { createWorkspace(input: {name: "wide", embeddingDimensions: 1536}) {
        workspace { id settings { embeddingDimensions } } } }"""
    made = (await query(container, make))["data"]["createWorkspace"]["workspace"]
    ref = WorkspaceRef(ORG, decode(made["id"], NodeKind.WORKSPACE).key)

    changed = await update(container, workspaceId=made["id"], embeddingDimensions=768)
    async with container.database.transaction(ORG) as transaction:
        await transaction.workspaces.register_space(ref, EmbeddingSpace("deterministic", "wide", 768))
    other = await update(container, workspaceId=made["id"], embeddingDimensions=1024)
    without = await update(container, workspaceId=made["id"], embeddingDimensions=None, historyDays=1)
    same = await update(container, workspaceId=made["id"], embeddingDimensions=768)

    assert made["settings"] == {"embeddingDimensions": 1536}
    assert changed["userErrors"] == without["userErrors"] == same["userErrors"] == []
    assert other["userErrors"] == [{"code": "INVALID_INPUT", "path": ["input", "embeddingDimensions"]}]


async def test_what_administrators_do_is_in_the_audit_log(container: Container) -> None:
    made = await a_project(container)
    await update(container, workspaceId=made, historyDays=1)
    await query(container, MAKE_KEY, {"input": {"name": "ci", "role": "VIEWER"}})
    await query(container, "mutation { setFeature(flag: RAG_GUIDELINES, on: true) { organisation { id } } }")

    from agentic_rag.kernel.pagination import PageRequest

    async with container.database.transaction(ORG) as transaction:
        page = await transaction.audit.page(PageRequest(10))
    assert [(entry.action, entry.actor) for entry in page.items] == [
        ("organisation.settings", "user:ada"),
        ("api_key.create", "user:ada"),
        ("workspace.settings", "user:ada"),
        ("workspace.create", "user:ada"),
    ]


async def test_the_first_operator_s_key_is_made_once_and_again_when_it_has_expired(container: Container) -> None:
    keys, soon = container.api_keys, datetime.now(UTC) + timedelta(hours=1)

    first = await keys.bootstrap(ORG, "bootstrap", soon, "system:cli")
    with pytest.raises(Forbidden) as refused:
        await keys.bootstrap(ORG, "again", soon, "system:cli")
    await keys.revoke(ORG, first.key.key_id, "system:cli")
    second = await keys.bootstrap(ORG, "again", soon, "system:cli")

    assert (first.key.role, first.key.expires_at) == (Role.OPERATOR, soon)
    assert refused.value.code == "OPERATOR_EXISTS"
    assert second.key.name == "again"


@pytest.mark.parametrize("subject", ["cli", "System", "user:ada", "key:ci", "group:night"])
async def test_a_key_cannot_take_a_name_of_the_product_or_one_with_a_kind(container: Container, subject: str) -> None:
    told = await query(container, MAKE_KEY, {"input": {"name": "ci", "role": "VIEWER", "subject": subject}})

    [fault] = told["data"]["createApiKey"]["userErrors"]
    assert fault["code"] == "SUBJECT_RESERVED", fault
