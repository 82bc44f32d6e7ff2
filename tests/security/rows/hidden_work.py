"""The row on hidden work: what a member is told before and after others work on documents that are hidden from him."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re
import zipfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

from graphql import GraphQLSchema

from agentic_rag.answering.question import Question
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.documents.metadata import MetadataChange
from agentic_rag.ingestion.ingest_chunks import PlainTextDocument
from agentic_rag.ingestion.upload import UploadOptions
from agentic_rag.jobs.job import JobKind, NewJob
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag.tenancy.manage_api_keys import KeyWish
from agentic_rag.tenancy.principals import Principal, Role, SubjectKind, WorkspaceRef
from agentic_rag.workspaces.administer import NewWorkspace
from agentic_rag_server.graphql.schema import build_schema
from tests.bench.reports import Row, exactly
from tests.contract.backends import Watched
from tests.security.ground import Ground
from tests.security.operation_requests import FIELDS, ROUTES, TOOLS, Request
from tests.security.rights_matrix import declared_by
from tests.security.rights_world import RightsWorld, quoted
from tests.security.rows.foreign_ids import selection
from tests.security.table import Measure
from tests.security.tenants import TwoTenants, two_tenants

LEAST = 40
"""Fewer operations than these, and the schema was not walked."""
OWN_ASKING = "Query.runs"
"""What grows by the member's own questions: a key is asked that asks nothing else."""
READING_POSTS = {"createChatCompletion", "createResponse", "searchVectorStore", "searchPassages", "prepareContext"}
"""Routes that change nothing."""
VOLATILE = frozenset({"traceId", "trace_id", "run", "runId", "timings", "startedMs", "tookMs", "seconds", "stages"}) | {
    "checkedAt", "madeAt", "seal", "signature",
}  # fmt: skip
_PACKED = "UEs"
"""How the Base64 of an archive begins."""
"""What differs between any two replies."""
TOLD_BY_TIME = frozenset({"cache"})
"""Whether an answer came from the cache, as its time tells too (docs/limits.md)."""
TOLD_ELSEWHERE = frozenset({"date", "content-length", "x-trace-id"})
"""Headers that hold a time, what the body holds, and the trace id."""
MADE_ANEW = re.compile(r"""(?:resp|chatcmpl|msg|fs)_?-?[\w=-]{16,}|(?<="rag": \{"id": ")[\w=-]{16,}""")
MOMENT = re.compile(r'"(?:created|created_at|createdAt|completed_at)": ?(?:\d+|"[^"]*")')
MEMBER, BOSS = "member", "boss"


@dataclass(frozen=True)
class Member:
    """A member of our organisation who reads `pump.txt`, and whose boss works on what he does not read."""

    world: TwoTenants
    rights: RightsWorld
    token: str
    witness: str
    """The token of another member, who asked one question before."""

    @property
    def workspace(self) -> WorkspaceRef:
        """Where both work."""
        return self.rights.project

    async def replies(self) -> dict[str, str]:
        """Every reading operation of the product, with what the member is told."""
        told = {name: await self.field(name, FIELDS[name]) for name in reading_fields()}
        told[OWN_ASKING] = await self.field(OWN_ASKING, FIELDS[OWN_ASKING], self.witness)
        declared = declared_by(self.rights)
        for name, request in ROUTES.items():
            method = declared.routes[name].method
            if self._can(request) and (method == "GET" or name in READING_POSTS):
                told[name] = await self.send(method, request.text % self.rights.ids, request.body(self.rights.ids))
        for name, request in TOOLS.items():
            if self._can(request):
                told[name] = await self.tool(name, request)
        return told

    def _can(self, request: Request) -> bool:
        return request.needs <= self.rights.ids.keys()

    async def field(self, name: str, request: Request, token: str = "") -> str:
        """What a query says with all of its fields."""
        if not self._can(request):
            return ""
        for depth in (3, 2):
            query = f"{{ {whole(request.text % quoted(self.rights.ids), name.partition('.')[2], depth)} }}"
            reply = await self.send("POST", "/graphql", {"json": {"query": query}}, token)
            if "QUERY_TOO" not in reply and "LIMIT" not in reply:
                break
        return reply

    async def tool(self, name: str, request: Request) -> str:
        """What a tool, or a request for resources, says."""
        is_tool, given = "/" not in name, request.body(self.rights.ids)
        method = "tools/call" if is_tool else name
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": name, "arguments": given} if is_tool else given
        sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        headers = {
            "accept": "application/json, text/event-stream",
            "host": "127.0.0.1",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": method,
            **({"mcp-name": name if is_tool else given["uri"]} if "list" not in method else {}),
        }
        return await self.send("POST", request.text, {"json": sent, "headers": headers})

    async def send(self, method: str, path: str, more: Mapping[str, Any], token: str = "") -> str:
        """A reply without what differs between any two."""
        headers = {"authorization": f"Bearer {token or self.token}", **more.get("headers", {})}
        response = await self.world.http.request(method, path, **{**more, "headers": headers})
        tags = {name: value for name, value in response.headers.items() if name not in TOLD_ELSEWHERE}
        try:
            body = json.dumps(_comparable(response.json()), sort_keys=True)
        except json.JSONDecodeError:
            body = response.text
        return MOMENT.sub("A-MOMENT", MADE_ANEW.sub("AN-ID", f"{response.status_code} {tags} {body}"))

    async def body(self, method: str, path: str, more: Mapping[str, Any]) -> Any:
        """A reply's body as it is."""
        headers = {"authorization": f"Bearer {self.token}"}
        return (await self.world.http.request(method, path, headers=headers, **more)).json()

    async def version(self) -> int:
        """The corpus version that the member is shown."""
        query = {"query": f"{{ it: workspace(id: {json.dumps(self.rights.ids['workspace'])}) {{ corpusVersion }} }}"}
        headers = {"authorization": f"Bearer {self.token}"}
        body = (await self.world.http.post("/graphql", json=query, headers=headers)).json()
        return int(body["data"]["it"]["corpusVersion"])

    async def passages(self, as_of: int | None) -> str:
        """What a search finds at a version that the member was shown."""
        given = {"query": "pump water valve secret", "workspaceId": self.rights.ids["workspace"]}
        given |= {} if as_of is None else {"asOf": as_of}
        return await self.send("POST", "/v1/search", {"json": given})


