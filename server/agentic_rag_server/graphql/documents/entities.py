"""Entities of the graph: those that a text names, and one with what is around it."""

import strawberry

from agentic_rag.kernel.text import require_no_nul
from agentic_rag.retrieval.graph.read_entities import MAX_NAME_CHARACTERS, MOST_FOUND, MOST_NEIGHBOURS, MOST_PASSAGES
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.documents.chunks import Chunk, show_chunk
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import field, to_schema


@strawberry.type(description="A name, an identifier or a title that passages mention.")
class FoundEntity:
    name: str
    passages: int = strawberry.field(
        description=f"That mention it and that the caller may read; {MOST_PASSAGES + 1} for more than {MOST_PASSAGES}."
    )


@strawberry.type(description="An entity that stands in sentences with another one.")
class NeighbouringEntity:
    name: str
    sentences: int


@strawberry.type(
    description="An entity with what is around it. Of one that stands in more than "
    f"{MOST_PASSAGES} passages only their number is told: it would link half the corpus."
)
class Entity:
    name: str
    passages: int
    neighbours: list[NeighbouringEntity] = strawberry.field(description=f"Nearest first, at most {MOST_NEIGHBOURS}.")
    chunks: list[Chunk] = strawberry.field(description="Passages that mention it, at most 20.")


@strawberry.type
class EntityQuery:
    @field(
        Action.READ,
        right=Sight.ORGANISATION,
        description=f"The entities that a text of up to {MAX_NAME_CHARACTERS} characters names and that passages "
        f"mention which the caller may read, longest names first, at most {MOST_FOUND}.",
    )
    async def entities(self, info: Info, workspace_id: strawberry.ID, text: str) -> list[FoundEntity]:
        context = info.context
        workspace = await context.workspace(workspace_id)
        found = await context.parts.read_entities.search(context.principal, workspace, require_no_nul(text, "text"))
        return [to_schema(FoundEntity, one) for one in found]

    @field(
        Action.READ,
        right=Sight.ORGANISATION,
        description="An entity by its name in any spelling; null where the caller may read no passage with it.",
    )
    async def entity(self, info: Info, workspace_id: strawberry.ID, name: str) -> Entity | None:
        context = info.context
        workspace = await context.workspace(workspace_id)
        found = await context.parts.read_entities.run(context.principal, workspace, require_no_nul(name, "name"))
        if found is None:
            return None
        return to_schema(
            Entity,
            found.entity,
            neighbours=[to_schema(NeighbouringEntity, one) for one in found.neighbours],
            chunks=[show_chunk(workspace, one) for one in found.chunks],
        )
