"""What `retrieval.graph.multi_hop` computes on arrays, entity by entity and path by path: the reference that it must
equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, chain
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from tests.subgraphs import mentions_of, passages_of

from agentic_rag.retrieval.candidates import EntityPassages
from agentic_rag.retrieval.graph.multi_hop import CandidatePool, GraphPath, PathExtension, StepWeights, softmax
from agentic_rag.retrieval.graph.neighbourhood import Floats, specificity
from agentic_rag.retrieval.graph.subgraph import Subgraph

LINK = 4
_NO_LINK = 6


@dataclass(frozen=True, slots=True)
class SlowNeighbourhood:
    """What is known of the graph around some passages."""

    passage_entities: Mapping[int, tuple[UUID, ...]]
    """The entities in a passage."""
    entity_passages: Mapping[UUID, EntityPassages]
    """The passages of an entity."""
    total: int
    """Passages in the whole corpus."""

    @classmethod
    def of(cls, vicinities: Iterable[Subgraph], total: int) -> SlowNeighbourhood:
        """Of everything that was read."""
        held: dict[int, tuple[UUID, ...]] = {}
        reached: dict[UUID, EntityPassages] = {}
        for vicinity in vicinities:
            reached.update({one.entity_id: one for one in passages_of(vicinity)})
            for mention in mentions_of(vicinity):
                held[mention.ordinal] = (*held.get(mention.ordinal, ()), mention.entity_id)
        return cls(held, reached, total)

    def specificity(self, entity_id: UUID) -> float:
        """As `specificity` of its passages; 0 for an unknown entity."""
        known = self.entity_passages.get(entity_id)
        return 0.0 if known is None else specificity(known.passages, self.total)

    def passages_of(self, entity_id: UUID) -> tuple[int, ...]:
        """Ascending; none of an entity that links nothing."""
        known = self.entity_passages.get(entity_id)
        return () if known is None else known.ordinals

    def links_of(self, ordinal: int) -> tuple[list[UUID], Floats, list[int], NDArray[np.int64]]:
        """What links a passage to others: (m,) entities in it and how specific each is, and the passages of all of
        them, those of entity i at `spans[i]:spans[i + 1]`.
        """
        held = [(one, self.specificity(one)) for one in self.passage_entities.get(ordinal, ())]
        entities = [one for one, weight in held if weight > 0]
        passages = [self.passages_of(one) for one in entities]
        spans = [0, *accumulate(map(len, passages))]
        flat = np.fromiter(chain.from_iterable(passages), np.int64, spans[-1])
        return entities, np.array([weight for _, weight in held if weight > 0]), spans, flat

    def neighbours_of(self, ordinals: Iterable[int]) -> set[int]:
        """Passages that share a linking entity with one of these, and they themselves."""
        return {
            other
            for ordinal in ordinals
            for entity_id in self.passage_entities.get(ordinal, ())
            for other in self.passages_of(entity_id)
        }


def slow_extension(
    pool: CandidatePool,
    around: SlowNeighbourhood,
    asked: frozenset[UUID],
    trails: Sequence[GraphPath],
    weights: StepWeights,
) -> PathExtension:
    """How likely each passage comes behind each path; all passages of the paths are in the pool. `asked` are the
    entities of the question: sharing one of them links nothing new.
    """
    chance = np.zeros((len(trails), len(pool.ordinals)))
    linked = np.zeros(len(trails))
    linear = np.array([getattr(weights, one.name) for one in fields(StepWeights)])
    for place, trail in enumerate(trails):
        features, open_rows = _features(pool, around, asked, trail)
        logits = np.where(open_rows, features @ linear, -np.inf)
        chance[place] = trail.probability * softmax(logits)[:-1]
        linked[place] = chance[place] @ (features[:-1, LINK] > 0)
    return PathExtension(tuple(trails), pool.ordinals, chance, linked)


def _links(pool: CandidatePool, around: SlowNeighbourhood, asked: frozenset[UUID], origin: int) -> Floats:
    """(n, 6): forward, backward, shared, same, link and unlinked of each passage seen from the passage `origin`."""
    found = np.zeros((len(pool.ordinals), 6))
    here = pool.rows[origin]
    entities, weights, spans, ordinals = around.links_of(origin)
    if entities:
        ours = _ids(pool.title_of(here))
        rows = pool.rows_of(ordinals)
        titled_rows = _rows_by_title_entity(pool)
        plain = [1 if one in ours else _NO_LINK if one in asked else 2 for one in entities]
        lengths = np.diff(spans)
        kinds = np.repeat(np.array(plain), lengths)
        # One place more for passages outside the pool, whose row is −1.
        is_titled = np.zeros(len(found) + 1, np.bool_)
        for place, entity_id in enumerate(entities):
            titled = titled_rows.get(entity_id)
            if titled is not None:
                span = slice(spans[place], spans[place + 1])
                is_titled[titled] = True
                kinds[span][is_titled[rows[span]]] = 3 if entity_id in ours else 0
                is_titled[titled] = False
        links = (rows >= 0) & (kinds != _NO_LINK)
        np.maximum.at(found, (rows[links], kinds[links]), np.repeat(weights, lengths)[links])
    found[here] = 0.0
    found[:, 4] = np.maximum(found[:, :2].max(axis=1), found[:, 2:4].max(axis=1) / 2)
    found[:, 5] = found[:, 4] == 0
    return found


def _ids(titles: Iterable[int]) -> frozenset[UUID]:
    return frozenset(UUID(int=one) for one in titles)


def _rows_by_title_entity(pool: CandidatePool) -> dict[UUID, list[int]]:
    """Entity → rows of the passages whose title it is in."""
    found: dict[UUID, list[int]] = {}
    for row in range(len(pool.ordinals)):
        for entity_id in _ids(pool.title_of(row)):
            found.setdefault(entity_id, []).append(row)
    return found


def _features(
    pool: CandidatePool, around: SlowNeighbourhood, asked: frozenset[UUID], trail: GraphPath
) -> tuple[Floats, NDArray[np.bool_]]:
    """(n + 1, 16) in the order of `StepWeights`, the last row for ending the path, and (n + 1,) which rows may follow:
    all but the path's own.
    """
    rows = [pool.rows[ordinal] for ordinal in trail.ordinals]
    idf = pool.terms.idf
    whole = float(idf.sum()) or 1.0
    left = ~pool.terms.present[rows].any(axis=0)
    features = pool.own_features.copy()
    features[:-1, :6] = _links(pool, around, asked, trail.ordinals[-1])
    features[:-1, 6] = (pool.terms.present[:, left] @ idf[left]) / whole
    features[:-1, 7] = pool.terms.gain[:, left].sum(axis=1)
    features[-1, 12:] = [1.0, float(idf[~left].sum()) / whole, pool.score[rows[0]], float(not asked)]
    open_rows = np.ones(len(features), np.bool_)
    open_rows[rows] = False
    return features, open_rows
