"""Multi-hop by rule: from the first passages, over shared entities and titles, to what covers the rest of the question.

"Who founded the league in which X played?" is answered by two passages, and the second resembles the question little.
Let s be a passage's score by the text arms and P1 = softmax(s / T) over a pool of candidates. P2(p | path) is the
softmax, over all p and the choice to end here, of a linear score of how the path's last passage is linked to p and of
how much p covers of the terms that the path leaves open. A passage's lift is log(1 + (Σ P1·P2 + Σ P1·P2·P3) / P1): how
much likelier paths make it than the text arms alone, so ranking by s + T·lift is ranking by
P1 + Σ P1·P2 + Σ P1·P2·P3.

Pure. What is linked comes from `retrieval.ports.GraphReader.vicinity`, which the caller asks between the steps:
    1. `Pool` of what the text arms found and what is linked to its `start_paths`
    2. `extend` those paths, and take the `strongest` of the longer ones
    3. the same from a pool that also holds what is linked to these; `score_boosts` both
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate, chain
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.retrieval.candidates import SCORE_DIGITS, ArmHit, EntityPassages, Retriever, Subgraph
from agentic_rag.retrieval.lexical.bm25 import BOUND_WEIGHT, COVERAGE_WEIGHT, TermProfile
from agentic_rag.retrieval.title_match import TITLE_MATCH_GAIN

Floats = NDArray[np.float64]
_TINY = float(np.finfo(np.float64).tiny)

PASSAGE_CAP = 40
"""An entity in more passages links nothing: 40 cost 0.1 points of R@5 against 5 % of the set, 20 cost 0.9."""

FIRST_PASSAGES = 8
"""Passages whose links are looked up; paths begin with the best of them."""

FIRST_PATHS = 4
"""Passages that paths begin with: 2 cost 0.3 points of R@5, 8 gave 0.4."""

LONGER_PATHS = 4
"""Paths of two passages that a third is looked for."""

TEMPERATURE = 1 / 20.5
"""Of scores in [0, 1]: 10 on the scale of cos + 0.8·bn + 0.25·cov, whose largest value is 2.05."""

NAMED_GAIN = 0.1
"""What a title that the question names is worth beside the text arms' score, times its specificity."""


@dataclass(frozen=True, slots=True)
class StepWeights:
    """The weights of a next passage's linear score, and of ending the path instead. Fitted by
    eval/training/train_ranker.py, then rounded (eval/ranker.json says on what; docs/quality.md what it earns).
    """

    forward: float = 1.4
    """Its title is named in the passage before."""
    backward: float = -2.6
    """It names the title of the passage before."""
    shared: float = 1.9
    """It shares an entity that is in neither title nor in the question."""
    same: float = 2.9
    """Both have the same title."""
    link: float = 8.4
    """The strongest of these; shared and same count half."""
    unlinked: float = 0.7
    """Nothing leads to it."""
    open_share: float = 9.3
    """The share of the question's weight (idf of content terms) that it holds and the path does not."""
    open_bm25: float = 10.7
    """BM25 over its bound, of the terms that the path does not hold."""
    named: float = 3.7
    """How specific a title of it is that the question names."""
    cosine: float = 4.2
    bm25: float = 0.0
    score: float = 2.0
    """Of the passage by itself."""
    end: float = 6.9
    """Of every path's end."""
    end_covered: float = 3.6
    """The share of the question's weight that the path holds."""
    end_score: float = 1.6
    """Of the path's first passage by itself."""
    end_unnamed: float = 0.0
    """The question names no entity of the corpus."""


_STEP_WEIGHTS = fields(StepWeights)
_LINK = [one.name for one in _STEP_WEIGHTS].index("link")
_NO_LINK = 6
"""In the place of a column of `link_features`."""


