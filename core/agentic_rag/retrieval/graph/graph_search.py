"""The graph arm: asks the graph for whole frontiers; what they mean is `retrieval.graph.multi_hop`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import islice
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
from agentic_rag.retrieval.lexical.bm25 import TermProfile
from agentic_rag.retrieval.title_match import score_titles

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
    candidates = [hit.ordinal for hits in arms.values() for hit in hits]
    if not candidates:
        return GraphHits({arm: [] for arm in Retriever}, None)
    first = first_passages(arms, asked.lexical_share)
    vicinity = await snapshot.graph.vicinity([one.entity_id for one in asked.entities], first, PASSAGE_CAP)
    total = await snapshot.lexical.passages(asked.scope)
    around = GraphNeighbourhood.of([vicinity], total)
    named = frozenset(one.entity_id.int for one in asked.entities if around.specificity(one.entity_id.int) > 0)
    look = _PassageFeatures(snapshot, asked, {one: around.specificity(one) for one in named}, arms)
    pool = await look.pool(np.concatenate([candidates, around.neighbours_of(first)]))
    extensions = [extend_paths(pool, around, named, start_paths(pool, first))]
    longer = likeliest_paths(extensions[0])
    if longer:
        ends = [trail.ordinals[-1] for trail in longer]
        further = await snapshot.graph.vicinity([], sorted(set(ends) - around.held.keys()), PASSAGE_CAP)
        around = GraphNeighbourhood.of([vicinity, further], total)
        pool = await look.pool(around.neighbours_of(ends))
        extensions.append(extend_paths(pool, around, named, longer))
    trails = GraphPaths(pool, around, named, tuple(extensions))
    return GraphHits(_hits(trails), trails)


class _PassageFeatures:
    """What ranking needs to know of passages, read once each."""

    def __init__(
        self,
        snapshot: CorpusSnapshot,
        asked: GraphQuery,
        named: Mapping[int, float],
        arms: Mapping[Retriever, Sequence[ArmHit]],
    ) -> None:
        """`named`: the entities that the question names, and how specific each is. `arms`: what the text arms found."""
        self._snapshot = snapshot
        self._asked = asked
        self._named = named
        self._cosines = (
            {hit.ordinal: hit.raw for hit in arms.get(Retriever.DENSE, ())} if asked.vector is not None else {}
        )
        self._looked_at = np.zeros(0, np.int64)
        """Ordinals, ascending."""
        self._places: dict[str, int] = {}
        """The place of each title among those that were read."""
        self._entities: list[frozenset[int]] = []
        """By title."""
        self._likeliest: list[float] = []
        """By title how specific the likeliest of its entities is that the question names, 0 where it names none."""
        self._pool: CandidatePool | None = None

    async def pool(self, ordinals: NDArray[np.int64]) -> CandidatePool:
        """Those of the ordinals that the scope lets pass, beside those of earlier calls."""
        asked, before = self._asked, self._pool
        new = np.setdiff1d(ordinals, self._looked_at)
        self._looked_at = np.union1d(self._looked_at, new)
        if asked.scope.ordinals is not None:
            new = np.array(sorted(asked.scope.ordinals.intersection(new.tolist())), np.int64)
        wanted: list[int] = new.tolist()
        titles = await self._snapshot.documents.titles(
            wanted, asked.scope.access_ids, are_checked=asked.titles_are_checked
        )
        kept = sorted(titles)
        # The database looks the vectors up while this process does all that needs none of them.
        async with AsyncExitStack() as stack:
            reading = None
            if not self._snapshot.vectors.is_at_hand:
                reading = await stack.enter_async_context(background_task(self._cosines_of(kept)))
            terms = await self._snapshot.lexical.profile(asked.terms, kept, asked.scope)
            places = self._places_of([titles[ordinal] for ordinal in kept])
            cosines = await (self._cosines_of(kept) if reading is None else reading)
        found = _Passages(np.array(kept, np.int64), np.maximum(0.0, cosines), terms, places)
        if before is not None:
            found = found.beside(_Passages(before.ordinals, before.cosine, before.terms, before.title_places))
        self._pool = CandidatePool(
            ordinals=found.ordinals,
            cosine=found.cosine,
            terms=found.terms,
            titles=tuple(self._entities),
            title_places=found.titles,
            named=np.array(self._likeliest)[found.titles],
            documents=score_titles(asked.text, tuple(self._places), found.titles),
            lexical_share=asked.lexical_share,
        )
        return self._pool

    async def _cosines_of(self, ordinals: Sequence[int]) -> Floats:
        """(n,) 0 for those without a vector."""
        asked = self._asked
        unknown = [ordinal for ordinal in ordinals if ordinal not in self._cosines]
        if unknown and asked.vector is not None and asked.space_id is not None:
            self._cosines |= await self._snapshot.vectors.cosines(asked.vector, asked.space_id, unknown)
        return np.array([self._cosines.get(ordinal, 0.0) for ordinal in ordinals], np.float64)

    def _places_of(self, titles: Sequence[str]) -> NDArray[np.int64]:
        """(n,) the place of each title. The passages of a document share its title: its entities are found once."""
        known = len(self._places)
        places = [self._places.setdefault(title, len(self._places)) for title in titles]
        workspace, named = self._asked.workspace_id.int, self._named
        for title in islice(self._places, known, None):
            entities = title_entities(workspace, title)
            self._entities.append(entities)
            self._likeliest.append(max([named.get(one, 0.0) for one in entities], default=0.0) if named else 0.0)
        return np.array(places, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Passages:
    """What was read of passages, ascending by ordinal."""

    ordinals: NDArray[np.int64]
    cosine: Floats
    terms: TermProfile
    titles: NDArray[np.int64]

    def beside(self, others: _Passages) -> _Passages:
        """These and the others, none of which is among them."""
        ordinals = np.concatenate([self.ordinals, others.ordinals])
        order = ordinals.argsort()
        return _Passages(
            ordinals[order],
            np.concatenate([self.cosine, others.cosine])[order],
            self.terms.beside(others.terms).of_rows(order),
            np.concatenate([self.titles, others.titles])[order],
        )


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
