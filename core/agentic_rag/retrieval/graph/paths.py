"""The path that leads to a passage, for people: reads the results of `retrieval.graph.multi_hop` backwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from uuid import UUID

import numpy as np

from agentic_rag.documents.document import Chunk
from agentic_rag.retrieval.candidates import SCORE_DIGITS, Hop, HopKind
from agentic_rag.retrieval.graph.multi_hop import (
    TEMPERATURE,
    CandidatePool,
    Floats,
    PathExtension,
    score_boosts,
)
from agentic_rag.retrieval.graph.neighbourhood import GraphNeighbourhood

MIN_VISIBLE_BOOST = 0.01
"""Paths that raise a score by less than this are not shown."""

_PREFERENCE = {HopKind.NAMES: 0, HopKind.NAMED_BY: 1, HopKind.SAME_TITLE: 2, HopKind.SHARES: 3}
"""The order of equally strong links: the one that a reader understands best comes first."""


@dataclass(frozen=True, slots=True)
class PathStep:
    """From passage `origin` to passage `target` (ordinals); `entity_id` is what both have, None for COVERS."""

    origin: int
    target: int
    kind: HopKind
    entity_id: UUID | None


@dataclass(frozen=True, eq=False)
class GraphPaths:
    """The paths that the graph arm followed for one question: the last pool, and the extensions by length."""

    pool: CandidatePool
    around: GraphNeighbourhood
    asked: frozenset[int]
    extensions: tuple[PathExtension, ...]

    def steps_to(self, ordinal: int) -> tuple[PathStep, ...]:
        """The likeliest path that ends at the passage; none when paths did not raise it, or when it resembles the
        question more than what they begin with.
        """
        row = self.pool.rows.get(ordinal)
        if row is None or TEMPERATURE * self.score_boost[row] < MIN_VISIBLE_BOOST:
            return ()
        trail = self._likeliest(ordinal)
        if not trail or self.pool.probability[self.pool.rows[trail[0]]] < self.pool.probability[row]:
            return ()
        passages = (*trail, ordinal)
        return tuple(self._step(origin, target) for origin, target in pairwise(passages))

    @cached_property
    def score_boost(self) -> Floats:
        """(n,) as `multi_hop.score_boosts`, for the passages of the pool."""
        return score_boosts(self.pool, self.extensions)

    @property
    def path_probability(self) -> float:
        """The probability of the strongest path of two passages (P1·P2), in [0, 1]; 0 without any."""
        chances = self.extensions[0].probability if self.extensions else np.zeros(0)
        return round(float(chances.max()), SCORE_DIGITS) if chances.size else 0.0

    def _likeliest(self, ordinal: int) -> tuple[int, ...]:
        """The ordinals before it; of equally likely paths the first found, which is the shorter one."""
        best: tuple[int, ...] = ()
        most = 0.0
        for extension in self.extensions:
            column = int(extension.ordinals.searchsorted(ordinal))
            if column == len(extension.ordinals) or int(extension.ordinals[column]) != ordinal:
                continue
            for trail, chance in zip(extension.paths, extension.probability[:, column].tolist(), strict=True):
                if chance > most:
                    best, most = trail.ordinals, chance
        return best

    def _step(self, origin: int, target: int) -> PathStep:
        links = links_between(self.pool, self.around, self.asked, origin, target)
        if not links:
            return PathStep(origin, target, HopKind.COVERS, None)
        _, _, entity_id, kind = min((-strength, _PREFERENCE[kind], one, kind) for strength, one, kind in links)
        return PathStep(origin, target, kind, entity_id)


def links_between(
    pool: CandidatePool, around: GraphNeighbourhood, asked: frozenset[int], origin: int, target: int
) -> list[tuple[float, UUID, HopKind]]:
    """Every entity that links two passages of the pool, as (strength as in `multi_hop.link_features`, id, kind)."""
    ours, theirs = pool.title_of(pool.rows[origin]), pool.title_of(pool.rows[target])
    found: list[tuple[float, UUID, HopKind]] = []
    for entity in around.entities_in(origin):
        weight = around.specificity(entity)
        if weight <= 0 or target not in around.passages_of(entity):
            continue
        if entity in theirs:
            kind = HopKind.SAME_TITLE if entity in ours else HopKind.NAMES
        elif entity in ours:
            kind = HopKind.NAMED_BY
        elif entity in asked:
            continue
        else:
            kind = HopKind.SHARES
        found.append((weight if kind in (HopKind.NAMES, HopKind.NAMED_BY) else weight / 2, UUID(int=entity), kind))
    return found


def describe_steps(
    steps: Sequence[PathStep], chunks: Mapping[int, Chunk], names: Mapping[UUID, str]
) -> tuple[Hop, ...]:
    """The steps with the titles of their passages and the names of what they share; none when a passage is missing."""
    if any(step.origin not in chunks or step.target not in chunks for step in steps):
        return ()
    return tuple(_hop(step, chunks[step.origin], chunks[step.target], names) for step in steps)


def _hop(step: PathStep, origin: Chunk, target: Chunk, names: Mapping[UUID, str]) -> Hop:
    shared = names.get(step.entity_id, "") if step.entity_id is not None else ""
    title = origin.document_title if step.kind is HopKind.NAMED_BY else target.document_title
    return Hop(
        kind=step.kind,
        via=shared if step.kind in (HopKind.SHARES, HopKind.COVERS) else title,
        from_chunk_id=origin.chunk_id,
        from_document_id=origin.document_id,
        from_title=origin.document_title,
        to_chunk_id=target.chunk_id,
        to_document_id=target.document_id,
        to_title=target.document_title,
    )
