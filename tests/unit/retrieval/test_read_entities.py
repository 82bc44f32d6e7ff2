"""An entity with what is around it: what its reader may read, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from tests.contract.backends import Backend, memory_backend
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.documents.document import document_id_for
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.retrieval.graph.entities import extract_entities
from agentic_rag.retrieval.graph.read_entities import (
    MOST_PASSAGES,
    EntityView,
    NamedEntity,
    ReadEntities,
    RelatedEntity,
)
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef

OPEN = "Corrand Tidal was founded by Maren Holt. Maren Holt hired Idris Vane."
HIDDEN = "Corrand Tidal owes Oskar Brandt a million."


@asynccontextmanager
async def corpus(request: pytest.FixtureRequest, *passages: str) -> AsyncGenerator[tuple[Backend, WorkspaceRef]]:
    """A document that everybody reads, and one that only Bob does."""
    async with memory_backend(request) as backend:
        workspace = await backend.workspace()
        await publish(backend, workspace, "open.md", passages or (OPEN,))
        await publish(backend, workspace, "hidden.md", (HIDDEN,))
        async with backend.database.transaction(workspace.org_id) as transaction:
            bobs = await transaction.access.intern(workspace, ("user:bob",))
            await transaction.access.change(workspace, document_id_for(workspace, "hidden.md"), bobs)
        yield backend, workspace


async def publish(backend: Backend, workspace: WorkspaceRef, path: str, passages: tuple[str, ...]) -> None:
    entities = {one: extract_entities(workspace.workspace_id, one, (), None) for one in passages}
    await backend.publish(workspace, path, list(passages), entities=entities)


def reads(backend: Backend) -> ReadEntities:
    return ReadEntities(backend.database, RecordingTelemetry())


def caller(workspace: WorkspaceRef, name: str = "ada") -> Principal:
    return Principal(workspace.org_id, name, Role.VIEWER)


async def view(backend: Backend, workspace: WorkspaceRef, name: str, who: str = "ada") -> EntityView | None:
    return await reads(backend).run(caller(workspace, who), workspace, name)


async def test_an_entity_comes_with_its_neighbours_and_the_passages_that_mention_it(
    request: pytest.FixtureRequest,
) -> None:
    async with corpus(request) as (backend, workspace):
        found = await view(backend, workspace, "maren HOLT")

    assert found is not None
    assert found.entity == NamedEntity("Maren Holt", 1)
    assert {RelatedEntity("Corrand Tidal", 1), RelatedEntity("Idris Vane", 1)} <= set(found.neighbours)
    assert [one.chunk and one.chunk.text for one in found.chunks] == [OPEN]


async def test_what_only_others_may_read_adds_neither_passages_nor_neighbours(request: pytest.FixtureRequest) -> None:
    async with corpus(request) as (backend, workspace):
        hers, his = (
            await view(backend, workspace, "Corrand Tidal"),
            await view(backend, workspace, "Corrand Tidal", "bob"),
        )
        hidden = await view(backend, workspace, "Oskar Brandt")
        named = await reads(backend).search(caller(workspace), workspace, "Oskar Brandt, Maren Holt")

    assert hers is not None
    assert his is not None
    assert (hers.entity.passages, his.entity.passages) == (1, 2)
    assert "Oskar Brandt" in {one.name for one in his.neighbours} - {one.name for one in hers.neighbours}
    assert hidden is None
    assert named[0] == NamedEntity("Maren Holt", 1)
    assert {one.name for one in named}.isdisjoint({"Oskar Brandt", "Oskar", "Brandt"})


async def test_whose_passages_were_handed_out_is_in_the_audit_log(request: pytest.FixtureRequest) -> None:
    async with corpus(request) as (backend, workspace):
        await view(backend, workspace, "Maren Holt")
        await view(backend, workspace, "Oskar Brandt")
        async with backend.database.transaction(workspace.org_id) as transaction:
            entries = (await transaction.audit.page(PageRequest())).items

    document_id = document_id_for(workspace, "open.md")
    assert [(one.actor, one.detail) for one in entries] == [("user:ada", {"documents": str(document_id)})]


async def test_an_entity_that_stands_nearly_everywhere_is_counted_and_not_followed(
    request: pytest.FixtureRequest,
) -> None:
    passages = tuple(f"Corrand Tidal met Person{number} Surname." for number in range(MOST_PASSAGES + 5))
    async with corpus(request, *passages) as (backend, workspace):
        found = await view(backend, workspace, "Corrand Tidal")

    assert found == EntityView(NamedEntity("Corrand Tidal", MOST_PASSAGES + 1), (), ())


@pytest.mark.parametrize("name", ["", "  ", "x" * 201])
async def test_a_name_has_a_length(request: pytest.FixtureRequest, name: str) -> None:
    async with corpus(request) as (backend, workspace):
        for asked in (reads(backend).run, reads(backend).search):
            with pytest.raises(InvalidInput) as refused:
                await asked(caller(workspace), workspace, name)
            assert refused.value.code == "NAME_LENGTH"


async def test_another_organisation_finds_nothing(request: pytest.FixtureRequest) -> None:
    async with corpus(request) as (backend, workspace):
        elsewhere = WorkspaceRef(await backend.organisation(), workspace.workspace_id)
        with pytest.raises(NotFound):
            await reads(backend).run(caller(elsewhere), elsewhere, "Maren Holt")
