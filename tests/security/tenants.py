"""The server over a real database with two organisations, each with one of everything that has an id."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2

from agentic_rag.adapters.postgres.workspaces.organisation_register import PostgresOrganisationRegister
from agentic_rag.answering.question import Question
from agentic_rag.bootstrap import Container
from agentic_rag.ingestion.ingest_chunks import PlainTextDocument
from agentic_rag.ingestion.sources.source import NewSource, SourceKind
from agentic_rag.ingestion.upload import UploadOptions
from agentic_rag.jobs.job import JobRef
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_in_organisation
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.manage_api_keys import KeyWish
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef
from agentic_rag.workspaces.administer import NewWorkspace
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_cli.client.event_transport import EventTransport
from agentic_rag_server.app import build_app
from agentic_rag_server.main import server_parts
from tests.security.ground import Ground


@dataclass(frozen=True)
class Tenant:
    """An organisation, a token of an admin, and the public id of one thing of each kind that it has."""

    org_id: UUID
    token: str
    ids: Mapping[NodeKind, str] = field(default_factory=dict[NodeKind, str])


@dataclass(frozen=True)
class TwoTenants:
    """The server and its two organisations."""

    ours: Tenant
    theirs: Tenant
    container: Container
    database_url: str
    http: httpx2.AsyncClient


@asynccontextmanager
async def opened_server(ground: Ground, **variables: str) -> AsyncIterator[tuple[Container, str, httpx2.AsyncClient]]:
    """The server over a database of its own: its container, the database's address and a client. `variables` are
    further settings.
    """
    servers = ground.servers()
    url = await servers.new_database()
    given = {
        "DATABASE_URL": url,
        "REDIS_URL": servers.stack.redis_url,
        "AGENTIC_RAG_ENABLED": "true",
        "AGENTIC_RAG_LOG_LEVEL": "error",
        "AGENTIC_RAG_QUEUE_NAME": f"security-{uuid4().hex}",
        "AGENTIC_RAG_BLOB_STORE": str(servers.home / f"blobs-{uuid4().hex}"),
        **variables,
    }
    container = Container(load_settings(given))
    transport = EventTransport(build_app(server_parts(container)))
    try:
        async with httpx2.AsyncClient(transport=transport, base_url="http://server", timeout=60) as http:
            yield container, url, http
    finally:
        # A row that fails leaves no connection to the rows behind it.
        await container.aclose()
        await servers.drop_database(url)


@asynccontextmanager
async def two_tenants(ground: Ground, **variables: str) -> AsyncIterator[TwoTenants]:
    """Opened on a database of its own. `variables` are further settings."""
    async with opened_server(ground, **variables) as (container, url, http):
        ours, theirs = [await _tenant(container, url, name) for name in ("ours", "theirs")]
        yield TwoTenants(ours, theirs, container, url, http)


async def _tenant(container: Container, url: str, name: str) -> Tenant:
    org_id = uuid4()
    await PostgresOrganisationRegister(url).create(org_id, name, f"issuer-{name}")
    made = await container.api_keys.create(org_id, KeyWish("admin", Role.ADMIN), "test")
    workspace = await container.administer.create_workspace(
        org_id, NewWorkspace("handbook", WorkspaceKind.PROJECT, "p-7"), "test"
    )
    ref = workspace.ref
    ids = {
        NodeKind.WORKSPACE: encode_in_organisation(NodeKind.WORKSPACE, ref.workspace_id),
        NodeKind.API_KEY: encode_in_organisation(NodeKind.API_KEY, made.key.key_id),
    }
    for kind, key in (await _things(container, ref)).items():
        ids[kind] = encode(kind, ref.workspace_id, key)
    return Tenant(org_id, made.token, ids)


async def _things(container: Container, ref: WorkspaceRef) -> Mapping[NodeKind, UUID]:
    """A document that can be found, a run about it, a job, a snapshot that was asked for, a source nobody looks at."""
    text = "The pump lifts seven cubic metres of water. It is serviced in March."
    cut = await container.ingest_chunks.cut(PlainTextDocument("pump.txt", "Pump", text), "default")
    await container.ingest_chunks.run(ref, [cut], "test", lambda _: None)
    asker = Principal(ref.org_id, "test", Role.ADMIN)
    run = await container.answer.ask(asker, Question(ref, "How much water does the pump lift?", begins_thread=True))
    saved = await container.saved.save(asker, ref, run.run_id)
    upload = await container.upload.run(
        ref,
        "valve.md",
        _pieces(b"# Valve\n\nIt opens at 3 bar."),
        UploadOptions(),
        Principal(ref.org_id, "t", Role.ADMIN),
    )
    snapshot = await container.take_snapshot.request(ref, "test")
    sitemap = NewSource("docs", SourceKind.SITEMAP, "https://docs.example.com/sitemap.xml", every_seconds=0)
    source = await container.sources.add(ref, sitemap, None, "system:test")
    async with container.database.transaction(ref.org_id) as transaction:
        [chunk, *_] = await transaction.documents.visible_chunks(ref, await _published(transaction, ref))
    assert upload.job_id is not None
    return {
        NodeKind.DOCUMENT: upload.document_id,
        NodeKind.RUN: run.run_id,
        NodeKind.THREAD: run.run_id,
        NodeKind.SAVED: saved.saved_id,
        NodeKind.JOB: upload.job_id,
        NodeKind.CHUNK: chunk.chunk_id,
        NodeKind.SNAPSHOT: snapshot.snapshot_id,
        NodeKind.SOURCE: source.source_id,
    }


async def taken_snapshot(container: Container, ref: WorkspaceRef) -> UUID:
    """A snapshot with its files, taken as a worker takes it."""
    asked = await container.take_snapshot.request(ref, "system:test")
    async with container.database.transaction(ref.org_id) as transaction:
        lease = await transaction.jobs.lease(JobRef(ref, asked.snapshot_id), "test", timedelta(minutes=5))
    assert lease is not None
    await container.take_snapshot.run(lease, _Unseen())
    return asked.snapshot_id


class _Unseen:
    """Progress that nobody looks at."""

    def advance(self) -> None:
        """One step further."""


async def _published(transaction: Any, ref: WorkspaceRef) -> UUID:
    page = await transaction.documents.page(ref, PageRequest(10))
    return next(document.document_id for document in page.items if document.source_path == "pump.txt")


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    yield content
