"""A chunk by its id: as it is, retired, past its retention, hidden."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest
from tests.contract.backends import Backend, memory_backend
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.documents.document import chunk_id_for, content_hash, document_id_for
from agentic_rag.documents.read_chunk import FoundChunk, ReadChunk
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef


@asynccontextmanager
async def _stored(request: Any) -> AsyncGenerator[tuple[Backend, WorkspaceRef]]:
    async with memory_backend(request) as backend:
        workspace = await backend.workspace()
        await backend.publish(workspace, "a.md", ["one", "two"])
        await backend.publish(workspace, "a.md", ["two", "three"])
        yield backend, workspace


def _chunk_id(workspace: WorkspaceRef, text: str) -> UUID:
    return chunk_id_for(document_id_for(workspace, "a.md"), content_hash(text), 0)


async def _read(backend: Backend, workspace: WorkspaceRef, text: str, org_id: UUID | None = None) -> FoundChunk | None:
    caller = Principal(org_id or workspace.org_id, "ada", Role.VIEWER)
    use_case = ReadChunk(backend.database, RecordingTelemetry())
    return await use_case.run(caller, WorkspaceRef(caller.org_id, workspace.workspace_id), _chunk_id(workspace, text))


async def test_a_chunk_is_found_and_a_retired_one_says_so(request: pytest.FixtureRequest) -> None:
    async with _stored(request) as (backend, workspace):
        seen, retired = await _read(backend, workspace, "two"), await _read(backend, workspace, "one")

    assert seen is not None
    assert (seen.chunk and seen.chunk.text, seen.retired_at, seen.corpus_version) == ("two", None, 2)
    assert retired is not None
    assert (retired.chunk and retired.chunk.text, retired.retired_at) == ("one", 2)


async def test_what_is_missing_and_what_is_another_organisations_answer_alike(request: pytest.FixtureRequest) -> None:
    async with _stored(request) as (backend, workspace):
        assert await _read(backend, workspace, "never") is None
        assert await _read(backend, workspace, "two", UUID(int=99)) is None


async def test_a_hidden_chunk_answers_like_a_missing_one(request: pytest.FixtureRequest) -> None:
    async with _stored(request) as (backend, workspace):
        async with backend.database.transaction(workspace.org_id) as transaction:
            hidden = await transaction.access.intern(workspace, ("user:bob",))
            await transaction.access.change(workspace, document_id_for(workspace, "a.md"), hidden)

        assert await _read(backend, workspace, "two") is None
        assert await _read(backend, workspace, "one") is None


async def test_the_chunks_of_a_document_come_page_by_page_in_its_order(request: pytest.FixtureRequest) -> None:
    async with _stored(request) as (backend, workspace):
        use_case, caller = (
            ReadChunk(backend.database, RecordingTelemetry()),
            Principal(workspace.org_id, "a", Role.VIEWER),
        )
        document_id = document_id_for(workspace, "a.md")
        first = await use_case.of_document(caller, workspace, document_id, PageRequest(1))
        second = await use_case.of_document(caller, workspace, document_id, PageRequest(1, first.cursors[-1]))
        elsewhere = WorkspaceRef(UUID(int=99), workspace.workspace_id)
        with pytest.raises(InvalidInput):
            await use_case.of_document(caller, workspace, document_id, PageRequest(1, "!!"))
        with pytest.raises(NotFound):
            await use_case.of_document(caller, elsewhere, document_id, PageRequest(1))

    assert [one.chunk and one.chunk.text for one in (*first.items, *second.items)] == ["two", "three"]
    assert (first.has_next, second.has_next) == (True, False)