def reading_fields() -> Iterator[str]:
    """The queries that change nothing, each once."""
    return (name for name in FIELDS if name.startswith("Query.") and name != OWN_ASKING)


def whole(asked: str, name: str, depth: int) -> str:
    """A field as it is asked elsewhere, with every leaf of its type instead of the few that are asked there."""
    root = _schema().query_type
    assert root is not None
    end, level = len(name), asked[len(name) : len(name) + 1] == "("
    while level:
        end += 1
        level += (asked[end] == "(") - (asked[end] == ")")
        if not level:
            end += 1
    return f"it: {asked[:end]} {selection(root.fields[name].type, depth)}"


@cache
def _schema() -> GraphQLSchema:
    return build_schema()._schema


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _comparable(one) for name, one in value.items() if name not in VOLATILE | TOLD_BY_TIME}
    if isinstance(value, list):
        return [_comparable(one) for one in value]
    if isinstance(value, str) and value.startswith(_PACKED):
        with zipfile.ZipFile(io.BytesIO(base64.b64decode(value))) as archive:
            return _comparable(json.loads(archive.read("proof.json")))
    return _comparable(json.loads(value)) if isinstance(value, str) and value.startswith('{"') else value


async def make_member(world: TwoTenants) -> Member:
    """The member, with a run and a saved question of his own, and the witness with them."""
    ids = {kind.name.lower(): public_id for kind, public_id in world.ours.ids.items()}
    workspace = WorkspaceRef(world.ours.org_id, decode(ids["workspace"]).workspace_id)
    tokens: list[str] = []
    for name in ("witness", MEMBER):
        made = await world.container.api_keys.create(world.ours.org_id, KeyWish(name, Role.MEMBER), "test")
        tokens.append(made.token)
        asking = Principal(world.ours.org_id, name, Role.MEMBER, kind=SubjectKind.KEY)
        run = await world.container.answer.ask(asking, Question(workspace, "How much water does the pump lift?"))
        while await world.container.runs.get(workspace, run.run_id) is None:  # noqa: ASYNC110 - it is stored behind the answer
            await asyncio.sleep(0.02)
        ids["run"] = encode(NodeKind.RUN, workspace.workspace_id, run.run_id)
        saved = await world.container.saved.save(asking, workspace, run.run_id)
        ids["saved"] = encode(NodeKind.SAVED, workspace.workspace_id, saved.saved_id)
    witness, token = tokens
    return Member(world, RightsWorld(world.container, world.http, workspace, workspace, ids), token, witness)


