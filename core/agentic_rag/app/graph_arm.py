"""The graph arm: asks the graph for whole frontiers; what they mean is `domain.graph_walk`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentic_rag.domain.graph_walk import PASSAGE_CAP, plan_frontier, score_graph, seed_weights
from agentic_rag.domain.retrieval import ArmHit, ExtractedEntity, Retriever, Scope
from agentic_rag.ports.database import Snapshot

FIRST_PASSAGES = 4
"""Passages whose entities are followed: more gave nothing (RETRIEVAL.md, B)."""


HIT_LIMIT = 60
"""As many candidates as a text arm gives."""


class GraphArm:
    """Passages that share the entities of the question, or of the first passages.

    Two round trips: the entities of the first passages, then the passages of those and of the question's entities.
    """

    async def hits(
        self,
        snapshot: Snapshot,
        named: Sequence[ExtractedEntity],
        arms: Mapping[Retriever, Sequence[ArmHit]],
        scope: Scope,
    ) -> list[ArmHit]:
        """The arm's candidates, best first; `named` may be of the question. Errors: `DependencyUnavailable`."""
        first = _first_passages(arms)
        held = await snapshot.graph.mentions_in(list(first)) if first else []
        nearby = plan_frontier({}, first, held).entity_ids
        wanted = list(dict.fromkeys((*(entity.entity_id for entity in named), *nearby)))
        if not wanted:
            return []
        mentions = await snapshot.graph.mentions_of(wanted, PASSAGE_CAP)
        total = await snapshot.lexical.passages(scope)
        seeds = seed_weights(named, mentions, total)
        hits = score_graph(mentions, (), plan_frontier(seeds, first, held), total, HIT_LIMIT)
        return hits if scope.ordinals is None else [hit for hit in hits if hit.ordinal in scope.ordinals]


def _first_passages(arms: Mapping[Retriever, Sequence[ArmHit]]) -> dict[int, float]:
    """The first passages of the text arms with the mean of their scores, best first."""
    scores: dict[int, float] = {}
    for hits in arms.values():
        for hit in hits[: 2 * FIRST_PASSAGES]:
            scores[hit.ordinal] = scores.get(hit.ordinal, 0.0) + hit.score / max(1, len(arms))
    best = sorted(scores, key=lambda ordinal: (-round(scores[ordinal], 6), ordinal))
    return {ordinal: scores[ordinal] for ordinal in best[:FIRST_PASSAGES]}
