"""Dead letters as operators meet them: GraphQL and the command line over the real data plane."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from tests.api.builders import TOKENS, Container, query
from tests.integration.jobs.data_plane import DataPlane
from typer.testing import CliRunner

from agentic_rag.jobs.job import JobKind, JobState, NewJob
from agentic_rag.kernel.errors import Permanent
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role
from agentic_rag_cli.main import app
from agentic_rag_cli.wiring import Wiring

pytestmark = [pytest.mark.integration, pytest.mark.network]

LETTERS = """query($ws: ID!, $codes: [String!]) { deadLetters(workspaceId: $ws, codes: $codes) { nodes {
  id kind kindName state attempts errorCode traceId arguments { name value } document { sourcePath status }
  attemptHistory { attempt worker outcome errorCode errorChain startedAt endedAt } } } }"""
REPLAY = """mutation($id: ID!) { replayDeadLetter(id: $id) {
  replayed outcome job { state attempts attemptHistory { attempt outcome } } userErrors { code } } }"""
PURGE = """mutation($id: ID!) { purgeDeadLetter(id: $id) {
  purged job { state arguments { name } attemptHistory { attempt } } userErrors { code } } }"""


class Identity:
    """Roles of the default organisation; foreign tokens as everywhere."""

    async def authenticate(self, token: str) -> Principal:
        return TOKENS[token] if token == "other-token" else Principal(DEFAULT_ORG_ID, token, Role(token))


def served(plane: DataPlane) -> Container:
    return Container(database=plane.database, dead_letters=plane.dead_letters, identity=Identity())  # type: ignore[arg-type]


async def asked(plane: DataPlane, text: str, role: str = "admin", **variables: Any) -> dict[str, Any]:
    return await query(served(plane), text, {"ws": encode_workspace(plane.workspace.workspace_id)} | variables, role)


async def dead_documents(plane: DataPlane, folder: Path) -> list[str]:
    """Two files that the provider refuses for different causes; the public ids of their dead letters."""
    (folder / "a.md").write_text("Water flows.")
    (folder / "b.md").write_text("Steam rises.")

    def refuse(texts: Sequence[str]) -> None:
        is_first = "Water" in texts[0]
        raise Permanent("The provider refuses.", code="PROVIDER_KEY_REJECTED" if is_first else "PROVIDER_REFUSED")

    plane.embedder.before = refuse
    await plane.ingest_folder(folder)
    return [encode(NodeKind.JOB, job.workspace.workspace_id, job.job_id) for job in await plane.jobs(JobKind.INGEST)]


async def test_a_dead_letter_tells_its_story_and_is_replayed_once(plane: DataPlane, folder: Path) -> None:
    ids = await dead_documents(plane, folder)
    nodes = (await asked(plane, LETTERS))["data"]["deadLetters"]["nodes"]
    letter = next(node for node in nodes if node["document"]["sourcePath"] == "a.md")

    assert {node["id"] for node in nodes} == set(ids)
    assert (letter["kind"], letter["state"], letter["document"]["status"]) == ("INGEST", "DEAD", "FAILED")
    assert [one["name"] for one in letter["arguments"]] == ["content"]
    [attempt] = letter["attemptHistory"]
    assert (attempt["outcome"], attempt["errorCode"]) == ("DEAD", letter["errorCode"])
    assert letter["errorCode"] in attempt["errorChain"][0]

    first = (await asked(plane, REPLAY, id=letter["id"]))["data"]["replayDeadLetter"]
    second = (await asked(plane, REPLAY, id=letter["id"]))["data"]["replayDeadLetter"]

    assert (first["replayed"], first["outcome"], first["job"]["state"]) == (True, "REPLAYED", "QUEUED")
    assert (second["replayed"], second["outcome"]) == (False, "NOT_DEAD")
    async with plane.worker():
        await plane.until_idle()
    (after,) = (await asked(plane, LETTERS, codes=[letter["errorCode"]]))["data"]["deadLetters"]["nodes"]
    assert (after["id"], after["attempts"]) == (letter["id"], 2)
    assert [one["outcome"] for one in after["attemptHistory"]] == ["DEAD", "DEAD"]


async def test_a_purged_letter_holds_nothing_and_left_an_audit_entry(plane: DataPlane, folder: Path) -> None:
    letter, *_ = await dead_documents(plane, folder)

    purged = (await asked(plane, PURGE, id=letter))["data"]["purgeDeadLetter"]
    again = (await asked(plane, PURGE, id=letter))["data"]["purgeDeadLetter"]

    assert purged == {
        "purged": True,
        "job": {"state": "PURGED", "arguments": [], "attemptHistory": []},
        "userErrors": [],
    }
    assert again["purged"] is False
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        [entry] = (await transaction.audit.page(PageRequest())).items
    assert (entry.action, entry.actor) == ("dead_letter.purge", "user:admin")


@pytest.mark.parametrize("role", ["viewer", "member"])
async def test_weak_roles_neither_see_nor_touch_dead_letters(plane: DataPlane, folder: Path, role: str) -> None:
    letter, *_ = await dead_documents(plane, folder)
    document = "query($id: ID!) { job(id: $id) { errorCode arguments { name } attemptHistory { errorChain } } }"

    for text in (LETTERS, REPLAY, PURGE):
        variables = {} if text is LETTERS else {"id": letter}
        body = await asked(plane, text, role, **variables)
        assert body["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    seen = (await query(served(plane), document, {"id": letter}, role))["data"]["job"]

    assert seen["arguments"] is None
    assert seen["attemptHistory"] == [{"errorChain": []}]


async def test_another_organisation_cannot_find_the_letter(plane: DataPlane, folder: Path) -> None:
    letter, *_ = await dead_documents(plane, folder)

    for text, field in ((REPLAY, "replayDeadLetter"), (PURGE, "purgeDeadLetter")):
        body = await query(served(plane), text, {"id": letter}, "other-token")
        assert body["data"][field]["userErrors"] == [{"code": "JOB_NOT_FOUND"}]


async def test_kinds_of_another_version_are_shown_by_name(plane: DataPlane) -> None:
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        await transaction.jobs.enqueue(
            NewJob(plane.workspace, JobKind.COMPACT, "a", {"api_key": "sk-secret", "n": "1"})
        )
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        await connection.execute("UPDATE rag_jobs SET kind = 'future'")
    async with plane.worker():
        await plane.until_idle()

    (node,) = (await asked(plane, LETTERS))["data"]["deadLetters"]["nodes"]

    assert (node["kind"], node["kindName"], node["errorCode"]) == ("UNKNOWN", "future", "JOB_KIND_UNKNOWN")
    assert node["arguments"] == [{"name": "api_key", "value": "***"}, {"name": "n", "value": "1"}]


async def rag(plane: DataPlane, *arguments: str) -> Result:
    environ = {"DATABASE_URL": plane.database_url, "REDIS_URL": plane.redis_url}
    wiring = Wiring(settings=lambda: load_settings(environ, dotenv=Path("no such file")))
    return await asyncio.to_thread(CliRunner().invoke, app, list(arguments), obj=wiring)


async def test_the_command_line_lists_replays_and_purges(plane: DataPlane, folder: Path) -> None:
    ids = await dead_documents(plane, folder)
    workspace = ("--workspace", str(plane.workspace.workspace_id))

    listed = await rag(plane, "dlq", "list", "--json", *workspace)
    shown = await rag(plane, "dlq", "show", ids[0], *workspace)
    replayed = await rag(plane, "dlq", "replay", "--all", "--kind", "ingest", *workspace)
    async with plane.worker():
        await plane.until_idle()
    purged = await rag(plane, "dlq", "purge", "--all", "--json", *workspace)
    audit = await rag(plane, "audit", "list", "--json", *workspace)
    payloads = await rag(plane, "dlq", "list", "--payloads", "--json")

    assert {row["id"] for row in json.loads(listed.stdout)} == set(ids)
    assert "attempt 1 by" in shown.stdout
    assert replayed.stdout == "2 REPLAYED\n"
    assert [row["outcome"] for row in json.loads(purged.stdout)] == ["PURGED", "PURGED"]
    actions = [row["action"] for row in json.loads(audit.stdout)]
    assert actions == ["dead_letter.purge"] * 2 + ["dead_letter.replay"] * 2
    assert json.loads(payloads.stdout) == []
    assert {job.state for job in await plane.jobs(JobKind.INGEST)} == {JobState.PURGED}


async def test_a_deletion_leaves_an_audit_entry_in_its_own_transaction(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    document = await plane.document("a.md")
    assert document is not None

    await plane.delete.run(plane.workspace, document.document_id, "ada")
    await plane.delete.run(plane.workspace, document.document_id, "ada")

    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        [entry] = (await transaction.audit.page(PageRequest())).items
    assert (entry.action, entry.actor, entry.subject) == ("document.delete", "ada", str(document.document_id))
    assert entry.detail["chunks"] == 1
