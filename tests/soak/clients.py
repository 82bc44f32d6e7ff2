"""Clients of a soak: each does one kind of work, over HTTP or as a command does, until the time is up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx2

from agentic_rag.bootstrap import Container
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.tenancy.principals import WorkspaceRef
from tests.bench.product import TOKEN
from tests.soak.facts import Fact, Ledger, make_fact

POPULATION = 60
"""Documents of a workspace that uploads and deletes keep: memory is not asked to grow with the corpus."""
SYNCED = 20
"""Files of the folder that is synchronised."""
REVOKED_SECONDS = 32.0
"""A process that knows a key forgets it within 30 s after it was revoked."""
FAULTY = frozenset({"INTERNAL", ""})
"""Codes of a refusal that gives no reason."""

ASK = """
mutation ($input: RagAnswerInput!) {
  ragAnswer(input: $input) { outcome answer citations { snippet } userErrors { code } }
}
"""
CRAWL = "mutation ($input: CrawlInput!) { crawl(input: $input) { jobId userErrors { code } } }"
NEW_KEY = """
mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { token apiKey { id } userErrors { code } } }
"""
REVOKE = "mutation ($id: ID!) { revokeApiKey(id: $id) { apiKey { id } userErrors { code } } }"
WEB_ON = "mutation { setFeature(flag: WEB_ACCESS, on: true) { __typename } }"
WEB_OF = """
mutation ($id: ID!) { updateWorkspaceSettings(input: {workspaceId: $id, web: {allow: true}}) { userErrors { code } } }
"""


@dataclass
class Clients:
    """All clients of one soak. `folders` are synchronised, by workspace."""

    url: str
    container: Container
    workspaces: dict[str, WorkspaceRef]
    folders: dict[str, Path]
    ledger: Ledger
    draw: Random
    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    key: str = TOKEN
    """Of members; the operator's first."""
    key_id: str = ""
    ended: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    """Revoked keys that were not tried yet, by the time of their end."""
    synced: dict[tuple[str, str], Fact] = field(default_factory=dict[tuple[str, str], Fact])
    """What the files of a folder state, by workspace and path."""

    def tasks(self) -> list[asyncio.Task[None]]:
        """One for each client."""
        work: list[Callable[[httpx2.AsyncClient, str], Awaitable[None]]] = []
        work += [self.ask] * 4 + [self.upload, self.delete, self.sync, self.crawl]
        tasks = [
            asyncio.create_task(self._until_over(one, name, pause))
            for name in self.workspaces
            for one, pause in zip(work, (0.02, 0.02, 0.05, 0.05, 0.3, 0.3, 3.0, 8.0), strict=True)
        ]
        return [*tasks, asyncio.create_task(self._until_over(self.rotate, "", 5.0))]

    async def _until_over(
        self, work: Callable[[httpx2.AsyncClient, str], Awaitable[None]], workspace: str, pause: float
    ) -> None:
        async with httpx2.AsyncClient(base_url=self.url, timeout=60, trust_env=False) as client:
            while not self.is_over.is_set():
                await work(client, workspace)
                try:
                    await asyncio.wait_for(self.is_over.wait(), pause)
                except TimeoutError:
                    continue

    async def ask(self, client: httpx2.AsyncClient, workspace: str) -> None:
        """Ask for one serial number, past the cache half of the time."""
        fact = self.ledger.fact_to_ask(workspace)
        if fact is None:
            return
        erased = self.ledger.erased_serials()
        options = {"cache": "BYPASS"} if self.draw.random() < 0.5 else {}
        wanted = {"workspaceId": self._id(workspace), "question": fact.question, "options": options}
        told = await self.graphql(client, ASK, self.key, input=wanted)
        if told is not None:
            answer = told["ragAnswer"]
            said = " ".join([answer["answer"] or "", *(one["snippet"] for one in answer["citations"])])
            self.ledger.judge(fact, erased, answer["outcome"], said)

    async def upload(self, client: httpx2.AsyncClient, workspace: str) -> None:
        """Upload one document, while there are fewer than `POPULATION`."""
        if len(self.ledger.of(workspace)) >= POPULATION:
            return
        fact = self.ledger.new_fact(workspace)
        files = {"file": (fact.path, fact.text, "text/markdown")}
        reply = await self._send(client, "POST", f"/v1/workspaces/{self._id(workspace)}/documents", files=files)
        if reply is not None:
            self.ledger.kept[reply["id"]] = fact

    async def delete(self, client: httpx2.AsyncClient, workspace: str) -> None:
        """Delete one document, once there are half of `POPULATION`."""
        held = self.ledger.of(workspace)
        if len(held) < POPULATION // 2:
            return
        await self.erase(client, *self.draw.choice(held))

    async def erase(self, client: httpx2.AsyncClient, key: str, fact: Fact) -> None:
        """Delete a document. Until it is acknowledged, nothing is expected of it."""
        self.ledger.kept.pop(key, None)
        self.ledger.unsure[key] = fact
        path = f"/v1/workspaces/{self._id(fact.workspace)}/documents/{key}"
        if await self._send(client, "DELETE", path, gone=404) is not None:
            del self.ledger.unsure[key]
            self.ledger.erased[key] = fact

    async def sync(self, _: httpx2.AsyncClient, workspace: str) -> None:
        """Change one file of a folder and synchronise it, as `rag ingest` does."""
        number = self.draw.randrange(SYNCED)
        fact = make_fact(f"{workspace} {self.draw.randrange(10**6)}", 10_000 + number)
        fact = Fact(workspace, fact.name, fact.serial)
        (self.folders[workspace] / fact.path).write_bytes(fact.text)
        self.synced[workspace, fact.path] = fact
        await self.synchronise(workspace)

    async def synchronise(self, workspace: str) -> bool:
        """True when the product took the folder."""
        source = self.container.directory_source(self.folders[workspace])
        try:
            await self.container.sync_source.run(self.workspaces[workspace], source, "soak")
        except AgenticRagError as error:
            self.ledger.refused[error.code] += 1
            return False
        return True

    async def crawl(self, client: httpx2.AsyncClient, workspace: str) -> None:
        """Have a worker read three pages of a made-up web."""
        urls = [f"https://public.test/page/{self.draw.randrange(30)}" for _ in range(3)]
        wanted = {"workspaceId": self._id(workspace), "urls": urls, "depth": 0}
        if await self.graphql(client, CRAWL, TOKEN, input=wanted) is not None:
            self.ledger.jobs += 1

    async def rotate(self, client: httpx2.AsyncClient, _: str) -> None:
        """Make a key, let the others use it, revoke the one before and try it."""
        wanted = {"name": f"soak-{self.draw.randrange(10**9)}", "role": "ADMIN"}
        made = await self.graphql(client, NEW_KEY, TOKEN, input=wanted)
        if made is None:
            return
        (before, before_id), created = (self.key, self.key_id), made["createApiKey"]
        self.key, self.key_id = created["token"], created["apiKey"]["id"]
        if before_id and await self.graphql(client, REVOKE, TOKEN, id=before_id) is not None:
            self.ended.append((time.monotonic(), before))
        while self.ended and self.ended[0][0] + REVOKED_SECONDS < time.monotonic():
            await self.try_revoked(client, self.ended.pop(0)[1])

    async def try_revoked(self, client: httpx2.AsyncClient, token: str) -> None:
        """Ask with a key that every process has forgotten."""
        reply = await self._reply(client, "POST", "/graphql", token, json={"query": "{ workspaces { id } }"})
        if reply is not None:
            self.ledger.rotations += 1
            self.ledger.revoked += reply.status_code == 200 and not reply.json().get("errors")

    async def allow_web(self) -> None:
        """Switch the web on for every workspace."""
        async with httpx2.AsyncClient(base_url=self.url, timeout=60, trust_env=False) as client:
            assert await self.graphql(client, WEB_ON, TOKEN) is not None, self.ledger
            for name in self.workspaces:
                assert await self.graphql(client, WEB_OF, TOKEN, id=self._id(name)) is not None, self.ledger

    async def graphql(
        self, client: httpx2.AsyncClient, text: str, token: str, **variables: object
    ) -> dict[str, Any] | None:
        """The data; None where it was refused or failed, which is noted."""
        body = {"query": text, "variables": variables}
        reply = await self._reply(client, "POST", "/graphql", token, json=body)
        if reply is None:
            return None
        told: dict[str, Any] = reply.json()
        data = told.get("data") or {}
        errors = [one.get("extensions", {}).get("code", "") for one in told.get("errors") or ()]
        errors += [one["code"] for root in data.values() if root for one in root.get("userErrors") or ()]
        assert not any(code.startswith("GRAPHQL_") for code in errors), told
        if errors:
            self._note(errors[0], str(told)[:300], token)
            return None
        return data

    async def _send(
        self, client: httpx2.AsyncClient, method: str, path: str, gone: int = 0, **more: Any
    ) -> dict[str, Any] | None:
        reply = await self._reply(client, method, path, TOKEN, **more)
        if reply is None:
            return None
        found: dict[str, Any] = reply.json()
        if reply.status_code == gone or reply.is_success:
            return found
        self._note(str(found.get("code") or found.get("error", {}).get("code", "")), reply.text[:300], TOKEN)
        return None

    async def _reply(
        self, client: httpx2.AsyncClient, method: str, path: str, token: str, **more: Any
    ) -> httpx2.Response | None:
        try:
            reply = await client.request(method, path, headers={"authorization": f"Bearer {token}"}, **more)
            reply.json()
        except (httpx2.TransportError, ValueError) as error:
            self.ledger.broken[f"{method} {path.split('/')[1]}: {type(error).__name__}: {error}"] += 1
            return None
        return reply

    def _note(self, code: str, text: str, token: str) -> None:
        if code in ("UNAUTHENTICATED", "API_KEY_REVOKED") and token not in (TOKEN, self.key):
            return  # It was revoked while the request was under way.
        if code in FAULTY:
            self.ledger.broken[text] += 1
        else:
            self.ledger.refused[code] += 1

    def _id(self, workspace: str) -> str:
        return encode_workspace(self.workspaces[workspace].workspace_id)