@dataclass(frozen=True, eq=False)
class CandidatePool:
    """Candidates, one a row."""

    ordinals: NDArray[np.int64]
    """(n,) ascending."""
    cosine: Floats
    """(n,) in [0, 1]."""
    terms: TermProfile
    titles: Sequence[frozenset[UUID]]
    """(n,) the entities of each passage's title."""
    named: Floats
    """(n,) how specific a title is that the question names; 0 without one."""
    documents: Floats
    """(n,) how well its document fits what the question says of documents, as in `retrieval.title_match`."""
    lexical_share: float
    """Of the text arms' score, as in `retrieval.fusion`."""

    @cached_property
    def rows(self) -> dict[int, int]:
        """Ordinal → row."""
        return {ordinal: row for row, ordinal in enumerate(self.ordinals.tolist())}

    def rows_of(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """(m,) the row of each ordinal; −1 for those that the pool does not hold."""
        if not len(self.ordinals):
            return np.full(len(ordinals), -1, np.int64)
        rows = np.minimum(self.ordinals.searchsorted(ordinals), len(self.ordinals) - 1)
        return np.where(self.ordinals[rows] == ordinals, rows, -1)

    @cached_property
    def rows_by_title_entity(self) -> dict[UUID, list[int]]:
        """Entity → rows of the passages whose title it is in."""
        # The passages of a title share one set; its hash would be made of that of every entity each time.
        by_titles: dict[int, tuple[frozenset[UUID], list[int]]] = {}
        for row, entities in enumerate(self.titles):
            by_titles.setdefault(id(entities), (entities, []))[1].append(row)
        found: dict[UUID, list[int]] = {}
        for entities, rows in by_titles.values():
            for entity_id in entities:
                found.setdefault(entity_id, []).extend(rows)
        return found

    @cached_property
    def bm25(self) -> Floats:
        """(n,) BM25 over its bound."""
        return np.minimum(1.0, self.terms.gain.sum(axis=1))

    @cached_property
    def lexical(self) -> Floats:
        """(n,) the lexical arm's absolute score, in [0, 1]."""
        whole = float(self.terms.idf.sum()) or 1.0
        coverage = (self.terms.present @ self.terms.idf) / whole
        return (BOUND_WEIGHT * self.bm25 + COVERAGE_WEIGHT * coverage) / (BOUND_WEIGHT + COVERAGE_WEIGHT)

    @cached_property
    def score(self) -> Floats:
        """(n,) both text arms and the title: what P1 is made of."""
        text = (1 - self.lexical_share) * self.cosine + self.lexical_share * self.lexical
        return np.round(text + self.title_gain, SCORE_DIGITS)

    @cached_property
    def title_gain(self) -> Floats:
        """(n,) what its title adds to a passage's score."""
        return NAMED_GAIN * self.named + TITLE_MATCH_GAIN * self.documents

    @cached_property
    def probability(self) -> Floats:
        """(n,) P1."""
        return softmax(self.score / TEMPERATURE)

    @cached_property
    def own_features(self) -> Floats:
        """(n + 1, 16) what `path_features` says of passages by themselves, whatever the path; 0 elsewhere."""
        features = np.zeros((len(self.ordinals) + 1, len(_STEP_WEIGHTS)))
        features[:-1, 8:12] = np.column_stack([self.named, self.cosine, self.bm25, self.score])
        return features


@dataclass(frozen=True, slots=True)
class GraphNeighbourhood:
    """What is known of the graph around some passages."""

    passage_entities: Mapping[int, tuple[UUID, ...]]
    """The entities in a passage."""
    entity_passages: Mapping[UUID, EntityPassages]
    """The passages of an entity."""
    total: int
    """Passages in the whole corpus."""

    @classmethod
    def of(cls, vicinities: Iterable[Subgraph], total: int) -> GraphNeighbourhood:
        """Of everything that was read."""
        held: dict[int, tuple[UUID, ...]] = {}
        reached: dict[UUID, EntityPassages] = {}
        for vicinity in vicinities:
            reached.update({one.entity_id: one for one in vicinity.entity_passages})
            for mention in vicinity.mentions:
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


@dataclass(frozen=True, slots=True)
class GraphPath:
    """Passages in the order in which they lead to one another."""

    ordinals: tuple[int, ...]
    probability: float


@dataclass(frozen=True, slots=True, eq=False)
class PathExtension:
    """How likely each passage of a pool comes next."""

    paths: tuple[GraphPath, ...]
    ordinals: NDArray[np.int64]
    """(n,)"""
    probability: Floats
    """(paths, n) of the path with that passage behind it."""
    link_probability: Floats
    """(paths,) of the path with any passage behind it that an entity leads to."""


def specificity(passages: int, passages_total: int) -> float:
    """idf(e) / log(1 + N) in [0, 1]: 1 for an entity of one passage, 0 for one that links nothing."""
    if not 0 < passages <= PASSAGE_CAP or passages_total < passages:
        return 0.0
    return math.log((1 + passages_total) / passages) / math.log(1 + passages_total)


def first_passages(arms: Mapping[Retriever, Sequence[ArmHit]], lexical_share: float) -> list[int]:
    """The ordinals that the text arms put first: those whose links are looked up."""
    share = {Retriever.DENSE: 1 - lexical_share, Retriever.LEXICAL: lexical_share}
    scores: dict[int, float] = {}
    for arm, hits in arms.items():
        for hit in hits[: 2 * FIRST_PASSAGES]:
            scores[hit.ordinal] = scores.get(hit.ordinal, 0.0) + share.get(arm, 0.0) * hit.score
    return sorted(scores, key=lambda ordinal: (-round(scores[ordinal], SCORE_DIGITS), ordinal))[:FIRST_PASSAGES]


def start_paths(pool: CandidatePool, among: Sequence[int]) -> tuple[GraphPath, ...]:
    """Paths of one passage: the best of those `among` that the pool holds."""
    rows = np.array([pool.rows[ordinal] for ordinal in among if ordinal in pool.rows], np.int64)
    best = rows[np.lexsort((pool.ordinals[rows], -pool.score[rows]))[:FIRST_PATHS]]
    return tuple(GraphPath((int(pool.ordinals[row]),), float(pool.probability[row])) for row in best)


def extend_paths(
    pool: CandidatePool,
    around: GraphNeighbourhood,
    asked: frozenset[UUID],
    trails: Sequence[GraphPath],
    weights: StepWeights = StepWeights(),
) -> PathExtension:
    """How likely each passage comes behind each path; all passages of the paths are in the pool. `asked` are the
    entities of the question: sharing one of them links nothing new.
    """
    chance = np.zeros((len(trails), len(pool.ordinals)))
    linked = np.zeros(len(trails))
    linear = np.array([getattr(weights, one.name) for one in _STEP_WEIGHTS])
    for place, trail in enumerate(trails):
        features, open_rows = path_features(pool, around, asked, trail)
        logits = np.where(open_rows, features @ linear, -np.inf)
        chance[place] = trail.probability * softmax(logits)[:-1]
        linked[place] = chance[place] @ (features[:-1, _LINK] > 0)
    return PathExtension(tuple(trails), pool.ordinals, chance, linked)


def likeliest_paths(extension: PathExtension) -> tuple[GraphPath, ...]:
    """The likeliest paths with one passage more."""
    places = np.flatnonzero(extension.probability)
    chances = np.round(extension.probability.ravel()[places], 2 * SCORE_DIGITS)
    best = places[np.lexsort((places, -chances))[:LONGER_PATHS]]
    width = len(extension.ordinals)
    chosen: list[int] = best.tolist()
    return tuple(
        GraphPath(
            (*extension.paths[place // width].ordinals, int(extension.ordinals[place % width])),
            float(extension.probability.flat[place]),
        )
        for place in chosen
    )


def score_boosts(pool: CandidatePool, extensions: Iterable[PathExtension]) -> Floats:
    """(n,) log(1 + what paths make a passage ÷ P1), rounded; the pool holds all passages of the extensions."""
    mass = np.zeros(len(pool.ordinals))
    for extension in extensions:
        mass[pool.ordinals.searchsorted(extension.ordinals)] += extension.probability.sum(axis=0)
    more: Floats = mass / np.maximum(pool.probability, _TINY)
    return np.round(np.log1p(more), SCORE_DIGITS).astype(np.float64)


def link_features(pool: CandidatePool, around: GraphNeighbourhood, asked: frozenset[UUID], origin: int) -> Floats:
    """(n, 6): forward, backward, shared, same, link and unlinked of each passage seen from the passage `origin`."""
    found = np.zeros((len(pool.ordinals), 6))
    here = pool.rows[origin]
    entities, weights, spans, ordinals = around.links_of(origin)
    if entities:
        ours = pool.titles[here]
        rows = pool.rows_of(ordinals)
        plain = [1 if one in ours else _NO_LINK if one in asked else 2 for one in entities]
        lengths = np.diff(spans)
        kinds = np.repeat(np.array(plain), lengths)
        # One place more for passages outside the pool, whose row is −1.
        is_titled = np.zeros(len(found) + 1, np.bool_)
        for place, entity_id in enumerate(entities):
            titled = pool.rows_by_title_entity.get(entity_id)
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


def path_features(
    pool: CandidatePool, around: GraphNeighbourhood, asked: frozenset[UUID], trail: GraphPath
) -> tuple[Floats, NDArray[np.bool_]]:
    """(n + 1, 16) in the order of `StepWeights`, the last row for ending the path, and (n + 1,) which rows may follow:
    all but the path's own.
    """
    rows = [pool.rows[ordinal] for ordinal in trail.ordinals]
    idf = pool.terms.idf
    whole = float(idf.sum()) or 1.0
    left = ~pool.terms.present[rows].any(axis=0)
    features = pool.own_features.copy()
    features[:-1, :6] = link_features(pool, around, asked, trail.ordinals[-1])
    features[:-1, 6] = (pool.terms.present[:, left] @ idf[left]) / whole
    features[:-1, 7] = pool.terms.gain[:, left].sum(axis=1)
    features[-1, 12:] = [1.0, float(idf[~left].sum()) / whole, pool.score[rows[0]], float(not asked)]
    open_rows = np.ones(len(features), np.bool_)
    open_rows[rows] = False
    return features, open_rows


def softmax(logits: Floats) -> Floats:
    """Shares that sum to 1; nothing of nothing."""
    if not len(logits):
        return logits
    powers: Floats = np.exp(logits - logits.max())
    return powers / powers.sum()
