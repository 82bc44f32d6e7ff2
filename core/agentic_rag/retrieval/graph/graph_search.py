"""The graph arm: asks the graph for whole frontiers; what they mean is `retrieval.graph.multi_hop`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.kernel.concurrency import background_task
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.retrieval.candidates import SCORE_DIGITS, ArmHit, ExtractedEntity, Retriever, SearchScope
from agentic_rag.retrieval.graph.coverage_gain import coverage_gains, link_probability
from agentic_rag.retrieval.graph.entities import title_entities
from agentic_rag.retrieval.graph.multi_hop import (
    TEMPERATURE,
    CandidatePool,
    Floats,
    extend_paths,
    first_passages,
    likeliest_paths,
    start_paths,
)
from agentic_rag.retrieval.graph.neighbourhood import PASSAGE_CAP, GraphNeighbourhood
from agentic_rag.retrieval.graph.paths import GraphPaths
from agentic_rag.retrieval.title_match import score_title_match

HIT_LIMIT = 60
"""As many candidates as a text arm gives."""

SCALE = 7 / 3
"""What turns a gain beside the text arms' score into one beside the graph arm's, at the shares of 0.7 and 0.3 for which
the constants of `retrieval.graph.multi_hop` were chosen.
"""


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """What the arm looks for. Without a vector, cosines count as 0."""

    workspace_id: UUID
    text: str
    terms: Mapping[str, int]
    entities: Sequence[ExtractedEntity]
    vector: NDArray[np.float32] | None
    space_id: int | None
    lexical_share: float
    scope: SearchScope
    titles_are_checked: bool = False
    """As of `RetrievalQuery`."""


@dataclass(frozen=True, slots=True)
class GraphHits:
    """The arm's candidates, best first, with what the text arms say of each of them; and the paths behind them, None
    without candidates.
    """

    hits: Mapping[Retriever, list[ArmHit]]
    paths: GraphPaths | None


async def search_graph(
    snapshot: CorpusSnapshot, asked: GraphQuery, arms: Mapping[Retriever, Sequence[ArmHit]]
) -> GraphHits:
    """The passages that the graph links to the candidates of the text arms. `raw` of the arm's own hits is the
    probability of the paths to a passage (Σ P1·P2 + Σ P1·P2·P3).

    At most two round trips to the graph: around the first passages, and around those that they lead to.

    Errors: `DependencyUnavailable`.
    """
    candidates = {hit.ordinal for hits in arms.values() for hit in hits}
    if not candidates:
        return GraphHits({arm: [] for arm in Retriever}, None)
    first = first_passages(arms, asked.lexical_share)
    vicinities = [await snapshot.graph.vicinity([one.entity_id for one in asked.entities], first, PASSAGE_CAP)]
    total = await snapshot.lexical.passages(asked.scope)
    around = GraphNeighbourhood.of(vicinities, total)
    named = frozenset(one.entity_id.int for one in asked.entities if around.specificity(one.entity_id.int) > 0)
    look = _PassageFeatures(snapshot, asked, {one: around.specificity(one) for one in named})
    pool = await look.pool(candidates | around.neighbours_of(first))
    extensions = [extend_paths(pool, around, named, start_paths(pool, first))]
    longer = likeliest_paths(extensions[0])
    ends = sorted({trail.ordinals[-1] for trail in longer} - around.held.keys())
    if longer:
        vicinities.append(await snapshot.graph.vicinity([], ends, PASSAGE_CAP))
        around = GraphNeighbourhood.of(vicinities, total)
        pool = await look.pool({*pool.rows, *around.neighbours_of(trail.ordinals[-1] for trail in longer)})
        extensions.append(extend_paths(pool, around, named, longer))
    trails = GraphPaths(pool, around, named, tuple(extensions))
    return GraphHits(_hits(trails), trails)


class _PassageFeatures:
    """What ranking needs to know of passages, read once each."""

    def __init__(self, snapshot: CorpusSnapshot, asked: GraphQuery, named: Mapping[int, float]) -> None:
        """`named`: the entities that the question names, and how specific each is."""
        self._snapshot = snapshot
        self._asked = asked
        self._named = named
        self._titles: dict[int, str] = {}
        self._entities: dict[str, frozenset[int]] = {}
        """By title."""
        self._likeliest: dict[str, float] = {}
        """By title how specific the likeliest of its entities is that the question names, where it names one."""
        self._cosines: dict[int, float] = {}
        self._seen: set[int] = set()

    async def pool(self, ordinals: Collection[int]) -> CandidatePool:
        """Those of the ordinals that the scope lets pass."""
        asked = self._asked
        if asked.scope.ordinals is not None:
            ordinals = asked.scope.ordinals.intersection(ordinals)
        new = sorted(set(ordinals) - self._seen)
        self._seen.update(new)
        self._titles |= await self._snapshot.documents.titles(
            new, asked.scope.access_ids, are_checked=asked.titles_are_checked
        )
        # The database looks the vectors up while this process does all that needs none of them.
        async with background_task(self._cosines_of(new)) as reading:
            kept = sorted(self._titles.keys() & set(ordinals))
            titles = [self._titles[ordinal] for ordinal in kept]
            terms = await self._snapshot.lexical.profile(asked.terms, kept, asked.scope)
            self._mean(titles)
            documents = score_title_match(asked.text, titles)
            self._cosines |= await reading
        return CandidatePool(
            ordinals=np.array(kept, np.int64),
            cosine=np.maximum(0.0, np.array([self._cosines.get(ordinal, 0.0) for ordinal in kept])),
            terms=terms,
            titles=[self._entities[title] for title in titles],
            named=np.array([self._likeliest.get(title, 0.0) for title in titles]),
            documents=documents,
            lexical_share=asked.lexical_share,
        )

    async def _cosines_of(self, ordinals: Sequence[int]) -> dict[int, float]:
        asked = self._asked
        if asked.vector is None or asked.space_id is None:
            return {}
        return await self._snapshot.vectors.cosines(asked.vector, asked.space_id, ordinals)

    def _mean(self, titles: Collection[str]) -> None:
        """Find the entities of titles. The passages of a document share its title."""
        new = list(set(titles) - self._entities.keys())
        for title, entities in zip(new, map(title_entities, repeat(self._asked.workspace_id.int), new), strict=False):
            self._entities[title] = entities
            if not self._named.keys().isdisjoint(entities):
                self._likeliest[title] = max(self._named.get(one, 0.0) for one in entities)


def _hits(trails: GraphPaths) -> dict[Retriever, list[ArmHit]]:
    """The best by all three arms together, as hits of each arm."""
    pool, lift = trails.pool, trails.score_boost
    chance = np.round(pool.probability * np.expm1(lift), SCORE_DIGITS)
    gain = np.round(pool.title_gain + TEMPERATURE * lift, SCORE_DIGITS)
    places = np.flatnonzero(gain)
    whole = np.round(pool.score - pool.title_gain + gain, SCORE_DIGITS)[places]
    best = np.lexsort((pool.ordinals[places], -whole))[:HIT_LIMIT]
    places, whole = places[best], whole[best]
    gain[places] += coverage_gains(whole, pool.terms.of_rows(places), link_probability(trails.extensions[0]))
    gain = np.round(gain, SCORE_DIGITS)
    sums: NDArray[np.float64] = pool.terms.gain.sum(axis=1)
    bm25 = np.round(sums * pool.terms.bound, SCORE_DIGITS)
    ordinals: list[int] = pool.ordinals[places].tolist()
    shares = np.minimum(1.0, SCALE * gain[places])
    return {
        Retriever.GRAPH: sorted(
            _arm_hits(ordinals, chance[places], shares.tolist()), key=lambda hit: (-hit.score, hit.ordinal)
        ),
        Retriever.DENSE: _arm_hits(ordinals, pool.cosine[places], pool.cosine[places].tolist()),
        Retriever.LEXICAL: _arm_hits(
            ordinals, bm25[places], [round(one, SCORE_DIGITS) for one in pool.lexical[places].tolist()]
        ),
    }


def _arm_hits(ordinals: Sequence[int], raw: Floats, scores: Sequence[float]) -> list[ArmHit]:
    return list(map(ArmHit, ordinals, raw.tolist(), scores))
