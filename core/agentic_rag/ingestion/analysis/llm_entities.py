"""Adds what a model says a passage names to the entities found by rule: only names that stand in the passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from agentic_rag.answering.prompts.extract import ClaimedGraph
from agentic_rag.language.quote_matching import locate_quote
from agentic_rag.retrieval.candidates import ChunkEntities, ExtractedEntity
from agentic_rag.retrieval.graph.entities import ENTITY_CAP, PAIR_CAP, entity_id_for, entity_key, is_entity_key

_NAME_PART_KIND = "part"
"""Words of names found by rule give way to names that a model found."""


def add_llm_entities(workspace_id: UUID, text: str, rules: ChunkEntities, claimed: ClaimedGraph) -> ChunkEntities:
    """The entities of both, at most as many as of rules alone; related pairs of the model first."""
    known = {entity.key for entity in rules.entities}
    added: dict[str, ExtractedEntity] = {}
    for name in claimed.names:
        key = entity_key(name)
        if key not in known and is_entity_key(key) and locate_quote(name, text) is not None:
            added.setdefault(key, ExtractedEntity(entity_id_for(workspace_id, key), key, name, "name", 1))
    strong = [entity for entity in rules.entities if entity.kind != _NAME_PART_KIND]
    weak = [entity for entity in rules.entities if entity.kind == _NAME_PART_KIND]
    entities = tuple((*strong, *added.values(), *weak))[:ENTITY_CAP]
    places = {entity.key: place for place, entity in enumerate(entities)}
    related = [(entity_key(one), entity_key(other)) for one, other in claimed.relations]
    beside = [(rules.entities[one].key, rules.entities[other].key) for one, other in rules.pairs]
    return ChunkEntities(entities, _pairs(entities, places, (*related, *beside)))


def _pairs(
    entities: Sequence[ExtractedEntity], places: Mapping[str, int], related: Sequence[tuple[str, str]]
) -> tuple[tuple[int, int], ...]:
    """Positions, the smaller id first, each pair once."""
    found: dict[tuple[int, int], None] = {}
    for one, other in related:
        if one in places and other in places and one != other:
            first, second = sorted((places[one], places[other]), key=lambda place: entities[place].entity_id.int)
            found[first, second] = None
    return tuple(found)[:PAIR_CAP]
