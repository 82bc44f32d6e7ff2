"""The graph arm: from the entities of a question, and of the first passages, one hop to the passages that share them.

Pure: whole frontiers are fetched by the caller through `ports.GraphReader` between the steps.
    1. `seed_weights` of the question's entities, from `mentions_of` their ids
    2. `plan_frontier` adds the entities of the first passages (`mentions_in`)
    3. `score_graph` over `mentions_of` the frontier and of the frontier's `neighbours`
A step that bridges from one passage to the next replaces or follows 3 with the same frontier.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.domain.retrieval import SCORE_DIGITS, ArmHit, EntityMentions, ExtractedEntity, Mention, Neighbour

PASSAGE_CAP = 40
"""An entity in more passages links nothing: 40 cost 0.1 points of R@5 against 5 % of the set, 20 cost 0.9."""

SEED_TRUST = 0.5
"""Of an entity that the question names."""

NGRAM_TRUST = 0.3
"""Of a single lower-case word that happens to be an entity's name, beside a name."""

ATTENUATION = 0.35
"""Of whatever is one step further away than an entity of the question, or an entity of a first passage.

The three set the graph's scale beside the text arms' and were chosen together by hand. R@5 / R@10 with the
deterministic embedding and a graph weight of 0.3, text arms alone → with the graph:
musique 44.4 / 57.1 → 56.9 / 64.2, hotpotqa 76.2 / 90.0 → 77.5 / 95.0, hotpotqa-dev100 82.5 / 91.2 → 83.8 / 93.8,
fiqa 43.1 / 53.6 → 44.5 / 52.2, scifact 78.2 / 83.2 → 75.3 / 82.4. With 1, 0.7 and 0.5 fiqa and scifact lost 3 to 4
points of R@10.
"""

FRONTIER_CAP = 64
"""Links followed from the first passages: 64 a passage cost 0.9 points at most, and bound the reads."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How an entity was reached: its weight in [0, 1] before specificity, and the passages it was read from (none for
    the question's own entities), which gain nothing from it.
    """

    weight: float
    origins: frozenset[int] = frozenset()

    @property
    def from_question(self) -> bool:
        """True when the question itself names the entity."""
        return not self.origins


@dataclass(frozen=True, slots=True)
class Frontier:
    """The entities whose passages are to be read."""

    reached: Mapping[UUID, Reach]

    @property
    def entity_ids(self) -> tuple[UUID, ...]:
        """In id order."""
        return tuple(sorted(self.reached))


def specificity(passages: int, passages_total: int) -> float:
    """idf(e) / log(1 + N) in [0, 1]: 1 for an entity of one passage, 0 for one that links nothing."""
    if not 0 < passages <= PASSAGE_CAP or passages_total < passages:
        return 0.0
    return math.log((1 + passages_total) / passages) / math.log(1 + passages_total)


def seed_weights(
    question: Sequence[ExtractedEntity], known: Sequence[EntityMentions], passages_total: int
) -> dict[UUID, float]:
    """What each known entity of the question weighs, in [0, 0.5]: by its specificity, lower-case single words less.

    A name inside a longer known name ("Corp" in "Acme Corp") is left out: the longer one says it better.
    """
    passages = {mentions.entity_id: mentions.passages for mentions in known}
    weights: dict[UUID, float] = {}
    longer: list[str] = []
    for entity in sorted(question, key=lambda entity: (-len(entity.key), entity.key)):
        weight = SEED_TRUST * specificity(passages.get(entity.entity_id, 0), passages_total)
        if entity.kind == "ngram" and " " not in entity.key:
            weight *= NGRAM_TRUST
        spaced = f" {entity.key} "
        if weight > 0 and not any(spaced in name for name in longer):
            weights[entity.entity_id] = weight
            longer.append(spaced)
    return weights


