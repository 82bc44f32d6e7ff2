"""Subscriptions and kept conversations over a WebSocket, attacked on a real database: by callers of another
organisation, by members without a right, and by those who lost theirs while they listen.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.api.asgi_client import Socket

from agentic_rag.adapters.postgres.workspaces.organisation_register import PostgresOrganisationRegister
from agentic_rag.adapters.verified_principals import VerifiedPrincipals
from agentic_rag.answering.question import AnswerOptions, Question
from agentic_rag.bootstrap import Container
from agentic_rag.ingestion.live import follow_changes
from agentic_rag.ingestion.upload import UploadOptions
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.manage_api_keys import KeyWish, MadeKey
from agentic_rag.tenancy.principals import Principal, Role, SubjectKind, WorkspaceRef
from agentic_rag.workspaces.administer import NewWorkspace
from agentic_rag_server.app import build_app
from agentic_rag_server.graphql.http import streams
from agentic_rag_server.main import server_parts

pytestmark = [pytest.mark.integration, pytest.mark.network]

DOCUMENTS = "subscription ($id: ID!) { documentEvents(workspaceId: $id) { document { sourcePath } } }"
JOBS = "subscription ($id: ID!) { jobEvents(workspaceId: $id) { job { id } } }"
ANSWER = """
subscription ($id: ID!) {
  ragAnswerStream(input: {workspaceId: $id, question: "When does the valve open?"}) {
    answer { answer userErrors { code } }
  }
}
"""


@dataclass
class World:
    """The server, a workspace that admins and `key:ada` may enter, and the keys of all who try."""

    container: Container
    app: Any
    workspace: WorkspaceRef
    keys: dict[str, MadeKey]

    @property
    def variables(self) -> dict[str, str]:
        """The arguments of the subscriptions."""
        return {"id": encode_workspace(self.workspace.workspace_id)}

    async def upload(self, name: str, *readers: str) -> UUID:
        """A document that waits for a worker."""
        admin = Principal(self.workspace.org_id, "boss", Role.ADMIN, kind=SubjectKind.KEY)
        options = UploadOptions(readable_by=tuple(readers))
        return (await self.container.upload.run(self.workspace, name, _pieces(), options, admin)).document_id

    async def admit(self, *readers: str) -> None:
        """Let admins and these enter the workspace."""
        async with self.container.database.transaction(self.workspace.org_id) as transaction:
            await transaction.workspaces.set_access(self.workspace.workspace_id, readers, None)


async def _pieces() -> AsyncIterator[bytes]:
    yield b"# Valve\n\nIt opens at 3 bar."


@pytest.fixture
async def world(
    migrated_database: str, fresh_redis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    monkeypatch.setattr(follow_changes, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(streams, "TICK_SECONDS", 0.1)
    # A key that was verified is good for 30 s: here each look is a new one.
    monkeypatch.setattr(VerifiedPrincipals, "get", lambda *_: None)
    variables = {
        "DATABASE_URL": migrated_database,
        "REDIS_URL": fresh_redis,
        "RAG_EMBEDDER": "deterministic",
        "AGENTIC_RAG_ENABLED": "true",
        "AGENTIC_RAG_LOG_LEVEL": "error",
        "AGENTIC_RAG_QUEUE_NAME": f"attacks-{uuid4().hex}",
        "AGENTIC_RAG_HOME": str(tmp_path),
        "AGENTIC_RAG_BLOB_STORE": str(tmp_path / "blobs"),
    }
    container = Container(load_settings(variables, dotenv=tmp_path / "none"))
    ours, theirs = uuid4(), uuid4()
    for name, org_id in (("ours", ours), ("theirs", theirs)):
        await PostgresOrganisationRegister(migrated_database).create(org_id, name, None)
    wishes = {
        "boss": (ours, Role.ADMIN),
        "ada": (ours, Role.MEMBER),
        "olga": (ours, Role.MEMBER),
        "viewer": (ours, Role.VIEWER),
        "foreign": (theirs, Role.OPERATOR),
    }
    keys = {
        name: await container.api_keys.create(org_id, KeyWish(name, role), "test")
        for name, (org_id, role) in wishes.items()
    }
    made = await container.administer.create_workspace(ours, NewWorkspace("handbook"), "test")
    world = World(container, build_app(server_parts(container)), made.ref, keys)
    await world.admit("key:ada")
    yield world
    await container.aclose()


async def reply(world: World, name: str, query: str, variables: dict[str, str]) -> Any:
    """The payload of the first message of an operation, without what differs between any two requests."""
    async with Socket.open(world.app, world.keys[name].token) as socket:
        await socket.ready()
        await socket.subscribe("1", query, variables)
        heard = (await socket.hear()).get("payload")
    for one in heard if isinstance(heard, list) else heard.get("errors", ()):
        one["extensions"].pop("traceId", None)
    return heard


@pytest.mark.parametrize("query", [DOCUMENTS, JOBS, ANSWER])
@pytest.mark.parametrize("name", ["foreign", "olga", "viewer"])
async def test_a_workspace_that_one_may_not_enter_is_told_as_one_that_is_not_there(
    world: World, query: str, name: str
) -> None:
    await world.upload("valve.md")
    missing = {"id": encode_workspace(uuid4())}

    assert await reply(world, name, query, world.variables) == await reply(world, name, query, missing)


@pytest.mark.parametrize("name", ["foreign", "olga", "boss"])
async def test_a_conversation_of_another_subject_is_told_as_one_that_is_not_there(world: World, name: str) -> None:
    ada = Principal(world.workspace.org_id, "ada", Role.MEMBER, kind=SubjectKind.KEY)
    options = AnswerOptions(allow_web=False)
    asked = Question(world.workspace, "When does the valve open?", options=options, begins_thread=True)
    run = await world.container.answer.ask(ada, asked)
    text = "query ($id: ID!) { thread(id: $id) { title runs { nodes { id } } } }"
    hers, missing = (
        {"id": encode(NodeKind.THREAD, world.workspace.workspace_id, one)} for one in (run.run_id, uuid4())
    )

    assert await reply(world, name, text, hers) == await reply(world, name, text, missing)
    assert await reply(world, "ada", text, hers) != await reply(world, "ada", text, missing)


@pytest.mark.parametrize("name", ["foreign", "olga", "boss"])
async def test_saved_questions_of_another_subject_are_told_to_nobody_else(world: World, name: str) -> None:
    ada = Principal(world.workspace.org_id, "ada", Role.MEMBER, kind=SubjectKind.KEY)
    options = AnswerOptions(allow_web=False)
    run = await world.container.answer.ask(ada, Question(world.workspace, "Which valve opens?", options=options))
    await world.container.saved.save(ada, world.workspace, run.run_id)
    text = "query ($id: ID!) { savedQuestions(workspaceId: $id) { id question } }"

    assert "Which valve" in str(await reply(world, "ada", text, world.variables))
    assert "Which valve" not in str(await reply(world, name, text, world.variables))


async def listening(world: World, socket: Socket, query: str = DOCUMENTS) -> None:
    """Subscribe, and read up to the event that tells that all there was is told."""
    await socket.ready()
    await socket.subscribe("1", query, world.variables)
    while True:
        (event,) = (await socket.hear())["payload"]["data"].values()
        if None in event.values():
            return


@pytest.mark.parametrize("query", [DOCUMENTS, JOBS])
async def test_a_member_who_is_removed_hears_nothing_more_and_the_stream_ends(world: World, query: str) -> None:
    async with (
        Socket.open(world.app, world.keys["ada"].token) as ada,
        Socket.open(world.app, world.keys["boss"].token) as boss,
    ):
        await listening(world, ada, query)
        await listening(world, boss, query)
        await world.admit("key:olga")
        await world.upload("secret.md")

        assert (await boss.hear())["type"] == "next"
        ended = await ada.hear()

    assert (ended["type"], ended["id"]) == ("error", "1")
    assert ended["payload"][0]["extensions"]["code"] == "WORKSPACE_NOT_FOUND"


async def test_a_stream_of_a_workspace_that_is_deleted_ends_for_admins_too(world: World) -> None:
    async with Socket.open(world.app, world.keys["boss"].token) as boss:
        await listening(world, boss)
        await world.container.request_erasure.workspace(world.workspace, "handbook", "test")

        ended = await boss.hear()

    assert (ended["type"], ended["payload"][0]["extensions"]["code"]) == ("error", "WORKSPACE_NOT_FOUND")


@pytest.mark.parametrize("query", [DOCUMENTS, JOBS])
async def test_a_revoked_key_ends_what_it_listens_to_and_opens_nothing_more(world: World, query: str) -> None:
    async with Socket.open(world.app, world.keys["ada"].token) as socket:
        await listening(world, socket, query)
        await world.container.api_keys.revoke(world.workspace.org_id, world.keys["ada"].key.key_id, "test")

        ended = await socket.hear()
        await socket.subscribe("2", query, world.variables)
        again = await socket.hear()

    for one, name in ((ended, "1"), (again, "2")):
        assert (one["type"], one["id"]) == ("error", name)
        assert one["payload"][0]["extensions"]["code"] == "UNAUTHENTICATED"


async def test_what_is_hidden_while_a_reader_does_not_read_is_not_told_later(world: World) -> None:
    await world.admit("key:ada", "key:olga")
    await world.upload("first.md")
    boss = Principal(world.workspace.org_id, "boss", Role.ADMIN, kind=SubjectKind.KEY)
    async with (
        Socket.open(world.app, world.keys["ada"].token) as ada,
        Socket.open(world.app, world.keys["boss"].token) as admin,
    ):
        await listening(world, ada)
        await listening(world, admin)
        ada.reads.clear()
        for name in ("second.md", "third.md", "fourth.md"):
            await world.upload(name)
            await told_of(admin, name)
        async with world.container.database.transaction(world.workspace.org_id) as transaction:
            found = {
                one.source_path: one.document_id
                for one in (await transaction.documents.page(world.workspace, PageRequest(10))).items
            }
        await world.container.document_access.change(boss, world.workspace, found["fourth.md"], ("key:olga",))
        # The look that tells an admin of the second has ended the one that told of the first, and of what is hidden.
        for name in ("fifth.md", "sixth.md"):
            await world.upload(name, "key:olga")
            await told_of(admin, name)
        ada.reads.set()
        await world.upload("last.md")
        told = await told_of(ada, "last.md")

    assert {"second.md", "third.md"} <= told
    assert told.isdisjoint({"fourth.md", "fifth.md", "sixth.md"})


async def told_of(socket: Socket, name: str) -> set[str]:
    """The paths that a reader of documents is told until one has that name."""
    told: set[str] = set()
    while name not in told:
        told.add((await socket.hear())["payload"]["data"]["documentEvents"]["document"]["sourcePath"])
    return told
