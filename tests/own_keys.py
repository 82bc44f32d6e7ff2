"""A whole product in this process, for tests of organisations with keys of their own: server, worker, stub provider."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2

from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.adapters.postgres.workspaces.organisations import PostgresOrganisations
from agentic_rag.bootstrap import Container, build_container, new_master_key
from agentic_rag.settings import Settings
from agentic_rag.tenancy.api_keys import NewApiKey
from agentic_rag.tenancy.principals import Role
from agentic_rag_server.app import build_app
from agentic_rag_server.main import server_parts
from agentic_rag_worker.job_handlers import job_handlers
from agentic_rag_worker.timings import WorkerTimings
from agentic_rag_worker.worker import WorkerOptions, run_worker
from tests.api.builders import schema_of
from tests.provider_stub import ProviderStub

SET_KEY = """
mutation Set($input: SetProviderKeyInput!) {
  setProviderKey(input: $input) { providerKey { provider hint baseUrl } userErrors { code message } }
}
"""
UPDATE_MODELS = """
mutation Update($input: UpdateModelSettingsInput!) {
  updateModelSettings(input: $input) { settings { mustBringKey } userErrors { code message } }
}
"""
CREATE = "mutation Create($name: String!) { createWorkspace(input: { name: $name }) { workspace { id } } }"
DOCUMENT = "query Document($id: ID!) { document(id: $id) { status error { code message } } }"
ASK = """
mutation Ask($input: RagAnswerInput!) {
  ragAnswer(input: $input) {
    answer outcome degraded userErrors { code message } debug { timings { stage outcome } }
  }
}
"""
USAGE = """
query Usage($from: Date!, $to: Date!) {
  usage(from: $from, to: $to) {
    costUsd unpricedCalls pricedOn lines { kind provider model ownKey calls inputTokens outputTokens costUsd }
  }
}
"""


@dataclass
class Tenant:
    """An organisation and what its operator may do over HTTP; every body that came back is kept."""

    http: httpx2.AsyncClient
    org_id: UUID
    token: str
    bodies: list[str]

    async def query(self, text: str, **variables: Any) -> Any:
        """The JSON answer to a GraphQL document."""
        return (await self._sent("/graphql", json={"query": text, "variables": variables})).json()

    async def field(self, text: str, **variables: Any) -> Any:
        """The one field of an answer without errors."""
        body = await self.query(text, **variables)
        assert "errors" not in body, body
        [value] = body["data"].values()
        return value

    async def workspace(self, name: str = "handbook") -> str:
        """A new workspace's id."""
        return (await self.field(CREATE, name=name))["workspace"]["id"]

    async def bring(self, key: str, provider: str = "OPENAI", **more: str) -> Any:
        """Store a key."""
        return await self.field(SET_KEY, input={"provider": provider, "key": key, **more})

    async def upload(self, workspace: str, text: str, name: str = "valves.md") -> httpx2.Response:
        """Upload a Markdown file by REST."""
        return await self._sent(f"/v1/workspaces/{workspace}/documents", files={"file": (name, text, "text/markdown")})

    async def ended(self, document: str) -> Mapping[str, Any]:
        """The document, once its ingestion has ended."""
        async with asyncio.timeout(60):
            while True:
                found = await self.field(DOCUMENT, id=document)
                if found["status"] in ("READY", "FAILED"):
                    return found
                await asyncio.sleep(0.05)

    async def ask(self, workspace: str, question: str) -> Any:
        """Ask without the cache."""
        return await self.field(
            ASK, input={"question": question, "workspaceId": workspace, "options": {"cache": "BYPASS"}}
        )

    async def _sent(self, path: str, **what: Any) -> httpx2.Response:
        response = await self.http.post(path, headers={"authorization": f"Bearer {self.token}"}, **what)
        self.bodies.append(response.text)
        return response


@dataclass
class Product:
    """The wired product; `tenant` makes organisations that must bring a key."""

    container: Container
    http: httpx2.AsyncClient
    pool: PostgresPool
    bodies: list[str] = field(default_factory=list[str])

    async def tenant(self, *, must_bring_key: bool = True) -> Tenant:
        """A new organisation and its operator's token."""
        org_id, token = uuid4(), f"token-{uuid4().hex}"
        organisations = PostgresOrganisations(self.pool)
        await organisations.ensure_organisation(org_id, f"tenant {org_id}")
        hashed = hashlib.sha256(token.encode()).digest()
        await organisations.ensure_api_key(org_id, NewApiKey(hashed, "test", "ada", Role.OPERATOR))
        tenant = Tenant(self.http, org_id, token, self.bodies)
        if must_bring_key:
            await tenant.field(UPDATE_MODELS, input={"mustBringKey": True})
        return tenant


def settings_for(database_url: str, redis_url: str, home: Path, stub: ProviderStub) -> Settings:
    """Settings of a product whose providers are all the stub."""
    return Settings().change(
        answering={"enabled": True, "min_support": 0.0},
        stores={"database_url": database_url, "redis_url": redis_url, "home": home},
        models={
            "master_keys": new_master_key("first"),
            "openai_base_url": stub.base_url,
            "compatible_urls": f"gemini={stub.gemini_url},anthropic={stub.base_url},{stub.base_url}",
        },
        jobs={"queue_name": f"own-keys-{uuid4().hex[:8]}", "backoff_ms": 10},
    )


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Product]:
    """Server and worker of these settings, in this process, while the block lasts."""
    stop = asyncio.Event()
    options = WorkerOptions(slots=4, interactive_slots=1, timings=WorkerTimings(poll_longest=0.1, consumer_poll=0.02))
    pool = PostgresPool(settings.stores.database_url)
    async with build_container(settings) as container:
        worker = asyncio.create_task(run_worker(container, job_handlers(container), options, stop=stop))
        parts = server_parts(container)
        app = build_app(parts, schema_of(introspection=parts.options.introspection))
        transport = httpx2.ASGITransport(app=app)
        try:
            async with httpx2.AsyncClient(transport=transport, base_url="http://test", timeout=60) as http:
                yield Product(container, http, pool)
        finally:
            stop.set()
            await worker
            await pool.aclose()
