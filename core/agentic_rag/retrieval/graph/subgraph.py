"""What lies around passages and entities in the graph, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from agentic_rag.retrieval.candidates import EntityPassages, MentionCount


@dataclass(frozen=True, slots=True, eq=False)
class Subgraph:
    """What lies around some passages and entities, as arrays: every entity asked for or mentioned there that has
    passages, one a row, and the mentions in the passages. Arrays are not to be written to.
    """

    entities: tuple[int, ...]
    """(e,) the 128 bits of each id, ascending."""
    passages: NDArray[np.int64]
    """(e,) as in `EntityPassages`."""
    starts: NDArray[np.int64]
    """(e + 1,) where the passages of each entity start in `ordinals`."""
    ordinals: NDArray[np.int64]
    """(m,) by entity, then ascending."""
    counts: NDArray[np.int64]
    """(m,) how often each of them mentions the entity."""
    held_ordinals: NDArray[np.int64]
    """(k,) the passages of the mentions, ascending."""
    held_entities: NDArray[np.int64]
    """(k,) and the row of the entity, ascending within a passage."""
    held_counts: NDArray[np.int64]
    """(k,) and how often."""

    @classmethod
    def of(cls, mentions: Iterable[MentionCount], passages: Iterable[EntityPassages]) -> Subgraph:
        """From mentions and passages in any order. A mention of an entity without passages links nothing: left out."""
        reached = sorted(passages, key=lambda one: one.entity_id.int)
        entities = tuple([one.entity_id.int for one in reached])
        rows = {entity: row for row, entity in enumerate(entities)}
        known = [one for one in mentions if one.entity_id.int in rows]
        held = sorted([(one.ordinal, rows[one.entity_id.int], one.count) for one in known])
        columns = np.array(held, np.int64).reshape(len(held), 3)
        return cls(
            entities,
            np.array([one.passages for one in reached], np.int64),
            np.array([0, *accumulate(len(one.ordinals) for one in reached)], np.int64),
            np.array([ordinal for one in reached for ordinal in one.ordinals], np.int64),
            np.array([count for one in reached for count in one.counts], np.int64),
            columns[:, 0],
            columns[:, 1],
            columns[:, 2],
        )
