"""What a `Subgraph` holds, one by one and by id."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from agentic_rag.retrieval.candidates import EntityPassages, MentionCount
from agentic_rag.retrieval.graph.subgraph import Subgraph


def mentions_of(found: Subgraph) -> Iterator[MentionCount]:
    """By ordinal, then entity id."""
    columns = (found.held_entities.tolist(), found.held_ordinals.tolist(), found.held_counts.tolist())
    for row, ordinal, count in zip(*columns, strict=True):
        yield MentionCount(UUID(int=found.entities[row]), ordinal, count)


def passages_of(found: Subgraph) -> Iterator[EntityPassages]:
    """By entity id."""
    for row, entity in enumerate(found.entities):
        held = slice(int(found.starts[row]), int(found.starts[row + 1]))
        ordinals, counts = found.ordinals[held].tolist(), found.counts[held].tolist()
        yield EntityPassages(UUID(int=entity), int(found.passages[row]), tuple(ordinals), tuple(counts))


def told(found: Subgraph) -> tuple[list[MentionCount], list[EntityPassages]]:
    """All of it, fit to be compared."""
    return list(mentions_of(found)), list(passages_of(found))