def plan_frontier(
    seeds: Mapping[UUID, float], first: Mapping[int, float], held: Sequence[Mention], cap: int = FRONTIER_CAP
) -> Frontier:
    """The question's entities and, attenuated, the `cap` strongest of the first passages.

    `first` gives the first passages (ordinal → fused score in [0, 1]), `held` their mentions. An entity of several
    first passages takes the highest score and belongs to all of them.
    """
    origins: dict[UUID, set[int]] = {}
    weights: dict[UUID, float] = {}
    for mention in held:
        score = min(1.0, max(0.0, first.get(mention.ordinal, 0.0)))
        if score > 0 and mention.entity_id not in seeds:
            origins.setdefault(mention.entity_id, set()).add(mention.ordinal)
            weights[mention.entity_id] = max(weights.get(mention.entity_id, 0.0), ATTENUATION * score)
    strongest = sorted(weights, key=lambda entity_id: (-weights[entity_id], entity_id))[:cap]
    reached = {entity_id: Reach(weight) for entity_id, weight in seeds.items()}
    for entity_id in strongest:
        reached[entity_id] = Reach(weights[entity_id], frozenset(origins[entity_id]))
    return Frontier(reached)


def _link_weights(
    frontier: Frontier, neighbours: Sequence[Neighbour], specific: Mapping[UUID, float]
) -> dict[UUID, Reach]:
    """What is one step away: entities of the first passages, and neighbours of the question's entities.

    A neighbour that stands w times beside its entity weighs w / (1 + w) of it, attenuated.
    """
    links = {
        entity_id: Reach(reach.weight * specific.get(entity_id, 0.0), reach.origins)
        for entity_id, reach in frontier.reached.items()
        if not reach.from_question
    }
    for neighbour in neighbours:
        seed = frontier.reached.get(neighbour.entity_id)
        related = frontier.reached.get(neighbour.related)
        if seed is None or not seed.from_question or (related is not None and related.from_question):
            continue
        weight = ATTENUATION * seed.weight * neighbour.weight / (1 + neighbour.weight)
        weight *= specific.get(neighbour.related, 0.0)
        known = links.get(neighbour.related)
        if known is None or weight > known.weight:
            links[neighbour.related] = Reach(weight)
    return links


def score_graph(
    mentions: Sequence[EntityMentions],
    neighbours: Sequence[Neighbour],
    frontier: Frontier,
    passages_total: int,
    limit: int = 200,
) -> list[ArmHit]:
    """Passages by how much of the question's entities they hold, best first, ties by ordinal.

    direct = (weight of the question's entities in the passage ÷ weight of all) × the weight of the heaviest: a question
    whose only known entity is common trusts the graph little. link = the strongest entity one step away. `score` =
    1 − (1 − direct)(1 − link) in [0, 1]; `raw` = direct + link. Independent of the order of its inputs.
    """
    specific = {entity.entity_id: specificity(entity.passages, passages_total) for entity in mentions}
    seeds = {
        entity_id: reach.weight
        for entity_id, reach in frontier.reached.items()
        if reach.from_question and specific.get(entity_id, 0.0) > 0
    }
    links = _link_weights(frontier, neighbours, specific)
    whole = math.fsum(seeds.values())
    confidence = max(seeds.values(), default=0.0)
    held: dict[int, list[float]] = {}
    linked: dict[int, float] = {}
    for entity in mentions:
        seed = seeds.get(entity.entity_id)
        if seed is not None:
            for ordinal in entity.ordinals:
                held.setdefault(ordinal, []).append(seed)
            continue
        link = links.get(entity.entity_id)
        if link is not None and link.weight > 0:
            for ordinal in entity.ordinals:
                if link.weight > linked.get(ordinal, 0.0) and ordinal not in link.origins:
                    linked[ordinal] = link.weight
    scored: list[tuple[float, int, float]] = []
    for ordinal in held.keys() | linked.keys():
        direct = min(1.0, confidence * math.fsum(held[ordinal]) / whole) if ordinal in held else 0.0
        link_weight = linked.get(ordinal, 0.0)
        score = 1.0 - (1.0 - direct) * (1.0 - link_weight)
        scored.append((-round(score, SCORE_DIGITS), ordinal, round(direct + link_weight, SCORE_DIGITS)))
    scored.sort()
    return [ArmHit(ordinal, raw, -negated) for negated, ordinal, raw in scored[:limit]]
