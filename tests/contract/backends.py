"""The stores under test, by adapter name. Another adapter is one more entry in `BACKENDS`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest
from tests.builders import NO_ENTITIES, SPACE, drafts_of, new_chunk, new_document, publication, revision_of

from agentic_rag.adapters.memory.cache import MemoryAnswerCache
from agentic_rag.adapters.memory.database import MemoryDatabase
from agentic_rag.adapters.memory.job_board import MemoryJobBoard
from agentic_rag.adapters.memory.runs import MemoryRunStore
from agentic_rag.adapters.memory.store import MemoryStore
from agentic_rag.adapters.postgres.cache_entries import PostgresAnswerCache
from agentic_rag.adapters.postgres.database import PostgresDatabase
from agentic_rag.adapters.postgres.job_board import PostgresJobBoard
from agentic_rag.adapters.postgres.organisations import PostgresOrganisations
from agentic_rag.adapters.postgres.pool import PostgresPool
from agentic_rag.adapters.postgres.runs import PostgresRunStore
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.app import answer_codec
from agentic_rag.domain.documents import Document
from agentic_rag.domain.retrieval import ChunkEntities
from agentic_rag.domain.tenancy import WorkspaceKind, WorkspaceRef, WorkspaceSettings
from agentic_rag.ports.answer_cache import AnswerCache
from agentic_rag.ports.database import Database
from agentic_rag.ports.document_store import NewDocument
from agentic_rag.ports.job_store import JobBoard
from agentic_rag.ports.publication import KeptChunk, Published
from agentic_rag.ports.run_store import RunStore
from agentic_rag_migrations import HEAD


@dataclass
class Backend:
    """One adapter of every port, and short ways to bring it into a state."""

    database: Database
    runs: RunStore
    cache: AnswerCache
    job_board: Callable[[], JobBoard]
    make_organisation: Callable[[UUID], Awaitable[None]]

    async def organisation(self) -> UUID:
        """A new organisation."""
        org_id = uuid4()
        await self.make_organisation(org_id)
        return org_id

    async def workspace(self, org_id: UUID | None = None, settings: WorkspaceSettings | None = None) -> WorkspaceRef:
        """A new workspace with the test embedding space (number 1)."""
        ref = WorkspaceRef(org_id or await self.organisation(), uuid4())
        async with self.database.transaction(ref.org_id) as transaction:
            await transaction.workspaces.create(
                ref.workspace_id,
                f"workspace {ref.workspace_id}",
                WorkspaceKind.GENERAL,
                None,
                settings or WorkspaceSettings(),
            )
            await transaction.workspaces.register_space(ref, SPACE)
        return ref

    async def register(self, workspace: WorkspaceRef, new: NewDocument) -> Document:
        """Register a document."""
        async with self.database.transaction(workspace.org_id) as transaction:
            return await transaction.documents.register(workspace, new)

    async def publish(
        self,
        workspace: WorkspaceRef,
        path: str,
        passages: list[str],
        *,
        entities: Mapping[str, ChunkEntities] | None = None,
        vectors: Mapping[str, bytes] | None = None,
        **changes: object,
    ) -> Published:
        """Make `passages` the chunks of the document at `path`, keeping those it already has."""
        new = new_document(workspace, path, **changes)
        before = await self.register(workspace, new)
        revision = revision_of(new.document_id, passages)
        async with self.database.transaction(workspace.org_id) as transaction:
            visible = {
                chunk.chunk_id: chunk
                for chunk in await transaction.documents.visible_chunks(workspace, new.document_id)
            }
            added, kept = [], []
            for draft in drafts_of(revision, passages):
                held = visible.pop(draft.chunk_id, None)
                if held is None:
                    named = (entities or {}).get(draft.text, NO_ENTITIES)
                    added.append(new_chunk(draft, named, (vectors or {}).get(draft.text)))
                else:
                    kept.append(KeptChunk(held.ordinal, draft, moved=held.start != draft.start))
            removed = [chunk.ordinal for chunk in visible.values()]
            batch = [
                publication(new.document_id, revision, added, kept=kept, removed=removed, expected=before.revision_id)
            ]
            [published] = await transaction.publisher.publish(workspace, 1, batch)
        return published


@asynccontextmanager
async def memory_backend(_: pytest.FixtureRequest) -> AsyncGenerator[Backend]:
    """All stores in this process."""
    store = MemoryStore(SystemClock())
    cache = MemoryAnswerCache(store.clock)

    async def make_organisation(_: UUID) -> None:
        """There is nothing to make."""

    yield Backend(
        MemoryDatabase(store, cache), MemoryRunStore(store), cache, lambda: MemoryJobBoard(store), make_organisation
    )


@asynccontextmanager
async def postgres_backend(request: pytest.FixtureRequest) -> AsyncGenerator[Backend]:
    """All stores on one Postgres."""
    url: str = request.getfixturevalue("migrated_url")
    pool = PostgresPool(url)

    async def make_organisation(org_id: UUID) -> None:
        await PostgresOrganisations(pool).ensure_organisation(org_id, f"test {org_id}")

    database = PostgresDatabase(pool, answer_codec, HEAD)
    yield Backend(
        database,
        PostgresRunStore(pool, answer_codec),
        PostgresAnswerCache(pool),
        lambda: PostgresJobBoard(url),
        make_organisation,
    )
    await database.aclose()


BACKENDS: Mapping[str, Callable[[pytest.FixtureRequest], AbstractAsyncContextManager[Backend]]] = {
    "memory": memory_backend,
    "postgres": postgres_backend,
}
