"""The audit log answers an auditor: who, with what, from where, with which rights, and what was before and after."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

import pytest

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.jobs.message import StoredUndecodableMessage, UndecodableMessage
from agentic_rag.operations.dead_letters import DeadLetters
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, KeyScope, Principal, Role, SubjectKind
from tests.api.builders import ORG, OTHER_ORG, TOKENS, Container, FakeIdentity, query
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry
from tests.memory_store.workspaces.organisations import MemoryOrganisations

ROBOT = Principal(
    ORG,
    "robot",
    Role.ADMIN,
    groups=("build", "night"),
    scopes=frozenset({KeyScope.ADMIN, KeyScope.READ}),
    kind=SubjectKind.KEY,
    credential="api_key:00000000-0000-4000-8000-000000000007",
)
CREATE = 'mutation { createWorkspace(input: {name: "pumps"}) { workspace { id } } }'
UPDATE = """mutation($id: ID!, $days: Int) {
  updateWorkspaceSettings(input: {workspaceId: $id, historyDays: $days}) { userErrors { code } }
}"""
FORGET = "mutation($id: ID!) { purgeUndecodableMessage(id: $id) { purged userErrors { code } } }"
ENTRIES = """query($first: Int, $after: String, $workspaceId: ID, $actor: String, $action: String, $since: DateTime,
                    $until: DateTime) {
  auditLog(first: $first, after: $after, workspaceId: $workspaceId, actor: $actor, action: $action, since: $since,
           until: $until) {
    nodes { action actor workspaceId createdAt detail { name value }
            caller { credential address role groups scopes } }
    pageInfo { hasNextPage endCursor }
  }
}"""


@pytest.fixture
async def container() -> Container:
    store = MemoryStore(SystemClock())
    for org_id, name in ((ORG, "ours"), (OTHER_ORG, "theirs")):
        await MemoryOrganisations(store).ensure_organisation(org_id, name)
    return Container(database=MemoryDatabase(store), identity=FakeIdentity(TOKENS | {"robot-key": ROBOT}))


async def entries(container: Container, token: str = "admin-token", **wanted: Any) -> list[dict[str, Any]]:
    body = await query(container, ENTRIES, wanted, token=token)
    return body["data"]["auditLog"]["nodes"]


async def changed(container: Container) -> str:
    """A workspace that ada made and that the robot changed."""
    made = (await query(container, CREATE))["data"]["createWorkspace"]["workspace"]["id"]
    await query(container, UPDATE, {"id": made, "days": 5}, token="robot-key")
    await query(container, UPDATE, {"id": made, "days": 9}, token="robot-key")
    return made


async def test_an_entry_says_with_what_from_where_and_with_which_rights(container: Container) -> None:
    made = await changed(container)

    newest = (await entries(container))[0]

    assert (newest["action"], newest["actor"], newest["workspaceId"]) == ("workspace.settings", "key:robot", made)
    assert newest["caller"] == {
        "credential": "api_key:00000000-0000-4000-8000-000000000007",
        "address": "127.0.0.1",
        "role": "admin",
        "groups": ["build", "night"],
        "scopes": ["admin", "read"],
    }


async def test_an_entry_says_what_was_before_and_after(container: Container) -> None:
    await changed(container)

    detail = {one["name"]: one["value"] for one in (await entries(container))[0]["detail"]}

    assert detail == {"before": '{"history_days": 5}', "after": '{"history_days": 9}'}


async def test_entries_are_found_by_actor_act_workspace_and_time(container: Container) -> None:
    made = await changed(container)
    every = await entries(container)
    oldest = every[-1]["createdAt"]

    assert [one["action"] for one in every] == ["workspace.settings", "workspace.settings", "workspace.create"]
    assert [one["actor"] for one in await entries(container, actor="user:ada")] == ["user:ada"]
    assert len(await entries(container, action="workspace")) == 3
    assert len(await entries(container, action="workspace.settings")) == 2
    assert await entries(container, action="work") == []
    assert len(await entries(container, workspaceId=made)) == 3
    assert await entries(container, until=oldest) == []
    assert len(await entries(container, since=oldest)) == 3


async def test_entries_come_in_pages(container: Container) -> None:
    await changed(container)
    seen: list[str] = []
    after: str | None = None
    for _ in range(3):
        page = (await query(container, ENTRIES, {"first": 1, "after": after}))["data"]["auditLog"]
        seen += [one["action"] for one in page["nodes"]]
        after = page["pageInfo"]["endCursor"]

    assert (len(seen), page["pageInfo"]["hasNextPage"]) == (3, False)


async def test_the_log_is_for_admins_of_the_organisation(container: Container) -> None:
    await changed(container)

    refused = await query(container, ENTRIES, {}, token="member-token")

    assert refused["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert await entries(container, token="other-token") == []


class Messages:
    """`jobs.ports.DeadPayloads` with one message, as far as forgetting it goes."""

    def __init__(self, message: UndecodableMessage) -> None:
        now = SystemClock().now()
        self._held = {message.payload_id: StoredUndecodableMessage(message, 1, now, now)}

    async def get(self, payload_id: UUID) -> StoredUndecodableMessage | None:
        return self._held.get(payload_id)

    async def purge(self, payload_id: UUID) -> bool:
        return self._held.pop(payload_id, None) is not None

    async def aclose(self) -> None:
        """Nothing is open."""


async def test_a_forgotten_message_of_the_queue_is_told_once_among_the_operators_of_the_platform() -> None:
    store = MemoryStore(SystemClock())
    await MemoryOrganisations(store).ensure_organisation(DEFAULT_ORG_ID, "platform")
    database, message = MemoryDatabase(store), UndecodableMessage("rag", b"entry", b"secret", "BAD", "no JSON")
    messages, operator = Messages(message), Principal(DEFAULT_ORG_ID, "olga", Role.OPERATOR)
    container = Container(
        database=database,
        dead_letters=DeadLetters(database, RecordingTelemetry()),
        dead_payloads=lambda: messages,
        identity=FakeIdentity({"platform-token": operator}),
    )
    forget = partial(query, container, FORGET, {"id": str(message.payload_id)}, token="platform-token")

    purged = [(await forget())["data"]["purgeUndecodableMessage"]["purged"] for _ in range(2)]
    found = await entries(container, "platform-token")

    assert purged == [True, False]
    assert [(one["action"], one["actor"]) for one in found] == [("undecodable_message.purge", "user:olga")]
    assert {one["name"]: one["value"] for one in found[0]["detail"]} == {"queue": "rag", "code": "BAD"}
