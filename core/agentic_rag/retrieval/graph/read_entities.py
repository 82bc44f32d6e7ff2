"""An entity of the graph with its neighbours and the passages that mention it, as its reader may see them."""

from __future__ import annotations

from dataclasses import dataclass

from agentic_rag.documents.read_chunk import FoundChunk, visible_chunk
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.retrieval.graph.entities import entity_id_for, entity_key, question_entities
from agentic_rag.tenancy.access import read_identity
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit_passages

MAX_NAME_CHARACTERS = 200
MOST_PASSAGES = 200
"""An entity in more passages is not followed: reading it would cost what reading the corpus costs."""
MOST_FOUND = 20
MOST_NEIGHBOURS = 24
MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity, and in how many passages it stands that the caller may read; of more than MOST_PASSAGES only that."""

    name: str
    passages: int


@dataclass(frozen=True, slots=True)
class RelatedEntity:
    """An entity that stands in so many sentences with another one."""

    name: str
    sentences: int


@dataclass(frozen=True, slots=True)
class EntityView:
    """An entity and what is around it; without neighbours and chunks where it stands in more than MOST_PASSAGES."""

    entity: NamedEntity
    neighbours: tuple[RelatedEntity, ...]
    """Most sentences first."""
    chunks: tuple[FoundChunk, ...]
    """The first that mention it, in the order in which they were published."""


@dataclass(frozen=True, slots=True)
class ReadEntities:
    """The use case behind `entities` and `entity`. Passages that the caller may not read do not count: an entity that
    stands in no other is not there.
    """

    database: Database
    telemetry: Telemetry

    async def search(self, principal: Principal, workspace: WorkspaceRef, text: str) -> list[NamedEntity]:
        """The entities that a text names, longest names first, at most MOST_FOUND. Errors: `InvalidInput` code
        NAME_LENGTH, `NotFound`, `DependencyUnavailable`.
        """
        _require_length(text)
        asked = [one.entity_id for one in question_entities(workspace.workspace_id, text)]
        async with self.database.snapshot(workspace, readers=read_identity(principal)) as snapshot:
            found = (await snapshot.graph.mentions_of(asked, MOST_PASSAGES))[:MOST_FOUND]
            names = await snapshot.graph.names([one.entity_id for one in found])
        return [NamedEntity(names[one.entity_id], one.passages) for one in found if one.entity_id in names]

    async def run(self, principal: Principal, workspace: WorkspaceRef, name: str) -> EntityView | None:
        """The entity of that name in any spelling; None where the caller may read no passage that mentions it. Whose
        passages were handed out is in the audit log. Errors: as `search`.
        """
        _require_length(name)
        entity_id = entity_id_for(workspace.workspace_id, entity_key(name))
        async with self.database.snapshot(workspace, readers=read_identity(principal)) as snapshot:
            found = await snapshot.graph.mentions_of([entity_id], MOST_PASSAGES)
            if not found:
                return None
            near = await snapshot.graph.neighbours([entity_id], MOST_NEIGHBOURS) if found[0].ordinals else []
            names = await snapshot.graph.names([entity_id, *(one.related for one in near)])
            chunks = await snapshot.documents.chunks(found[0].ordinals[:MOST_SHOWN], snapshot.access.access_ids)
            version = snapshot.version
            shown = await snapshot.shown(version)
        if entity_id not in names:
            return None
        actor, documents = principal.subject_id, (one.document_id for one in chunks)
        await audit_passages(self.database, self.telemetry, workspace, actor, documents)
        neighbours = tuple(RelatedEntity(names[one.related], one.weight) for one in near if one.related in names)
        read = tuple(visible_chunk(one, version, shown) for one in chunks)
        return EntityView(NamedEntity(names[entity_id], found[0].passages), neighbours, read)


def _require_length(name: str) -> None:
    if not 0 < len(name.strip()) <= MAX_NAME_CHARACTERS:
        raise InvalidInput(f"A name has 1 to {MAX_NAME_CHARACTERS} characters.", code="NAME_LENGTH")
