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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from agentic_rag.retrieval.candidates import SCORE_DIGITS, ArmHit, Retriever
from agentic_rag.retrieval.graph.neighbourhood import GraphNeighbourhood
from agentic_rag.retrieval.lexical.bm25 import BOUND_WEIGHT, COVERAGE_WEIGHT, TermProfile
from agentic_rag.retrieval.title_match import TITLE_MATCH_GAIN

Floats = NDArray[np.float64]
_TINY = float(np.finfo(np.float64).tiny)

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
    eval/training/train_ranker.py, then rounded (eval/ranker.json says on what; eval/quality_log.md what it earns).
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
    titles: Sequence[frozenset[int]]
    """(t,) the ids of the entities of each title."""
    title_places: NDArray[np.int64]
    """(n,) which of the titles each passage has."""
    named: Floats
    """(n,) how specific a title is that the question names; 0 without one."""
    documents: Floats
    """(n,) how well its document fits what the question says of documents, as in `retrieval.title_match`."""
    lexical_share: float
    """Of the text arms' score, as in `retrieval.fusion`."""

    def title_of(self, row: int) -> frozenset[int]:
        """The ids of the entities of a passage's title."""
        return self.titles[int(self.title_places[row])]

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
    asked: frozenset[int],
    trails: Sequence[GraphPath],
    weights: StepWeights = StepWeights(),
) -> PathExtension:
    """How likely each passage comes behind each path; all passages of the paths are in the pool. `asked` are the
    entities of the question: sharing one of them links nothing new.
    """
    chance = np.zeros((len(trails), len(pool.ordinals)))
    linked = np.zeros(len(trails))
    if not trails:
        return PathExtension((), pool.ordinals, chance, linked)
    features, open_rows = path_features(pool, around, asked, trails)
    logits = np.where(open_rows, features @ _linear(weights), -np.inf)
    is_linked = features[:, :-1, _LINK] > 0
    for place, trail in enumerate(trails):
        chance[place] = trail.probability * softmax(logits[place])[:-1]
        linked[place] = chance[place] @ is_linked[place]
    return PathExtension(tuple(trails), pool.ordinals, chance, linked)


@lru_cache(8)
def _linear(weights: StepWeights) -> Floats:
    return np.array([getattr(weights, one.name) for one in _STEP_WEIGHTS])


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


def link_features(
    pool: CandidatePool, around: GraphNeighbourhood, asked: frozenset[int], origins: Sequence[int]
) -> Floats:
    """(o, n, 6): forward, backward, shared, same, link and unlinked of each passage seen from each of `origins`."""
    found = np.zeros((len(origins), len(pool.ordinals), 6))
    here = np.array([pool.rows[one] for one in origins], np.int64)
    links = around.links_of(origins)
    if len(links.entities):
        entities, origin = links.entities, links.origins
        # Those that link anything, one a row.
        linking, place = np.unique(entities, return_inverse=True)
        rows_of_links: list[int] = linking.tolist()
        ids = {around.entities[row]: at for at, row in enumerate(rows_of_links)}
        is_titled = _titled(pool, ids)
        is_ours = is_titled[place, pool.title_places[here[origin]]]
        is_asked = np.array([one in asked for one in ids])[place]
        titled, plain = np.where(is_ours, 3, 0), np.where(is_ours, 1, np.where(is_asked, _NO_LINK, 2))
        lengths, ordinals = around.passages_in(entities)
        rows, link = pool.rows_of(ordinals), np.repeat(np.arange(len(lengths)), lengths)
        inside = np.flatnonzero(rows >= 0)
        rows, link = rows[inside], link[inside]
        kinds = np.where(is_titled[place[link], pool.title_places[rows]], titled[link], plain[link])
        counted = np.flatnonzero(kinds != _NO_LINK)
        link = link[counted]
        targets = (origin[link] * len(pool.ordinals) + rows[counted]) * 6 + kinds[counted]
        # Of several links of one kind between two passages the strongest.
        np.maximum.at(found.reshape(-1), targets, around.weights[entities][link])
    found[np.arange(len(origins)), here] = 0.0
    of_titles, of_texts = np.maximum(found[..., 0], found[..., 1]), np.maximum(found[..., 2], found[..., 3])
    found[..., 4] = np.maximum(of_titles, of_texts / 2)
    found[..., 5] = found[..., 4] == 0
    return found


def _titled(pool: CandidatePool, ids: Mapping[int, int]) -> NDArray[np.bool_]:
    """(entities, titles) which titles have which of these entities."""
    found = np.zeros((len(ids), len(pool.titles)), np.bool_)
    known = ids.keys()
    pairs = [(ids[one], place) for place, entities in enumerate(pool.titles) for one in entities if one in known]
    if pairs:
        found[tuple(np.array(pairs).T)] = True
    return found


def path_features(
    pool: CandidatePool, around: GraphNeighbourhood, asked: frozenset[int], trails: Sequence[GraphPath]
) -> tuple[Floats, NDArray[np.bool_]]:
    """(t, n + 1, 16) for each path in the order of `StepWeights`, the last row for ending the path, and (t, n + 1)
    which rows may follow: all but the path's own.
    """
    idf = pool.terms.idf
    whole = float(idf.sum()) or 1.0
    features = np.repeat(pool.own_features[None], len(trails), axis=0)
    open_rows = np.ones(features.shape[:2], np.bool_)
    features[:, :-1, :6] = link_features(pool, around, asked, [trail.ordinals[-1] for trail in trails])
    known: dict[bytes, tuple[Floats, Floats, float]] = {}
    for place, trail in enumerate(trails):
        rows = [pool.rows[ordinal] for ordinal in trail.ordinals]
        left = ~pool.terms.present[rows].any(axis=0)
        # Paths leave the same terms open more often than not.
        key = left.tobytes()
        if key not in known:
            share: Floats = (pool.terms.present[:, left] @ idf[left]) / whole
            known[key] = share, pool.terms.gain[:, left].sum(axis=1), float(idf[~left].sum()) / whole
        features[place, :-1, 6], features[place, :-1, 7], covered = known[key]
        features[place, -1, 12:] = [1.0, covered, pool.score[rows[0]], float(not asked)]
        open_rows[place, rows] = False
    return features, open_rows


def softmax(logits: Floats) -> Floats:
    """Shares that sum to 1; nothing of nothing."""
    if not len(logits):
        return logits
    powers: Floats = np.exp(logits - logits.max())
    return powers / powers.sum()