class HiddenWork:
    """Everything that the boss does to documents that he alone reads, and to a workspace that he alone enters."""

    def __init__(self, member: Member) -> None:
        self._container = member.world.container
        self._boss = Principal(member.workspace.org_id, BOSS, Role.ADMIN)
        self._workspace = member.workspace

    async def all(self) -> None:
        """Upload, publish, publish again, describe, share, ask, and erase; then the same in a closed workspace."""
        await self.documents(self._workspace)
        org_id = self._workspace.org_id
        closed = await self._container.administer.create_workspace(org_id, NewWorkspace("closed"), "test")
        await self._container.administer.set_workspace_access(closed.ref, (), None, "test")
        await self.documents(closed.ref)

    async def documents(self, workspace: WorkspaceRef) -> None:
        """Everything that is done in one workspace."""
        container = self._container
        for path in ("secret.txt", "secret-2.txt"):
            options = UploadOptions(readable_by=(self._boss.subject_id,))
            await container.upload.run(workspace, path, pieces(b"The secret valve."), options, self._boss)
            await self.publish(workspace, path, "The pump Falcon Rotary lifts nine cubic metres. It is secret.")
        await self.publish(workspace, "secret.txt", "The pump lifts eight cubic metres of water. It is the second.")
        async with container.database.transaction(workspace.org_id) as transaction:
            ids = await resolve_ids(transaction.documents, workspace, ["secret.txt", "secret-2.txt"])
            await transaction.documents.describe(workspace, list(ids.values()), MetadataChange(tags=("secret",)))
        named = (self._boss.subject_id, "group:board")
        await container.document_access.change(self._boss, workspace, ids["secret-2.txt"], named)
        await container.answer.ask(self._boss, Question(workspace, "How much does the pump lift?"))
        await container.delete.run(workspace, ids["secret.txt"], "test")

    async def replay_saved(self) -> None:
        """Ask saved questions again, as a worker does after publishes."""
        workspace, container = self._workspace, self._container
        async with container.database.transaction(workspace.org_id) as transaction:
            ref, _ = await transaction.jobs.enqueue(NewJob(workspace, JobKind.SAVED, "saved", {}))
            lease = await transaction.jobs.lease(ref, "test", timedelta(minutes=5))
        assert lease is not None
        await container.replay_saved.run(lease, Watched())
        async with container.database.transaction(workspace.org_id) as transaction:
            assert await transaction.jobs.finish(ref, lease.fence)

    async def publish(self, workspace: WorkspaceRef, path: str, text: str) -> None:
        """Publish a text for the readers of the document at the path."""
        cut = await self._container.ingest_chunks.cut(PlainTextDocument(path, path, text), "default")
        await self._container.ingest_chunks.run(workspace, [cut], "test", lambda _: None)


async def pieces(content: bytes) -> AsyncIterator[bytes]:
    """The content of an upload."""
    yield content


async def hidden_work(ground: Ground, short: bool) -> list[Row]:
    """Every reading operation three times: twice with nothing between, then after hidden work. Then a change that the
    member reads: his version grows by one, and an earlier one still reads what it read.
    """
    async with two_tenants(ground) as world:
        member = await make_member(world)
        work = HiddenWork(member)
        before, again = await member.replies(), await member.replies()
        version, found = await member.version(), await member.passages(None)
        await work.all()
        await work.replay_saved()
        after = await member.replies()
        await work.publish(member.workspace, "notes.txt", "The valve is painted red. It stands in the yard.")
        await work.replay_saved()
        seen = await member.field("Query.savedQuestions", FIELDS["Query.savedQuestions"])
        grown, found_then = await member.version() - version, await member.passages(version)
    unsteady = [name for name in before if before[name] != again[name]]
    moved = [name for name in before if name not in unsteady and again[name] != after[name]]
    for fault, names, two in (("differs by itself", unsteady, again), ("tells of hidden work", moved, after)):
        for name in names:
            print(f"  {fault}: {name}\n    {before[name][:1500]}\n    {two[name][:1500]}")
    served = sum(reply.startswith("200") and '"errors"' not in reply for reply in before.values())
    return [
        exactly("reading operations whose replies differ by themselves", len(unsteady), 0),
        exactly("reading operations whose replies tell a member of hidden work", len(moved), 0),
        exactly("versions that a member is shown for hidden work and one change that he reads", grown, 1),
        exactly("saved questions that are asked again for a change that their member reads", seen.count("SAME"), 1),
        exactly("replies at an earlier version that hidden work changed", int(found != found_then), 0),
        Row("reading operations that the member is served", str(served), f"≥ {LEAST}", served >= LEAST),
    ]


ROWS: Mapping[str, Measure] = {"hidden-work": hidden_work}
