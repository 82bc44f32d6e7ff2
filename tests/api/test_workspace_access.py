"""A workspace with named readers and writers, over GraphQL and REST."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.tenancy.audit import AuditFilter
from tests.api.builders import REF, WORKSPACE_ID, client, query
from tests.api.test_document_access import ADA, DANA, ERASE, NINA, QUESTION, Works, opened_works, rota
from tests.api.test_mcp import called, connected

SHARE = """mutation ($ws: ID!, $readers: [String!], $writers: [String!]) {
  setWorkspaceAccess(workspaceId: $ws, readers: $readers, writers: $writers) {
    workspace { readers writers } userErrors { code message path } } }"""
LOOK = "query ($ws: ID!) { workspace(id: $ws) { name readers } workspaces { name } }"
LIST = "query ($ws: ID!) { documents(workspaceId: $ws) { nodes { id } } }"
NOWHERE = encode_workspace(REF.org_id)


@pytest.fixture
async def works() -> AsyncIterator[Works]:
    async with opened_works() as product:
        yield product


async def share(works: Works, token: str = ADA, **lists: list[str] | None) -> dict[str, Any]:
    return await query(works, SHARE, {"ws": WORKSPACE_ID, **lists}, token)


async def upload(works: Works, token: str, name: str = "new.md") -> tuple[int, str | None]:
    async with client(works, token) as http:
        files = {"file": (name, b"# Valve", "text/markdown")}
        reply = await http.post(f"/v1/workspaces/{WORKSPACE_ID}/documents", files=files)
    return reply.status_code, reply.json().get("error", {}).get("code")


async def test_whoever_may_not_enter_is_told_what_is_told_of_a_workspace_that_never_was(works: Works) -> None:
    before = await works.ask(DANA)

    shared = await share(works, readers=["user:nina"])
    inside = await query(works, LOOK, {"ws": WORKSPACE_ID}, NINA)
    outside = await query(works, LOOK, {"ws": WORKSPACE_ID}, DANA)
    nowhere = await query(works, LOOK, {"ws": NOWHERE}, DANA)

    assert before["citations"]
    assert shared["data"]["setWorkspaceAccess"]["workspace"] == {"readers": ["user:nina"], "writers": None}
    assert inside["data"] == {"workspace": {"name": "handbook", "readers": None}, "workspaces": [{"name": "handbook"}]}
    assert outside["data"] == nowhere["data"] == {"workspace": None, "workspaces": []}
    listed = [(await query(works, LIST, {"ws": one}, DANA))["errors"] for one in (WORKSPACE_ID, NOWHERE)]
    assert [[one["extensions"]["code"] for one in faults] for faults in listed] == [["WORKSPACE_NOT_FOUND"]] * 2
    async with client(works, DANA) as http:
        replies = [
            await http.post("/v1/search", json={"query": "Where?", "workspaceId": one})
            for one in (WORKSPACE_ID, NOWHERE)
        ]
    assert [reply.status_code for reply in replies] == [404, 404]


async def test_an_answer_that_others_were_given_is_none_for_whoever_may_not_enter(works: Works) -> None:
    await works.ask(DANA)
    await share(works, readers=["user:nina"])
    assert (await works.ask(NINA))["citations"]

    refused = await query(works, ASK, {"ws": WORKSPACE_ID}, DANA)
    unknown = await query(works, ASK, {"ws": NOWHERE}, DANA)

    assert refused["data"] == unknown["data"]
    assert refused["data"]["ragAnswer"]["userErrors"][0]["code"] == "WORKSPACE_NOT_FOUND"


async def test_readers_who_are_no_writers_change_no_document_and_owners_lose_that_right_too(works: Works) -> None:
    await share(works, writers=["user:dana"])

    refused, taken = await upload(works, NINA), await upload(works, DANA)
    erased = await query(works, ERASE, {"id": rota()}, NINA)

    assert refused == (403, "FORBIDDEN")
    assert taken[0] < 300
    assert erased["errors"][0]["message"] == "Documents of this workspace are changed by its writers and by admins."
    assert (await query(works, LOOK, {"ws": WORKSPACE_ID}, NINA))["data"]["workspace"] is not None


async def test_the_owner_of_a_document_reaches_it_no_more_once_outside(works: Works) -> None:
    await share(works, readers=["user:dana"])

    look = await query(works, "query ($id: ID!) { document(id: $id) { title } }", {"id": rota()}, NINA)
    erased = await query(works, ERASE, {"id": rota()}, NINA)

    assert look["data"] == {"document": None}
    assert [one["code"] for one in erased["data"]["deleteDocument"]["userErrors"]] == ["DOCUMENT_NOT_FOUND"]


async def test_members_change_no_rights_and_wrong_names_are_told(works: Works) -> None:
    refused = await share(works, NINA, readers=["user:nina"])
    wrong = await share(works, readers=["nina"])

    assert refused["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert wrong["data"]["setWorkspaceAccess"]["userErrors"] == [
        {
            "code": "INVALID_INPUT",
            "message": "Write `user:NAME`, `key:NAME`, `group:NAME` or `everyone`.",
            "path": ["readers"],
        }
    ]


async def test_a_change_of_rights_is_in_the_audit_log(works: Works) -> None:
    await share(works, readers=["group:night"], writers=[])

    async with works.database.transaction(REF.org_id) as transaction:
        log = await transaction.audit.page(PageRequest(), AuditFilter(action="workspace.access"))
    assert [(one.actor, one.detail["before"], one.detail["after"]) for one in log.items] == [
        ("user:ada", "readers: all; writers: all", "readers: group:night; writers: none")
    ]


ASK = """query ($ws: ID!) {
  ragAnswer(input: {workspaceId: $ws, question: "What is the third step of the night shift?"}) {
    answer userErrors { code } } }"""


async def test_a_tool_finds_no_workspace_that_its_caller_may_not_enter(works: Works) -> None:
    await share(works, readers=["user:nina"])
    asked = {"question": QUESTION, "workspace": "handbook"}

    async with connected(works, token=DANA) as outside, connected(works, token=NINA) as inside:
        hidden = await outside.call_tool("rag_answer", asked)
        never = await outside.call_tool("rag_answer", {**asked, "workspace": "nowhere"})
        told = await called(inside, "rag_answer", **asked)

    faults = [json.loads(one.content[0].text)["error"] for one in (hidden, never)]  # type: ignore[union-attr]
    assert [one["code"] for one in faults] == ["WORKSPACE_NOT_FOUND"] * 2
    assert faults[0]["message"] == faults[1]["message"]
    assert told["citations"]
