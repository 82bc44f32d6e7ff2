"""Rows on the audit log: every mutation of the schema and every write by REST, found by walking both, leaves a line."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import asyncpg
import httpx2

from agentic_rag.embedded.loopback import free_port
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag.tenancy.manage_api_keys import KeyWish
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Role, WorkspaceRef
from agentic_rag_server.graphql.schema import build_schema
from agentic_rag_server.main import server_parts
from agentic_rag_server.rest.api import operations
from tests.bench.reports import ROOT, Row, exactly
from tests.security.ground import Ground
from tests.security.operation_requests import Request
from tests.security.table import Measure
from tests.security.tenants import TwoTenants, taken_snapshot, two_tenants

FAULTS = "userErrors { code message }"
FILE = ("a.md", b"# A\n\nText.", "text/markdown")
LISTED = {"path": "pushed.md", "sha256": hashlib.sha256(FILE[1]).hexdigest(), "size": len(FILE[1])}
LISTING = ("listing.jsonl", json.dumps(LISTED).encode(), "application/jsonl")
KILL = "UPDATE rag_jobs SET state = 'DEAD', error_code = 'PARSE_CORRUPT' WHERE org_id = $1 AND job_id = $2"

END_SYNC = "UPDATE rag_jobs SET state = 'DONE' WHERE org_id = $1 AND kind = 'sync'"

MUTATIONS: Mapping[str, str] = {
    "createWorkspace": '(input: {name: "second"}) { workspace { id } %s }',
    "updateWorkspaceSettings": "(input: {workspaceId: %(workspace)s, historyDays: 5}) { %s }",
    "saveContextTemplate": '(input: {workspaceId: %(workspace)s, name: "own", heading: "## Own"}) { %s }',
    "deleteContextTemplate": '(workspaceId: %(workspace)s, name: "own") { %s }',
    "setWorkspaceAccess": '(workspaceId: %(workspace)s, readers: ["group:night"]) { %s }',
    "renameWorkspace": '(workspaceId: %(createWorkspace)s, name: "third") { %s }',
    "addSource": '(input: {workspaceId: %(workspace)s, name: "site", kind: SITEMAP, everySeconds: 0, '
    'location: "https://docs.example.com/sitemap.xml"}) { source { id } %s }',
    "syncSource": "(id: %(addSource)s) { %s }",
    "removeSource": "(id: %(addSource)s) { %s }",
    "pushFile": '(input: {workspaceId: %(workspace)s, source: "directory:/srv"}, path: "pushed.md", file: $file) '
    "{ %s }",
    "pushListing": '(input: {workspaceId: %(workspace)s, source: "directory:/srv"}, file: $file) { %s }',
    "updateDocument": '(id: %(document)s, metadata: {tags: ["pumps"]}) { %s }',
    "uploadDocument": '(workspaceId: %(workspace)s, file: $file, sourcePath: "b.md") { %s }',
    "setDocumentAccess": '(id: %(document)s, readableBy: {users: ["ada"]}) { %s }',
    "setDocumentWriters": '(id: %(document)s, writers: ["user:ada"]) { %s }',
    "withdrawDocument": "(id: %(document)s) { %s }",
    "restoreDocument": "(id: %(document)s) { %s }",
    "transferOwnership": '(id: %(document)s, to: "user:ada") { %s }',
    "replayDeadLetter": "(id: %(job)s) { %s }",
    "purgeDeadLetter": "(id: %(job)s) { %s }",
    "reingest": "(documentId: %(document)s, force: true) { jobId %s }",
    "cancelJob": "(id: %(reingest)s) { %s }",
    "createSnapshot": "(workspaceId: %(createWorkspace)s) { %s }",
    "restoreSnapshot": '(id: %(snapshot)s, into: "restored") { %s }',
    "deleteSnapshot": "(id: %(snapshot)s) { %s }",
    "updateTenant": "(input: {id: %(tenant)s, limits: {asks: 100000}}) { %s }",
    "switchEmbeddingSpace": '(input: {workspaceId: %(workspace)s, to: "openai:text-embedding-3-small"}) { %s }',
    "cancelEmbeddingSwitch": "(workspaceId: %(workspace)s) { %s }",
    "startEvalRun": '(input: {workspaceId: %(workspace)s, dataset: "own", questions: '
    '[{id: "1", question: "How much?", goldIds: ["valve.md"]}]}) { %s }',
    "calibrate": "(workspaceId: %(workspace)s) { %s }",
    "resetCalibration": "(workspaceId: %(workspace)s) { %s }",
    "calibrateSimilarity": "(input: {workspaceId: %(workspace)s, questions: ["
    + 20 * '{question: "How much?", goldIds: ["pump.txt"]} '
    + "]}) { %s }",
    "resetSimilarity": "(workspaceId: %(workspace)s) { %s }",
    "createApiKey": '(input: {name: "ci", role: VIEWER}) { apiKey { id } %s }',
    "revokeApiKey": "(id: %(createApiKey)s) { %s }",
    "setFeature": "(flag: RAG_GUIDELINES, on: true) { organisation { name } }",
    "setRateLimits": "(input: {asks: 100000}) { %s }",
    "setBudget": "(input: {dayUsd: 5}) { %s }",
    "updateModelSettings": "(input: {mustBringKey: false}) { %s }",
    "setProviderKey": '(input: {provider: OPENAI, key: "sk-canary-0123456789"}) { %s }',
    "removeProviderKey": "(provider: OPENAI) { %s }",
    "deleteDocument": "(id: %(document)s) { %s }",
    "renameOrganisation": '(name: "renamed") { %s }',
    "deleteWorkspace": '(workspaceId: %(createWorkspace)s, confirmName: "third", cancelJobs: true) { %s }',
}
"""How each is done with effect, in this order; `%(name)s` is an id that is there or that the mutation made."""

AT_THE_END: Mapping[str, str] = {
    "deleteOrganisation": '(confirmName: "renamed", cancelJobs: true) { %s }',
}
"""Mutations after which nothing more is done."""

WITHOUT_ENTRY: Mapping[str, str] = {
    "estimateUpload": "It changes nothing.",
    "ragAnswer": "It changes nothing that anybody else sees; the run itself is kept.",
    "cancelRun": "It changes nothing that is stored.",
    "replayRun": "As ragAnswer.",
    "renameThread": "Nobody else sees a thread.",
    "saveQuestion": "Nobody else sees what is saved.",
    "removeSavedQuestion": "As saveQuestion.",
    "submitFeedback": "What it stores says itself who gave it and when.",
    "attackTenants": "It changes nothing that anybody sees.",
}
"""Mutations that leave none, each with why."""

ELSEWHERE: Mapping[str, tuple[str, str]] = {
    "deleteThread": ("tests/unit/answering/test_threads.py", "thread.delete"),
    "deleteRun": ("tests/unit/answering/test_threads.py", "run.delete"),
    "crawl": ("tests/unit/ingestion/test_crawl_web.py", "web.crawl"),
    "searchWeb": ("tests/unit/ingestion/test_crawl_web.py", "web.search"),
    "rebuildGraph": ("tests/integration/neo4j/test_following.py", "graph.rebuild"),
    "purgeUndecodableMessage": ("tests/api/test_audit_log.py", "undecodable_message.purge"),
    "createTenant": ("tests/unit/cli/test_tenant_commands.py", "organisation.create"),
    "rotateMasterKey": ("tests/unit/models/test_manage_keys.py", "provider_key.rotate"),
}
"""Mutations that have nothing to act on here, or whose entry another organisation has: the test of the entry."""

QUESTIONS: Mapping[str, str] = {
    "estimateUpload": "It changes nothing.",
    "searchPassages": "It reads.",
    "prepareContext": "It reads.",
    "createChatCompletion": "As ragAnswer.",
    "createResponse": "As ragAnswer.",
    "searchVectorStore": "It reads.",
    "cancelResponse": "It reads: a response is complete.",
    "deleteResponse": "As deleteRun.",
}
"""Routes that need leave none although they are no GET, each with why."""

WRITES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "uploadDocument": ("/v1/workspaces/%(workspace)s/documents", {"files": {"file": FILE}}),
    "reingestDocument": ("/v1/workspaces/%(workspace)s/documents/%(uploadDocument)s/reingest?force=true", {}),
    "setDocumentReaders": (
        "/v1/workspaces/%(workspace)s/documents/%(uploadDocument)s/readers",
        {"json": {"readableBy": ["user:ada"]}},
    ),
    "setDocumentWriters": (
        "/v1/workspaces/%(workspace)s/documents/%(uploadDocument)s/writers",
        {"json": {"writers": ["user:ada"]}},
    ),
    "withdrawDocument": ("/v1/workspaces/%(workspace)s/documents/%(uploadDocument)s/withdrawal", {}),
    "restoreDocument": ("/v1/workspaces/%(workspace)s/documents/%(uploadDocument)s/withdrawal", {}),
    "transferOwnership": (
        "/v1/workspaces/%(workspace)s/documents/%(uploadDocument)s/owner",
        {"json": {"owner": "user:ada"}},
    ),
    "saveContextTemplate": ("/v1/workspaces/%(workspace)s/templates/rules", {"json": {"heading": "## Rules"}}),
    "deleteContextTemplate": ("/v1/workspaces/%(workspace)s/templates/rules", {}),
    "updateDocument": ("/v1/documents/%(uploadDocument)s", {"json": {"metadata": {"tags": ["valves"]}}}),
    "deleteDocument": ("/v1/workspaces/%(workspace)s/documents/%(uploadDocument)s", {}),
    "setInlineGuidelines": ("/api/projects/new/guidelines/inline", {"json": {"inlineGuidelines": "Be brief."}}),
    "uploadGuideline": ("/api/projects/new/guidelines/upload", {"files": {"file": FILE}}),
    "deleteGuideline": ("/api/projects/new/guidelines/%(uploadGuideline)s", {}),
    "uploadAgentDocument": ("/organization/%(organisation)s/agents/new/documents", {"files": {"file": FILE}}),
    "createFile": ("/v1/files", {"files": {"file": FILE}}),
    "createVectorStore": ("/v1/vector_stores", {"json": {"name": "valves"}}),
    "addVectorStoreFile": ("/v1/vector_stores/%(createVectorStore)s/files", {"json": {"file_id": "%(createFile)s"}}),
    "updateVectorStoreFile": (
        "/v1/vector_stores/%(createVectorStore)s/files/%(createFile)s",
        {"json": {"attributes": {"team": "core"}}},
    ),
    "deleteVectorStoreFile": ("/v1/vector_stores/%(createVectorStore)s/files/%(createFile)s", {}),
    "createVectorStoreFileBatch": (
        "/v1/vector_stores/%(createVectorStore)s/file_batches",
        {"json": {"file_ids": ["%(createFile)s"]}},
    ),
    "cancelVectorStoreFileBatch": (
        "/v1/vector_stores/%(createVectorStore)s/file_batches/%(createVectorStoreFileBatch)s/cancel",
        {},
    ),
    "updateVectorStore": ("/v1/vector_stores/%(createVectorStore)s", {"json": {"name": "pumps"}}),
    "deleteVectorStore": ("/v1/vector_stores/%(createVectorStore)s", {}),
    "deleteFile": ("/v1/files/%(createFile)s", {}),
    "deleteAgentDocument": ("/organization/%(organisation)s/agents/new/documents/%(uploadAgentDocument)s", {}),
}


@dataclass
class Acting:
    """An operator of one organisation, what it knows of, and what was found wrong."""

    world: TwoTenants
    token: str
    platform_token: str
    """Of an operator of the default organisation, for `updateTenant`."""
    ids: dict[str, str]
    seen: set[UUID] = field(default_factory=set[UUID])
    silent: list[str] = field(default_factory=list[str])
    failed: list[str] = field(default_factory=list[str])

    async def new_entries(self) -> Sequence[str]:
        """The actions entered since the last look."""
        async with self.world.container.database.transaction(self.world.ours.org_id) as transaction:
            page = await transaction.audit.page(PageRequest(100))
        fresh = [entry for entry in page.items if entry.audit_id not in self.seen]
        self.seen |= {entry.audit_id for entry in fresh}
        return [entry.action for entry in fresh]

    async def judge(self, name: str, fault: str | None) -> None:
        """Write down how an act went."""
        entries = await self.new_entries()
        if fault is not None:
            self.failed.append(f"{name}: {fault}")
        elif not entries:
            self.silent.append(name)

    async def kill_job(self) -> None:
        """Make a dead letter of the job."""
        await self._execute(KILL, decode(json.loads(self.ids["job"])).key)

    async def end_sync(self) -> None:
        """As if the synchronisation that a new source begins with had ended: one that waits is not asked for again."""
        await self._execute(END_SYNC)

    async def _execute(self, statement: str, *arguments: Any) -> None:
        server = await asyncpg.connect(self.world.database_url)
        try:
            await server.execute(statement, self.world.ours.org_id, *arguments)
        finally:
            await server.close()

    async def mutate(self, name: str) -> None:
        """Do one mutation, with effect."""
        arguments = {**MUTATIONS, **AT_THE_END}[name].replace("%s", FAULTS) % self.ids
        if "$file" not in arguments:
            response = await self._send("/graphql", json={"query": f"mutation {{ it: {name}{arguments} }}"})
        else:
            query = f"mutation ($file: Upload!) {{ it: {name}{arguments} }}"
            files = {
                "operations": (None, json.dumps({"query": query, "variables": {"file": None}})),
                "map": (None, json.dumps({"0": ["variables.file"]})),
                "0": LISTING if name == "pushListing" else FILE,
            }
            response = await self._send("/graphql", files=files, headers={"graphql-require-preflight": "1"})
        body = response.json()
        made = (body.get("data") or {}).get("it") or {}
        refused = bool(body.get("errors") or made.get("userErrors"))
        await self.judge(name, response.text if refused else None)
        if "jobId" in made:
            self.ids[name] = json.dumps(made["jobId"])
        for value in made.values():
            if isinstance(value, dict) and "id" in value:
                self.ids[name] = json.dumps(value["id"])

    async def write(self, method: str, name: str) -> None:
        """Do one write by REST, with effect."""
        path, sent = WRITES[name]
        ids = {key: value.strip('"') for key, value in self.ids.items()}
        response = await self._send(path % ids, method, **Request(path, sent).body(ids))
        await self.judge(f"{method} {name}", None if response.is_success else response.text)
        if response.is_success:
            body = response.json()
            body = body.get("data") or body
            self.ids[name] = str(body.get("id") or body.get("documentId"))

    async def _send(self, path: str, method: str = "POST", **sent: Any) -> httpx2.Response:
        token = self.platform_token if "updateTenant" in str(sent) else self.token
        headers = {"authorization": f"Bearer {token}", **sent.pop("headers", {})}
        return await self.world.http.request(method, path, headers=headers, **sent)


async def _acting(world: TwoTenants) -> Acting:
    made = await world.container.api_keys.create(world.ours.org_id, KeyWish("operator", Role.OPERATOR), "test")
    kinds = (NodeKind.WORKSPACE, NodeKind.DOCUMENT, NodeKind.JOB)
    ids = {kind.name.lower(): json.dumps(world.ours.ids[kind]) for kind in kinds}
    await world.container.first_access.ensure_organisation()
    platform = await world.container.api_keys.create(DEFAULT_ORG_ID, KeyWish("platform", Role.OPERATOR), "test")
    workspace = WorkspaceRef(world.ours.org_id, decode(world.ours.ids[NodeKind.WORKSPACE]).workspace_id)
    snapshot = await taken_snapshot(world.container, workspace)
    ids["snapshot"] = json.dumps(encode(NodeKind.SNAPSHOT, workspace.workspace_id, snapshot))
    ids["tenant"] = json.dumps(str(world.ours.org_id))
    acting = Acting(world, made.token, platform.token, {**ids, "organisation": str(world.ours.org_id)})
    await acting.new_entries()
    return acting


def _is_looked_at(file: str, action: str) -> bool:
    return f'"{action}"' in (ROOT / file).read_text("utf-8")


async def audited(ground: Ground, short: bool) -> list[Row]:
    """Everything that changes something is done once; then those without an entry are counted, and those that nobody
    here knows how to do.
    """
    schema = build_schema()._schema
    assert schema.mutation_type is not None
    variables = {
        "AGENTIC_RAG_MASTER_KEYS": f"m1:{base64.b64encode(secrets.token_bytes(32)).decode()}",
        "OPENAI_API_KEY": "sk-test",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{free_port()}/v1",
    }
    async with two_tenants(ground, **variables) as world:
        acting = await _acting(world)
        for name in MUTATIONS:
            if name.endswith("DeadLetter"):
                await acting.kill_job()
            if name == "syncSource":
                await acting.end_sync()
            await acting.mutate(name)
        served = {one.name: one.method for one in operations(server_parts(world.container)) if one.rule}
        writes = {name: method for name, method in served.items() if method != "GET"}
        for name in WRITES:
            if name in writes:
                await acting.write(writes[name], name)
        for name in AT_THE_END:
            await acting.mutate(name)
    known = {*MUTATIONS, *AT_THE_END, *ELSEWHERE}
    unknown = (set(schema.mutation_type.fields) ^ known ^ set(WITHOUT_ENTRY)) | (
        set(writes) ^ set(WRITES) ^ set(QUESTIONS)
    )
    unknown |= {name for name, place in ELSEWHERE.items() if not _is_looked_at(*place)}
    for line in (*acting.failed, *(f"leaves no entry: {name}" for name in acting.silent)):
        print(f"  {line[:2000]}")
    for name in sorted(unknown):
        print(f"  nobody here knows how to do it, or it is gone: {name}")
    return [
        exactly("mutations and writes that leave no entry in the audit log", len(acting.silent), 0),
        exactly("mutations and writes that could not be done", len(acting.failed), 0),
        exactly("mutations and writes that this row does not know", len(unknown), 0),
    ]


ROWS: Mapping[str, Measure] = {"audit-log": audited}
